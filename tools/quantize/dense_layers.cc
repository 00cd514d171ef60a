// SPDX-License-Identifier: Apache-2.0
#include "tools/quantize/dense_layers.h"

#include <fmt/format.h>

#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/ops/nn/convolution/fully_connected.h"
#include "ir/ops/tensor/linalg/dot.h"
#include "tools/quantize/only_reader.h"

namespace mxc {
namespace {

Tensor Turned(const Tensor& matrix) {
  const int64_t rows = matrix.shape()[0], columns = matrix.shape()[1];
  std::byte* to = nullptr;
  Tensor turned = Tensor::Allocate({DType::kF32, Shape{columns, rows}}, &to);
  const std::byte* from = matrix.bytes();
  const auto size = static_cast<int64_t>(sizeof(float));
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t r = 0; r < rows; ++r, to += size) {
      std::memcpy(to, from + (r * columns + c) * size, size);
    }
  }
  return turned;
}

class DenseLayers {
 public:
  explicit DenseLayers(Model& model)
      : model_(model), graph_(model.graph), readers_(model.graph) {}

  void Run() {
    Replacements replaced;
    for (Node* node : graph_.TopologicalOrder()) {
      replaced.ApplyTo(*node);
      if (!IsDense(*node)) continue;
      Node* sum = readers_.Of(*node);
      const Value bias = sum == nullptr ? Value() : BiasOf(*sum, *node);
      replaced.Add((bias ? sum : node)->out(), Layer(*node, bias));
    }
    graph_.ReplaceUses(replaced);
    graph_.RemoveDeadNodes();
  }

 private:
  // What has no type yet will be of floats.
  static bool IsOfFloats(const TensorType& type) {
    return type.dtype == DType::kF32 || type.dtype == DType::kUnknown;
  }

  // Whose values are known.
  bool IsParameter(Value value, int rank) const {
    if (value.node->kind != Node::Kind::kVariable ||
        value.node->role == VariableRole::kInput) {
      return false;
    }
    const auto found = model_.parameters.find(value.node->name);
    return found != model_.parameters.end() &&
           found->second.type().dtype == DType::kF32 &&
           found->second.shape().rank() == rank && IsOfFloats(value.type());
  }

  bool IsDense(const Node& node) const {
    return node.Is("dot") && !node.As<DotAttrs>().transpose_a &&
           IsParameter(node.inputs[1], 2) &&
           node.inputs[0].shape().known_rank() &&
           node.inputs[0].shape().rank() >= 2 &&
           IsOfFloats(node.inputs[0].type());
  }

  // What `sum` adds to each row of the product; empty: it is no such sum.
  Value BiasOf(const Node& sum, Node& product) const {
    if (!sum.Is("broadcast_add")) return {};
    const Value bias = sum.inputs[sum.inputs[0] == product.out() ? 1 : 0];
    if (!IsParameter(bias, 1)) return {};
    const Node& matrix = *product.inputs[1].node;
    const int outputs = product.As<DotAttrs>().transpose_b ? 0 : 1;
    const bool fits = model_.parameters.at(bias.node->name).shape()[0] ==
                      model_.parameters.at(matrix.name).shape()[outputs];
    return fits ? bias : Value();
  }

  // The matrix with a row for each output.
  Value RowsOf(const Node& dot) {
    const Node& matrix = *dot.inputs[1].node;
    if (dot.As<DotAttrs>().transpose_b) return dot.inputs[1];
    Node*& rows = turned_[&matrix];
    if (rows != nullptr) return rows->out();
    std::string name = matrix.name + "_turned";
    while (graph_.FindVariable(name) != nullptr) name += "_";
    rows = graph_.AddVariable(name);
    const Tensor turned = Turned(model_.parameters.at(matrix.name));
    rows->role = matrix.role;
    rows->types = {turned.type()};
    rows->loc = matrix.loc;
    model_.parameters[name] = turned;
    return rows->out();
  }

  Value Layer(const Node& dot, Value bias) {
    const Value rows = RowsOf(dot);
    std::vector<Value> inputs = {dot.inputs[0], rows};
    if (bias) inputs.push_back(bias);
    const Operator& op = OperatorOf<op::FullyConnected>();
    const std::vector<AttrText> settings = {
        {"num_hidden",
         std::to_string(model_.parameters.at(rows.node->name).shape()[0])},
        {"flatten", PrintBool(false)},
        {"no_bias", PrintBool(!bias)}};
    std::vector<AttrError> errors;
    Node* layer = graph_.AddOperator(&op, dot.name, op.parse(settings, errors),
                                     std::move(inputs));
    MXC_CHECK(errors.empty(), "{}: {}", dot.name, errors[0].message);
    layer->op_name = op.name;
    for (const auto& [name, text] : settings) {
      layer->written.SetAttribute(name, text);
    }
    layer->types = dot.types;
    layer->loc = dot.loc;
    return layer->out();
  }

  Model& model_;
  Graph& graph_;
  const OnlyReaders readers_;
  std::unordered_map<const Node*, Node*> turned_;  // looked up only
};

}  // namespace

void UseFullyConnected(Model& model) { DenseLayers(model).Run(); }

}  // namespace mxc
