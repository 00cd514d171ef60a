// SPDX-License-Identifier: Apache-2.0
// What a caller gives.
#include <algorithm>
#include <utility>

#include "frontend/onnx/importer.h"

namespace mxc::onnx {
namespace {

// Of a sequence or an optional, what its elements are; else null.
const TypeProto* ElementOfInput(const ValueInfoProto& info) {
  if (info.type == nullptr) return nullptr;
  for (const auto* type :
       {&info.type->sequence_type, &info.type->optional_type}) {
    if (*type != nullptr) return (*type)->elem_type.get();
  }
  return nullptr;
}

}  // namespace

void Importer::AddInputs(const GraphProto& graph, Scope& scope) {
  // Before IR version 4 every initializer was an input, too; a default value
  // today. Both are parameters to us.
  std::vector<const ValueInfoProto*> inputs;
  for (const ValueInfoProto& info : graph.input) {
    if (!scope.values.contains(info.name)) inputs.push_back(&info);
  }
  extents_.emplace(inputs, options_);
  for (const ValueInfoProto* info : inputs) {
    if (const TypeProto* element = ElementOfInput(*info)) {
      AddSequenceInput(*info, *element, scope);
    } else {
      scope.values[info->name] = AddInput(info->name, info->type.get());
    }
  }
  for (const auto& [name, value] : options_.input_values) {
    if (bound_.contains(name)) continue;
    errors_.push_back(
        Error({}, "--bind gives '{}' a value, which is no input", name));
  }
}

// The inputs NAME.0, NAME.1 … that shapes or values are given for stand for the
// elements of a sequence, NAME itself for that of an optional.
void Importer::AddSequenceInput(const ValueInfoProto& info,
                                const TypeProto& element, Scope& scope) {
  const std::string name(info.name);
  const auto given = [&](const std::string& input) {
    return options_.input_shapes.contains(input) ||
           options_.input_values.contains(input);
  };
  const bool optional = info.type->optional_type != nullptr;
  const bool sequence = element.sequence_type != nullptr || !optional;
  const TypeProto* type = &element;
  if (optional && sequence) type = element.sequence_type->elem_type.get();
  std::vector<Operand> elements;
  if (!sequence && given(name)) {
    elements.push_back(AddInput(name, type));
  }
  for (size_t i = 0; sequence; ++i) {
    const std::string input = fmt::format("{}.{}", name, i);
    if (!given(input)) break;
    elements.push_back(AddInput(input, type));
  }
  Operand operand;
  if (sequence && (!optional || !elements.empty())) {
    operand.sequence =
        std::make_shared<const std::vector<Operand>>(std::move(elements));
    elements = {operand};
  }
  if (optional) {
    operand.optional = true;
    operand.sequence =
        std::make_shared<const std::vector<Operand>>(std::move(elements));
  } else if (operand.sequence->empty()) {
    errors_.push_back(Error(
        {},
        "input '{}' is a sequence; --input-shape {}.0:… and so on give its "
        "elements",
        name.substr(0, 200), name.substr(0, 100)));
  }
  scope.values[info.name] = std::move(operand);
}

Operand Importer::AddInput(Text input, const TypeProto* asked) {
  const std::string name(input);
  const auto fail = [&](std::string sentence) {
    errors_.push_back(
        Error({}, "input '{}' {}", name.substr(0, 200), sentence));
    return Operand();
  };
  if (const auto value = options_.input_values.find(name);
      value != options_.input_values.end()) {
    bound_.insert(name);
    Operand operand{.known = value->second};
    if (asked != nullptr && asked->tensor_type != nullptr) {
      operand.narrow = NarrowType(asked->tensor_type->elem_type);
    }
    return operand;
  }
  if (asked == nullptr || asked->tensor_type == nullptr) {
    return fail(
        "is no tensor; maps, sparse tensors and sequences of sequences cannot "
        "be given to a program");
  }
  const TensorTypeProto& declared = *asked->tensor_type;
  const auto dtype = DTypeOf(declared.elem_type);
  if (!dtype) {
    return fail(fmt::format("has elements of {}, which are not supported",
                            DataTypeName(declared.elem_type)));
  }
  auto found = extents_->Of(name, declared);
  if (!found.ok()) return fail(found.errors().front().message);
  const Extents dims = std::move(*found);
  const TensorType type = {*dtype, Shape(dims)};
  if (std::ranges::any_of(dims, [](int64_t dim) { return dim < 0; })) {
    return fail(
        fmt::format("has the shape {}, which cannot be", ToString(dims)));
  }
  Extents counted = dims;  // extents without elements bound nothing
  std::ranges::replace(counted, 0, 1);
  if (const auto unfit = Unfit({*dtype, Shape(counted)})) {
    return fail("has " + *unfit);
  }
  if (Call::IsEmpty(type.shape)) {
    notes_.push_back(
        Error({},
              "input '{}' has shape {}, which has no elements; the "
              "program does not ask for it",
              name.substr(0, 200), ToString(type.shape)));
    graph_.written.empty_inputs.insert(name);
    std::byte* nothing = nullptr;
    return Operand{.known = Tensor::Allocate(type, &nothing),
                   .narrow = NarrowType(declared.elem_type)};
  }
  Node* node = graph_.AddVariable(name);
  node->op_name = "null";
  node->types[0] = type;
  node->use.open = extents_->OpenAxesOf(name);
  Operand operand{.value = node->out(),
                  .narrow = NarrowType(declared.elem_type)};
  NoteNarrow("input", input, operand);
  return operand;
}

}  // namespace mxc::onnx
