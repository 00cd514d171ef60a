// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/operator_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>

#include "ir/graph/fields.h"

namespace mxc {
namespace {

using Json = nlohmann::ordered_json;

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
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
  std::vector<AttributeRow> attributes;
};

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

}  // namespace

std::vector<AttributeRow> AttributeRows(const Operator& op) {
  AttributeList list;
  op.describe(list);
  return list.attributes;
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

const char* FormOf(const Operator& op) {
  if (op.contraction) return "contraction";
  if (op.view) return "view";
  if (op.meaning || op.procedure) return "kernel";
  if (op.call) return "call";
  if (op.decompose) return "composite";
  return "recognised";
}

Json OperatorRow(const Operator& op) {
  Json attributes = Json::array();
  for (const AttributeRow& a : AttributeRows(op)) {
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
          {"form", FormOf(op)},
          {"inputs", InputNames(op)},
          {"outputs", OutputNames(op)},
          {"attributes", attributes}};
}

Json OperatorTable() {
  Json rows = Json::array();
  for (const Operator* op : AllOperators()) {
    if (!op->internal) rows.push_back(OperatorRow(*op));
  }
  return {{"operators", rows}};
}

}  // namespace mxc
