// SPDX-License-Identifier: Apache-2.0
// _sg_mkldnn_conv, _sg_mkldnn_fully_connected: a layer with what follows it, as
// MXNet fuses them for oneDNN. Of floats it is the operators themselves; of
// 8-bit numbers (`quantized`) the nested graph says what a `_quantized_layer`
// is made of.
// Source: MXNet 1.9.1 operator/subgraph/mkldnn/mkldnn_conv.cc, mkldnn_fc.cc.
#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "frontend/mxnet/subgraphs/expansion.h"
#include "ir/ops/nn/norm/batch_norm.h"
#include "ir/ops/quantized/quantized_layer.h"

namespace mxc {
namespace {

std::string SettingsOf(const Node& node) {
  return PrintAttrLines(node.op->print(node.attrs.get()));
}

// One node of the nested graph, in its order. False for one that no fused layer
// has.
bool Take(const Node& node, QuantizedLayerAttrs& layer) {
  if (node.kind != Node::Kind::kOperator) return false;
  if (node.Is("Convolution") || node.Is("FullyConnected")) {
    layer.settings = SettingsOf(node);
    return std::exchange(layer.layer, node.op->name).empty();
  }
  if (node.Is("BatchNorm")) {
    const auto& norm = *static_cast<const BatchNormAttrs*>(node.attrs.get());
    layer.fix_gamma = norm.fix_gamma;
    layer.eps = norm.eps;
    return !std::exchange(layer.with_norm, true);
  }
  if (node.Is("elemwise_add")) {
    layer.positive = false;
    return !std::exchange(layer.with_sum, true);
  }
  if (node.inputs.size() != 1) return false;
  layer.positive = HasNoNegatives(node);
  auto& function = layer.with_sum ? layer.sum_activation : layer.activation;
  (layer.with_sum ? layer.sum_activation_settings : layer.activation_settings) =
      SettingsOf(node);
  return std::exchange(function, node.op->name).empty();
}

std::optional<double> NumberOf(std::string_view text) {
  double number = 0;
  const auto read =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || !std::isfinite(number)) return std::nullopt;
  return number;
}

// data is the summand, too, and stands once among the inputs.
std::vector<Value> WithSummand(const QuantizedLayerAttrs& layer,
                               std::vector<Value> inputs) {
  const std::vector<InputSpec> specs = layer.Inputs();
  const auto at = [&](std::string_view name) {
    return std::ranges::find(specs, name, &InputSpec::name) - specs.begin();
  };
  if (inputs.size() + 3 != specs.size()) return inputs;
  inputs.insert(inputs.begin() + at("sum"), inputs[0]);
  for (const char* end : {"min_data", "max_data"}) {
    inputs.push_back(inputs[at(end)]);
  }
  return inputs;
}

Status ExpandQuantized(const Subgraph& subgraph, Expansion& expansion) {
  QuantizedLayerAttrs layer;
  for (const Node* node : subgraph.graph.TopologicalOrder()) {
    if (node->kind == Node::Kind::kVariable || Take(*node, layer)) continue;
    return expansion.Fail("its subgraph holds {} '{}', which is no part of it",
                          node->op_name, node->name);
  }
  if (layer.layer.empty()) {
    return expansion.Fail("its subgraph has no layer with weights");
  }
  layer.min_calib_range = NumberOf(expansion.Text({"min_calib_range"}));
  layer.max_calib_range = NumberOf(expansion.Text({"max_calib_range"}));
  layer.float_output = expansion.Flag({"enable_float_output"});
  layer.quantized_weight = layer.layer == "FullyConnected" &&
                           !expansion.Flag({"channel_wise_quantize"});
  std::vector<Value> inputs = expansion.inputs();
  if (expansion.Flag({"dedup"})) inputs = WithSummand(layer, std::move(inputs));
  if (inputs.size() != layer.Inputs().size()) {
    return expansion.Fail("it has {} inputs, expected {}", inputs.size(),
                          layer.Inputs().size());
  }
  return expansion.Replace(expansion.Add(
      "_quantized_layer", std::move(inputs),
      PrintAttrs([&](Fields& f) { layer.Describe(f); }), "layer"));
}

}  // namespace

Status ExpandFusedLayer(Expansion& expansion) {
  MXC_ASSIGN(const std::vector<Subgraph> subgraphs,
             ReadSubgraphs(expansion.node(), expansion.graph(), 1));
  if (expansion.Flag({"quantized"})) {
    return ExpandQuantized(subgraphs[0], expansion);
  }
  if (subgraphs[0].variables.size() != expansion.inputs().size()) {
    return expansion.Fail("it has {} inputs, its subgraph {} variables",
                          expansion.inputs().size(),
                          subgraphs[0].variables.size());
  }
  return expansion.Replace(
      expansion.Copy(subgraphs[0], expansion.inputs(), ""));
}

}  // namespace mxc
