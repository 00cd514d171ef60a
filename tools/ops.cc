// SPDX-License-Identifier: Apache-2.0
// mxc ops: the operator table, from the schemas.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "ir/graph/fields.h"
#include "ir/graph/operator.h"
#include "ir/support/nearest.h"
#include "tools/command.h"
#include "tools/terminal.h"

namespace mxc {
namespace {

struct OpsOptions {
  ReportStyle style;
  std::string name;
};

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

// An attribute as a person reads it.
struct Attribute {
  std::string name, type, value, doc;
  bool required, hint;
  double min, max;
};

std::string TypeName(const Field& field) {
  if (!field.one_of.empty())
    return fmt::format("{}", fmt::join(field.one_of, "|"));
  return std::visit(
      Overloaded{
          [](bool*) { return "bool"; },
          [](int64_t*) { return "int"; },
          [](double*) { return "float"; },
          [](std::string*) { return "string"; },
          [](DType*) { return "dtype"; },
          [](Extents*) { return "shape"; },
          [](std::vector<double>*) { return "floats"; },
          [](std::optional<bool>*) { return "bool or None"; },
          [](std::optional<int64_t>*) { return "int or None"; },
          [](std::optional<double>*) { return "float or None"; },
          [](std::optional<DType>*) { return "dtype or None"; },
          [](std::optional<Extents>*) { return "shape or None"; },
          [](std::vector<std::optional<int64_t>>*) { return "ints or None"; },
          [](EnumRef) { return "name"; },
      },
      field.value);
}

class AttributeList : public Fields {
 public:
  void Visit(Field& f) override {
    attributes.push_back({std::string(f.name), TypeName(f), PrintField(f),
                          std::string(f.doc), f.required, f.hint, f.min,
                          f.max});
  }
  std::vector<Attribute> attributes;
};

std::string RangeText(const Attribute& a) {
  const bool low = std::isfinite(a.min), high = std::isfinite(a.max);
  if (low && high) return fmt::format("{} to {}", a.min, a.max);
  if (low) return fmt::format("at least {}", a.min);
  if (high) return fmt::format("at most {}", a.max);
  return "";
}

// A legal text for each required attribute, so that the inputs and outputs,
// which depend on the attributes, can be asked for.
class RequiredTexts : public Fields {
 public:
  void Visit(Field& f) override {
    if (!f.required) return;
    const double least = std::isfinite(f.min) ? std::max(f.min, 1.0) : 1.0;
    std::string text = fmt::format("{}", least);
    if (!f.one_of.empty()) {
      text = f.one_of.front();
    } else if (std::holds_alternative<bool*>(f.value)) {
      text = "False";
    } else if (std::holds_alternative<DType*>(f.value)) {
      text = "float32";
    }
    texts.emplace_back(f.name, text);
  }
  std::vector<AttrText> texts;
};

AttrsPtr SampleAttributes(const Operator& op) {
  RequiredTexts required;
  op.describe(required);
  std::vector<AttrError> errors;
  AttrsPtr attrs = op.parse(required.texts, errors);
  return errors.empty() ? attrs : nullptr;
}

std::vector<std::string> InputNames(const Operator& op) {
  if (op.variadic) return {"data0", "data1", "…"};
  std::vector<std::string> names;
  const AttrsPtr attrs = SampleAttributes(op);
  if (!attrs) return names;
  for (const InputSpec& input : op.inputs(attrs.get())) {
    names.push_back(input.name);
  }
  return names;
}

std::vector<std::string> OutputNames(const Operator& op) {
  const AttrsPtr attrs = SampleAttributes(op);
  return attrs ? op.outputs(attrs.get()) : std::vector<std::string>();
}

// How an instance of the operator becomes code.
const char* Form(const Operator& op) {
  if (op.contraction) return "contraction";
  if (op.view) return "view";
  if (op.meaning || op.procedure) return "kernel";
  if (op.call) return "call";
  if (op.decompose) return "composite";
  return "recognised";
}

Json ToJson(const Operator& op) {
  AttributeList list;
  op.describe(list);
  Json attributes = Json::array();
  for (const Attribute& a : list.attributes) {
    Json row = {{"name", a.name},
                {"type", a.type},
                {"required", a.required},
                {"doc", a.doc}};
    if (!a.required) row["default"] = a.value;
    if (std::isfinite(a.min)) row["min"] = a.min;
    if (std::isfinite(a.max)) row["max"] = a.max;
    if (a.hint) row["hint"] = true;
    attributes.push_back(row);
  }
  return {{"name", op.name},
          {"aliases", op.aliases},
          {"doc", op.doc},
          {"form", Form(op)},
          {"inputs", InputNames(op)},
          {"outputs", OutputNames(op)},
          {"attributes", attributes}};
}

void PrintAttribute(const Attribute& a) {
  std::string value = a.required ? "required" : a.value;
  if (value.empty()) value = "''";
  PrintOut("  {:<20} {:<24} {}\n", a.name, a.type, value);
  std::string facts = a.doc;
  const std::string range = RangeText(a);
  if (!range.empty()) facts += (facts.empty() ? "" : "; ") + range;
  if (a.hint)
    facts += std::string(facts.empty() ? "" : "; ") + "no effect here";
  if (!facts.empty()) PrintOut("  {:<20} {}\n", "", facts);
}

void Describe(const Operator& op) {
  PrintOut("{}", op.name);
  if (!op.aliases.empty()) {
    PrintOut(", also {}", fmt::join(op.aliases, ", "));
  }
  PrintOut("\n  {}\n\n", op.doc.empty() ? "(no description)" : op.doc);
  PrintOut("becomes     {}\n", Form(op));
  PrintOut("inputs      {}\n", fmt::join(InputNames(op), ", "));
  PrintOut("outputs     {}\n", fmt::join(OutputNames(op), ", "));
  AttributeList list;
  op.describe(list);
  PrintOut("attributes  {}\n", list.attributes.empty() ? "none" : "");
  for (const Attribute& a : list.attributes) PrintAttribute(a);
}

int ListAll(const ReportStyle& style) {
  Json all = Json::array();
  int64_t count = 0;
  for (const Operator* op : AllOperators()) {
    if (op->internal) continue;
    ++count;
    if (style.json) {
      all.push_back(ToJson(*op));
      continue;
    }
    PrintOut("{:<28} {:<12} {}\n", op->name, Form(*op), op->doc);
  }
  if (style.json) {
    PrintJson({{"operators", all}});
  } else {
    PrintOut("{}\n", Count(count, "operator"));
  }
  return kSuccess;
}

int RunOps(const OpsOptions& options) {
  if (options.name.empty()) return ListAll(options.style);
  const Operator* op = FindPublicOperator(options.name);
  if (!op) {
    return Fail(options.style,
                {UnplacedError(
                    fmt::format("operator '{}' is unknown{}", options.name,
                                NearestNote(NearestOperator(options.name))))});
  }
  if (options.style.json) {
    PrintJson(ToJson(*op));
  } else {
    Describe(*op);
  }
  return kSuccess;
}

}  // namespace

std::function<int()> AddOps(CLI::App& app) {
  auto options = std::make_shared<OpsOptions>();
  app.add_option("NAME", options->name, "an operator or one of its aliases");
  AddJsonOption(app, options->style);
  app.footer(
      "examples:\n"
      "  mxc ops | grep -i pool\n"
      "  mxc ops Convolution");
  return [options] { return RunOps(*options); };
}

}  // namespace mxc
