// SPDX-License-Identifier: Apache-2.0
#include "tools/quantize/fused_layer.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "ir/ops/nn/activation/activation.h"
#include "ir/ops/nn/convolution/convolution_geometry.h"
#include "ir/ops/nn/norm/batch_norm.h"
#include "ir/ops/nn/spatial/spatial.h"
#include "ir/ops/tensor/elementwise/clip.h"
#include "tools/quantize/only_reader.h"

namespace mxc {

Node* FusedLayer::last() const {
  for (Node* node : {add_function, add, function, norm}) {
    if (node != nullptr) return node;
  }
  return layer;
}

Value FusedLayer::own() const {
  if (function != nullptr) return function->out();
  return (norm != nullptr ? norm : layer)->out();
}

Value FusedLayer::summand() const {
  if (add == nullptr) return {};
  return add->inputs[add->inputs[0] == own() ? 1 : 0];
}

std::vector<Node*> FusedLayer::nodes() const {
  std::vector<Node*> all = {layer, norm, function, add, add_function};
  std::erase(all, nullptr);
  return all;
}

bool IsRelu(const Node& node) {
  if (node.Is("relu")) return true;
  return node.Is("Activation") &&
         node.As<ActivationAttrs>().act_type == ActType::kRelu;
}

namespace {

bool HasParameters(const Node& node, size_t first) {
  return std::all_of(node.inputs.begin() + static_cast<ptrdiff_t>(first),
                     node.inputs.end(), [](const Value& input) {
                       return input.node->kind == Node::Kind::kVariable &&
                              input.node->role != VariableRole::kInput;
                     });
}

bool IsLayer(const Node& node) {
  if (node.Is("Convolution")) {
    if (node.As<ConvolutionAttrs>().kernel.size() != 2) return false;
  } else if (!node.Is("FullyConnected")) {
    return false;
  }
  const DType dtype = node.types[0].dtype;
  return HasParameters(node, 1) &&
         (dtype == DType::kF32 || dtype == DType::kUnknown);
}

bool IsFusedNorm(const Node& node, const FusedLayer& found) {
  if (!node.Is("BatchNorm") || !(node.inputs[0] == found.layer->out())) {
    return false;
  }
  const std::string& layout = found.layer->As<ConvolutionAttrs>().layout;
  const auto& norm = node.As<BatchNormAttrs>();
  return norm.axis == (IsChannelsLast(layout) ? 3 : 1) &&
         HasParameters(node, 1);
}

// Those that MXNet fuses with layers of 8-bit numbers, whose levels they keep.
bool IsFusedFunction(const Node& node) {
  return IsRelu(node) || (node.Is("clip") && node.As<ClipAttrs>().a_min == 0);
}

bool IsSum(const Node& node) {
  return (node.Is("elemwise_add") || node.Is("broadcast_add")) &&
         node.types[0].shape.known() &&
         node.inputs[0].type() == node.inputs[1].type() &&
         !(node.inputs[0] == node.inputs[1]);
}

class LayerSearch {
 public:
  explicit LayerSearch(const Graph& graph) : graph_(graph), readers_(graph) {}

  std::vector<FusedLayer> Run() {
    std::unordered_map<const Node*, FusedLayer> by_last;
    for (Node* node : graph_.TopologicalOrder()) {
      if (!IsLayer(*node)) continue;
      const FusedLayer found = From(*node);
      by_last.emplace(found.last(), found);
    }
    std::vector<FusedLayer> layers;
    for (const Node* node : graph_.TopologicalOrder()) {
      const auto found = by_last.find(node);
      if (found != by_last.end()) layers.push_back(found->second);
    }
    return layers;
  }

 private:
  FusedLayer From(Node& layer) {
    FusedLayer found;
    found.layer = &layer;
    Node* reader = readers_.Of(layer);
    if (found.is_convolution() && reader && IsFusedNorm(*reader, found)) {
      found.norm = reader;
      reader = readers_.Of(*reader);
    }
    if (reader && IsFusedFunction(*reader)) {
      found.function = reader;
      reader = readers_.Of(*reader);
    }
    // One of two layers that are added takes the sum.
    if (!found.is_convolution() || !reader || !IsSum(*reader) ||
        !sums_.insert(reader).second) {
      return found;
    }
    found.add = reader;
    reader = readers_.Of(*reader);
    if (reader && IsFusedFunction(*reader)) found.add_function = reader;
    return found;
  }

  const Graph& graph_;
  const OnlyReaders readers_;
  std::unordered_set<const Node*> sums_;
};

}  // namespace

std::vector<FusedLayer> FindFusedLayers(const Graph& graph) {
  return LayerSearch(graph).Run();
}

}  // namespace mxc
