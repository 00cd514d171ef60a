// SPDX-License-Identifier: Apache-2.0
#include "tools/quantize/integer_nodes.h"

#include <fmt/format.h>

#include "frontend/nested_graph.h"
#include "ir/ops/quantized/quantized_layer.h"

namespace mxc {
namespace {

// The numbers as MXNet reads them: floats.
std::string NumberText(double number) {
  return fmt::format("{}", static_cast<float>(number));
}

bool IsPositive(const Node* function) {
  return function != nullptr &&
         (function->Is("relu") || HasNoNegatives(*function));
}

// Returns whether the layer's function leaves no negative numbers behind it.
bool HasUnsignedOutput(const FusedLayer& layer) {
  return IsPositive(layer.add != nullptr ? layer.add_function : layer.function);
}

// A sum of signed numbers, which oneDNN writes over them: relu follows it then.
bool IsFollowedByRelu(const FusedLayer& layer, const Integers& summand) {
  return layer.add_function != nullptr && IsRelu(*layer.add_function) &&
         !summand.is_unsigned;
}

// Writes the nested graph of a layer.
class NestedGraph {
 public:
  explicit NestedGraph(const FusedLayer& layer) {
    Value x = Variable("data");
    Node* node = Copy(*layer.layer, WithParameters(*layer.layer, x));
    if (layer.norm)
      node = Copy(*layer.norm, WithParameters(*layer.norm, node->out()));
    if (layer.function) node = Function(*layer.function, node->out());
    if (layer.add) {
      node = Named("elemwise_add", layer.add->name,
                   {node->out(), Variable("summand")});
    }
    if (layer.add_function) node = Function(*layer.add_function, node->out());
    graph_.outputs = {node->out()};
  }

  const Graph& graph() const { return graph_; }

 private:
  Value Variable(const std::string& name) {
    return graph_.AddVariable(name)->out();
  }
  std::vector<Value> WithParameters(const Node& node, Value data) {
    std::vector<Value> inputs = {data};
    for (size_t i = 1; i < node.inputs.size(); ++i) {
      inputs.push_back(Variable(node.inputs[i].node->name + "0"));
    }
    return inputs;
  }
  Node* Copy(const Node& node, std::vector<Value> inputs) {
    Node* copy =
        graph_.AddOperator(node.op, node.name, node.attrs, std::move(inputs));
    copy->op_name = node.op->name;
    CopyWrittenAttributes(node, *copy);
    return copy;
  }
  Node* Named(const char* op, const std::string& name,
              std::vector<Value> inputs) {
    return graph_.AddOpaque(op, name, std::move(inputs), 1);
  }
  Node* Function(const Node& function, Value x) {
    if (!function.Is("relu")) return Copy(function, {x});
    Node* relu = Named("Activation", function.name, {x});
    relu->written.SetAttribute("act_type", "relu");
    return relu;
  }

  Graph graph_;
};

}  // namespace

Node* IntegerNodes::Add(const std::string& op, const std::string& name,
                        std::vector<Value> inputs, int outputs,
                        const Texts& attributes) {
  Node* node = graph_.AddOpaque(op, name, std::move(inputs), outputs);
  for (const auto& [attribute, text] : attributes) {
    node->written.SetAttribute(attribute, text);
  }
  return node;
}

Integers IntegerNodes::Quantize(Value floats, const ValueRange& range,
                                bool is_signed) {
  const bool is_unsigned = !range.has_negatives() && !is_signed;
  Node* node =
      Add("_contrib_quantize_v2",
          floats.node->name + (is_signed ? "_quantize_int8" : "_quantize"),
          {floats}, 3,
          {{"max_calib_range", NumberText(range.high)},
           {"min_calib_range", NumberText(range.low)},
           {"out_type", is_unsigned ? "uint8" : "int8"}});
  return {node->out(0), node->out(1), node->out(2), is_unsigned};
}

Value IntegerNodes::Dequantize(const Integers& integers,
                               const std::string& name) {
  return Add("_contrib_dequantize", name,
             {integers.levels, integers.low, integers.high}, 1, {})
      ->out();
}

bool IntegerNodes::IsWritable(const FusedLayer& layer,
                              const Integers& summand) {
  return HasUnsignedOutput(layer) == summand.is_unsigned ||
         IsFollowedByRelu(layer, summand);
}

Node* IntegerNodes::AddLayer(const FusedLayer& layer, const Integers& data,
                             const Integers* summand, const std::string& name,
                             int outputs, Texts attributes) {
  std::vector<Value> inputs = {data.levels};
  for (const Node* node : {layer.layer, layer.norm}) {
    if (node == nullptr) continue;
    inputs.insert(inputs.end(), node->inputs.begin() + 1, node->inputs.end());
  }
  if (summand) inputs.push_back(summand->levels);
  inputs.insert(inputs.end(), {data.low, data.high});
  if (summand) inputs.insert(inputs.end(), {summand->low, summand->high});
  const auto say = [&](bool is, const char* attribute) {
    if (is) attributes.emplace_back(attribute, "true");
  };
  say(true, "quantized");
  if (layer.is_convolution()) {
    say(layer.norm, "with_bn");
    say(layer.function, "with_act");
    say(layer.add, "with_sum");
    say(layer.add_function, "with_postsum_act");
  } else {
    say(layer.function, "with_eltwise");
    say(true, "channel_wise_quantize");
  }
  Node* node = Add(
      layer.is_convolution() ? "_sg_mkldnn_conv" : "_sg_mkldnn_fully_connected",
      name, std::move(inputs), outputs, attributes);
  SetNestedGraph(NestedGraph(layer).graph(), *node);
  return node;
}

Integers IntegerNodes::Layer(const FusedLayer& layer, const Integers& data,
                             const Integers* summand, const ValueRange& range,
                             const std::string& name) {
  FusedLayer written = layer;
  const bool relu_follows = summand && IsFollowedByRelu(layer, *summand);
  if (relu_follows) written.add_function = nullptr;
  Node* node = AddLayer(written, data, summand, name, 3,
                        {{"max_calib_range", NumberText(range.high)},
                         {"min_calib_range", NumberText(range.low)}});
  Integers made = {node->out(0), node->out(1), node->out(2),
                   HasUnsignedOutput(written)};
  if (!relu_follows) return made;
  Node* relu =
      Add("_contrib_quantized_act", name + "_relu",
          {made.levels, made.low, made.high}, 3, {{"act_type", "relu"}});
  return {relu->out(0), relu->out(1), relu->out(2), false};
}

Value IntegerNodes::FloatLayer(const FusedLayer& layer, const Integers& data,
                               const std::string& name) {
  return AddLayer(layer, data, nullptr, name, 1,
                  {{"enable_float_output", "true"}})
      ->out();
}

Integers IntegerNodes::Moved(const Node& node, const char* op,
                             const std::vector<Integers>& inputs) {
  std::vector<Value> values;
  bool is_unsigned = true;
  for (const Integers& input : inputs) {
    values.push_back(input.levels);
    is_unsigned = is_unsigned && input.is_unsigned;
  }
  for (const Integers& input : inputs) {
    values.insert(values.end(), {input.low, input.high});
  }
  Node* moved =
      graph_.AddOpaque(op, "quantized_" + node.name, std::move(values), 3);
  CopyWrittenAttributes(node, *moved);
  return {moved->out(0), moved->out(1), moved->out(2), is_unsigned};
}

Value IntegerNodes::Plain(const char* op, std::vector<Value> inputs,
                          const std::string& name) {
  return Add(op, name, std::move(inputs), 1, {})->out();
}

}  // namespace mxc
