// SPDX-License-Identifier: Apache-2.0
// Names and what they stand for, in the graphs that nodes hold and in functions.
#include <algorithm>
#include <utility>

#include "frontend/onnx/importer.h"

namespace mxc::onnx {
namespace {

constexpr int kMostDepth = 64;  // of graphs in graphs
constexpr size_t kMostPrefixBytes = 1024;
constexpr int64_t kMostElementsInside = 256;  // of a constant in a loop's turn

}  // namespace

Operand* Importer::Find(Scope& scope, Text name) {
  const auto found = scope.values.find(name);
  if (found != scope.values.end()) return &found->second;
  if (scope.outer == nullptr) return nullptr;
  Operand* outside = Find(*scope.outer, name);
  if (outside == nullptr || scope.within == nullptr) return outside;
  return &(scope.values[name] = Inside(*outside, scope));
}

Value Importer::ValueOf(Operand& operand) {
  if (operand.value) return operand.value;
  if (operand.sequence != nullptr) {
    throw Refused{"a sequence stands where a tensor is expected"};
  }
  const Tensor& tensor = *operand.known;
  if (const auto unfit = Unfit(tensor.type())) {
    throw Refused{fmt::format("an operand has {}", *unfit)};
  }
  if (operand.parameter.empty()) {
    operand.value = ConstantHere(tensor);
    return operand.value;
  }
  Node* variable = graph_.FindVariable(operand.parameter);
  if (variable == nullptr) {
    variable = graph_.AddVariable(operand.parameter);
    variable->op_name = "null";
    variable->role = VariableRole::kParameter;
    variable->types[0] = tensor.type();
    parameter_values_.emplace(variable, tensor);
  }
  operand.value = variable->out();
  return operand.value;
}

// An inner graph is text, which large tensors would make long: they stay
// outside.
Value Importer::ConstantHere(const Tensor& tensor) {
  if (opened_.empty() || tensor.shape().elements() <= kMostElementsInside) {
    return here_->AddConstant("constant", tensor)->out();
  }
  Value value = graph_.AddConstant("constant", tensor)->out();
  for (InnerGraph* inner : opened_) value = inner->Inside(value);
  return value;
}

Operand Importer::Inside(Operand& outside, Scope& scope) {
  Operand inside = outside;
  if (outside.sequence != nullptr) {
    std::vector<Operand> elements = *outside.sequence;
    CountElements(std::ssize(elements));
    for (Operand& element : elements) element = Inside(element, scope);
    inside.sequence =
        std::make_shared<const std::vector<Operand>>(std::move(elements));
    return inside;
  }
  inside.value = {};
  const bool copied = outside.known && outside.parameter.empty() &&
                      outside.known->shape().elements() <= kMostElementsInside;
  if (copied || !outside.given()) return inside;
  if (!outside.value) {
    const Place around(*this);
    here_ = scope.around;
    opened_.resize(scope.opened);
    outside.value = ValueOf(outside);
  }
  inside.value = scope.within->Inside(outside.value);
  return inside;
}

bool Importer::RunFunction(Call& call, const NodeProto& node, Scope& scope) {
  const auto found =
      functions_.find(FunctionKey(node.domain, node.op_type, node.overload));
  if (found == functions_.end()) return false;
  const FunctionProto& function = *found->second;
  const Place place(*this);
  if (++depth_ > kMostDepth) {
    throw Refused{
        fmt::format("functions call each other more than {} deep", kMostDepth)};
  }
  Scope inner;
  std::map<std::string_view, int64_t> opsets;
  for (const OperatorSetIdProto& opset : function.opset_import) {
    opsets[DomainOf(opset.domain)] = opset.version;
  }
  inner.opsets = &opsets;
  Call::Attributes attributes;
  for (const AttributeProto& attribute : function.attribute_proto) {
    attributes[attribute.name] = &attribute;
  }
  for (const auto& [name, given] : AttributesOf(node, scope)) {
    attributes[name] = given;
  }
  inner.attributes = &attributes;
  inner.prefix =
      Shortened(fmt::format("{}{}/", scope.prefix,
                            node.name.empty() ? node.op_type : node.name),
                kMostPrefixBytes);
  for (size_t i = 0; i < function.input.size(); ++i) {
    if (static_cast<int>(i) < call.inputs() && call.Has(static_cast<int>(i))) {
      inner.values[function.input[i]] = call.operand(static_cast<int>(i));
    } else {
      inner.values[function.input[i]] = Operand();
    }
  }
  RunNodes(function.node, inner);
  for (size_t i = 0; i < function.output.size(); ++i) {
    const auto result = inner.values.find(function.output[i]);
    if (static_cast<int>(i) >= call.outputs()) break;
    if (result == inner.values.end()) {
      throw Refused{fmt::format("the function's output '{}' is made by no node",
                                function.output[i].substr(0, 100))};
    }
    call.Give(static_cast<int>(i), result->second);
  }
  return true;
}

std::vector<Operand> Importer::RunInner(const GraphProto& graph,
                                        std::vector<Operand> inputs,
                                        const std::string& prefix,
                                        InnerGraph* within) {
  const Place place(*this);
  if (++depth_ > kMostDepth) {
    throw Refused{
        fmt::format("graphs lie in graphs more than {} deep", kMostDepth)};
  }
  Scope inner;
  inner.outer = scope_;
  inner.attributes = scope_->attributes;
  inner.opsets = scope_->opsets;
  inner.prefix = Shortened(prefix, kMostPrefixBytes);
  if (within != nullptr) {
    inner.within = within;
    inner.around = std::exchange(here_, &within->graph());
    inner.opened = opened_.size();
    opened_.push_back(within);
  }
  if (graph.input.size() != inputs.size()) {
    throw Refused{fmt::format("its graph has {} inputs, expected {}",
                              graph.input.size(), inputs.size())};
  }
  CountNode(static_cast<int64_t>(
      (graph.input.size() + graph.output.size() + graph.initializer.size()) /
      8));
  AddInitializers(graph, inner, /*outermost=*/false);
  if (!errors_.empty()) throw Refused{errors_.front().message};
  for (size_t i = 0; i < inputs.size(); ++i) {
    inner.values[graph.input[i].name] = std::move(inputs[i]);
  }
  RunNodes(graph.node, inner);
  std::vector<Operand> outputs;
  for (const ValueInfoProto& output : graph.output) {
    Operand* found = Find(inner, output.name);
    if (found == nullptr || !found->given()) {
      throw Refused{fmt::format("its graph's output '{}' is made by no node",
                                output.name.substr(0, 100))};
    }
    if (within != nullptr) (void)ValueOf(*found);
    outputs.push_back(*found);
  }
  return outputs;
}

}  // namespace mxc::onnx
