// SPDX-License-Identifier: Apache-2.0
#include "ir/graph/builder.h"
#include "ir/support/fnv1a.h"

#include <fmt/format.h>

#include <cstdlib>

namespace mxc {

std::vector<Value> GraphBuilder::Ops(const Operator& op,
                                     std::vector<Value> inputs,
                                     std::vector<AttrText> attrs,
                                     std::string_view role) {
  return Make(op, std::move(inputs), op.attrs_type, Parsed(op, attrs), role);
}

std::vector<Value> GraphBuilder::MakeDefault(const Operator& op,
                                             std::vector<Value> inputs,
                                             std::string_view role) {
  return Make(op, std::move(inputs), op.attrs_type, Parsed(op, {}), role);
}

AttrsPtr GraphBuilder::Parsed(const Operator& op,
                              const std::vector<AttrText>& attrs) {
  auto legal = LegalAttrs(op, attrs);
  if (!legal.ok()) Broken(op, legal.errors()[0].message);
  return std::move(*legal);
}

void GraphBuilder::Broken(const Operator& op, const std::string& why) {
  MXC_CHECK(false, "{} in {}: {}", op.name, origin_.name, why);
  std::abort();
}

std::vector<Value> GraphBuilder::Made(Node&, std::vector<Value> outputs) {
  return outputs;
}

std::vector<Value> GraphBuilder::Make(const Operator& op,
                                      std::vector<Value> inputs,
                                      std::type_index type, AttrsPtr attrs,
                                      std::string_view role) {
  MXC_CHECK(type == op.attrs_type, "operator '{}' has other attributes",
            op.name);
  CheckAttrs(op, attrs.get());
  Node* node =
      graph_.AddOperator(&op,
                         fmt::format("{}/{}{}{}", origin_.name, prefix_, part_,
                                     role.empty() ? op.name : role),
                         std::move(attrs), inputs);
  node->loc = origin_.loc;
  node->part = origin_.part;
  node->backward = origin_.backward;
  node->origins = origin_.origins.empty()
                      ? std::vector<std::string>{origin_.name}
                      : origin_.origins;
  std::vector<TensorType> types;
  for (const Value& input : inputs) types.push_back(input.type());
  TypeInference inference(types, node->types, graph_.training);
  op.types(node->attrs.get(), inference);
  if (inference.error()) Broken(op, *inference.error());
  std::vector<Value> outputs;
  for (size_t i = 0; i < node->types.size(); ++i) {
    if (!node->types[i].known()) Broken(op, "its result has no known type");
    outputs.push_back(node->out(static_cast<int>(i)));
  }
  return Made(*node, std::move(outputs));
}

Value GraphBuilder::Constant(Tensor value, std::string_view role) {
  Node* node = graph_.AddConstant(fmt::format("{}/{}", origin_.name, role),
                                  std::move(value));
  node->loc = origin_.loc;
  return node->out();
}

Value GraphBuilder::Scalar(double value, DType dtype) {
  return Constant(Tensor::Filled({dtype, Shape{1}}, value),
                  fmt::format("{}", value));
}

Value GraphBuilder::SumTo(Value x, const Shape& shape) {
  const int more = x.shape().rank() - shape.rank();
  Extents axes;
  for (int axis = 0; axis < x.shape().rank(); ++axis) {
    const bool added = axis < more;
    if (added || (shape[axis - more] == 1 && x.shape()[axis] != 1)) {
      axes.push_back(axis);
    }
  }
  if (axes.empty()) return x;
  return Reshape(Sum(x, axes), shape);
}

Value GraphBuilder::State(std::string_view name, Tensor initial,
                          TensorUse use) {
  Node* node = graph_.FindVariable(std::string(name));
  if (node == nullptr) {
    node = graph_.AddVariable(std::string(name));
    node->role = VariableRole::kState;
    node->types[0] = initial.type();
    node->constant = std::move(initial);
    node->use = std::move(use);
  }
  return node->out();
}

void GraphBuilder::Update(Value variable, Value next) {
  graph_.updates.push_back({variable.node, next});
}

int64_t GraphBuilder::Stream(std::string_view role) const {
  uint64_t hash = Fnv1a(role, Fnv1a("/", Fnv1a(origin_.name)));
  hash ^= hash >> 32;
  return static_cast<int64_t>(hash >> 1);
}

GradientBuilder::GradientBuilder(Graph& graph, Node& node,
                                 std::vector<Value> heads,
                                 std::vector<bool> needed)
    : GraphBuilder(graph, node),
      node_(node),
      heads_(std::move(heads)),
      needed_(std::move(needed)) {
  prefix_ = kGradientPrefix;
}

Value GradientBuilder::Head(int i) {
  if (!heads_[i]) heads_[i] = Zeros(node_.types[i]);
  return heads_[i];
}

std::vector<AttrText> GradientBuilder::Attrs() const {
  return node_.op->print(node_.attrs.get());
}

Value GradientBuilder::HeadSummedTo(int input) {
  return Needs(input) ? SumTo(Head(), In(input).shape()) : Value();
}

std::string GradientBuilder::InputName(int i) const {
  const auto specs = node_.op->inputs(node_.attrs.get());
  return i < static_cast<int>(specs.size()) ? specs[i].name : std::to_string(i);
}

}  // namespace mxc
