// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/op.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/ops/familiar_names.h"
#include "ir/support/nearest.h"

namespace mxc {
namespace {

// Annotations such as __lr_mult__ are no attributes of the operator.
bool IsAnnotation(std::string_view name) {
  return name.size() > 4 && name.starts_with("__") && name.ends_with("__");
}

class FieldParser : public Fields {
 public:
  FieldParser(std::span<const AttrText> texts, std::vector<AttrError>& errors)
      : texts_(texts), errors_(errors) {}

  void Visit(Field& field) override {
    names_.push_back(field.name);
    const auto text = std::ranges::find(texts_, field.name, &AttrText::first);
    if (text == texts_.end()) {
      if (field.required) missing_.push_back(field.name);
      return;
    }
    if (auto error = ParseField(field, text->second)) {
      errors_.push_back({std::string(field.name), *error});
    }
  }

  void ReportUnknown() {
    for (const auto& [name, text] : texts_) {
      if (IsAnnotation(name) || std::ranges::count(names_, name) > 0) continue;
      const std::string_view meant = Meant(name);
      std::erase(missing_, meant);  // there, but misspelt: one mistake
      errors_.push_back({name, fmt::format("attribute '{}' is unknown{}", name,
                                           NearestNote(meant))});
    }
  }

  void ReportMissing() {
    for (const std::string_view name : missing_) {
      errors_.push_back({"", fmt::format("attribute '{}' is missing", name)});
    }
  }

 private:
  std::string_view Meant(std::string_view name) const {
    for (int i = 0; !FamiliarAttribute(name, i).empty(); ++i) {
      const std::string_view familiar = FamiliarAttribute(name, i);
      if (std::ranges::count(names_, familiar) > 0) return familiar;
    }
    return Nearest(name, names_);
  }

  std::span<const AttrText> texts_;
  std::vector<AttrError>& errors_;
  std::vector<std::string_view> names_, missing_;
};

class FieldPrinter : public Fields {
 public:
  void Visit(Field& field) override {
    texts.emplace_back(field.name, PrintField(field));
  }
  std::vector<AttrText> texts;
};

}  // namespace

void RequireFloats(TypeInference& t) {
  const DType dtype = t.InDType(0);
  t.Require(dtype == DType::kUnknown || IsFloat(dtype),
            "input 0 has type {}, expected a type of floats", ShortName(dtype));
}

void RequireIntegers(TypeInference& t) {
  const DType dtype = t.InDType(0);
  t.Require(!IsFloat(dtype), "input 0 has type {}, expected a type of integers",
            ShortName(dtype));
}

AttrsPtr ParseAttrs(std::shared_ptr<void> attrs,
                    const std::function<void(Fields&)>& describe,
                    std::span<const AttrText> texts, bool any_attributes,
                    std::vector<AttrError>& errors) {
  FieldParser parser(texts, errors);
  describe(parser);
  if (!any_attributes) parser.ReportUnknown();
  parser.ReportMissing();
  return attrs;
}

std::vector<AttrText> PrintAttrs(const std::function<void(Fields&)>& describe) {
  FieldPrinter printer;
  describe(printer);
  return std::move(printer.texts);
}

}  // namespace mxc
