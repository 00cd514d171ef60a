// SPDX-License-Identifier: Apache-2.0
#include "frontend/attributes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ir/graph/constraint.h"
#include "ir/support/result.h"
#include "ir/support/words.h"

namespace mxc {
namespace {

const LocatedAttr* Find(std::span<const LocatedAttr> attrs,
                        std::string_view name) {
  const auto found = std::ranges::find(attrs, name, &LocatedAttr::name);
  return found == attrs.end() ? nullptr : &*found;
}

std::vector<AttrText> Texts(const Instance& instance,
                            std::span<const LocatedAttr> attrs) {
  std::vector<AttrText> texts = OperatorAttrs(attrs);
  if (instance.op->variadic && instance.inputs &&
      Find(attrs, "num_args") == nullptr) {
    texts.emplace_back("num_args", std::to_string(*instance.inputs));
  }
  return texts;
}

// The place of the attribute that a violated constraint names first.
SourceLoc LocateCulprit(const Instance& instance,
                        std::span<const LocatedAttr> attrs,
                        const std::string& message) {
  SourceLoc loc = instance.loc;
  size_t first = message.size();
  for (const LocatedAttr& attr : attrs) {
    const size_t at = FindWord(message, attr.name);
    if (at < first) first = at, loc = attr.loc;
  }
  return loc;
}

}  // namespace

std::string TupleText(const Extents& values) {
  return fmt::format("({}{})", fmt::join(values, ", "),
                     values.size() == 1 ? "," : "");
}

std::string NumberText(double value) { return fmt::format("{}", value); }
std::string NumberText(float value) { return fmt::format("{}", value); }
double AsWritten(float value) {
  return std::strtod(NumberText(value).c_str(), nullptr);
}

bool IsAnnotation(std::string_view name) {
  return name.size() > 4 && name.starts_with("__") && name.ends_with("__");
}

std::vector<AttrText> OperatorAttrs(std::span<const LocatedAttr> attrs) {
  std::vector<AttrText> texts;
  for (const LocatedAttr& attr : attrs) {
    if (!IsAnnotation(attr.name)) texts.emplace_back(attr.name, attr.text);
  }
  return texts;
}

AttrsPtr ParseAttributes(const Instance& instance,
                         std::span<const LocatedAttr> attrs,
                         Diagnostics& errors) {
  const auto report = [&](const SourceLoc& loc, const std::string& message) {
    errors.push_back(Error(loc, "{} '{}': {}", instance.op_name,
                           instance.node_name, message));
  };
  std::vector<AttrError> wrong;
  AttrsPtr typed = instance.op->parse(Texts(instance, attrs), wrong);
  for (const AttrError& error : wrong) {
    const LocatedAttr* attr = Find(attrs, error.name);
    report(attr != nullptr ? attr->loc : instance.loc, error.message);
  }
  if (!wrong.empty() || !instance.op->check) return typed;
  if (const auto violated = instance.op->check(typed.get())) {
    const auto [constraint, sentence] = ReadViolation(*violated);
    report(LocateCulprit(instance, attrs, sentence), sentence);
  }
  return typed;
}

}  // namespace mxc
