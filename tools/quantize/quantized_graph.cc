// SPDX-License-Identifier: Apache-2.0
#include "tools/quantize/quantized_graph.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "ir/ops/nn/pooling/pooling.h"
#include "tools/quantize/integer_nodes.h"

namespace mxc {
namespace {

// What an operator that only moves or compares numbers is of 8-bit ones;
// nullptr: it is none. "" is for one that does nothing in inference.
const char* MovedOperator(const Node& node) {
  if (node.kind != Node::Kind::kOperator) return nullptr;
  if (node.Is("Pooling")) {
    const auto& pooling = node.As<PoolingAttrs>();
    const bool known = pooling.pool_type == PoolType::kMax ||
                       pooling.pool_type == PoolType::kAvg;
    const bool first = pooling.layout == "None" || pooling.layout == "NCHW";
    return known && first ? "_contrib_quantized_pooling" : nullptr;
  }
  if (node.Is("Flatten")) return "_contrib_quantized_flatten";
  if (node.Is("Concat")) return "_contrib_quantized_concat";
  if (node.Is("Dropout") || node.Is("_copy")) return "";
  return nullptr;
}

// The values that 8-bit numbers are wanted of: what the layers read, and what
// that is moved from.
class WantedIntegers {
 public:
  WantedIntegers(const Graph& graph, const std::vector<FusedLayer>& layers,
                 const std::vector<bool>& chosen) {
    for (size_t i = 0; i < layers.size(); ++i) {
      if (!chosen[i]) continue;
      wanted_.insert(layers[i].data());
      if (layers[i].add) wanted_.insert(layers[i].summand());
    }
    const std::vector<Node*> order = graph.TopologicalOrder();
    for (auto node = order.rbegin(); node != order.rend(); ++node) {
      if (MovedOperator(**node) == nullptr || !Has((*node)->out())) continue;
      wanted_.insert((*node)->inputs.begin(), (*node)->inputs.end());
    }
  }

  bool Has(Value value) const { return wanted_.contains(value); }

 private:
  std::unordered_set<Value, ValueHash> wanted_;
};

// Products alone have a form that writes floats.
bool HasFloatOutput(const FusedLayer& layer, const WantedIntegers& wanted) {
  return !layer.is_convolution() && !wanted.Has(layer.output());
}

class Quantization {
 public:
  Quantization(const std::vector<FusedLayer>& layers,
               const std::vector<bool>& chosen, const ValueRanges& ranges,
               Graph& graph)
      : ranges_(ranges),
        graph_(graph),
        nodes_(graph),
        wanted_(graph, layers, chosen) {
    for (size_t i = 0; i < layers.size(); ++i) {
      if (!chosen[i]) continue;
      layers_.emplace(layers[i].last(), layers[i]);
      for (const Node* node : layers[i].nodes()) inside_.insert(node);
    }
  }

  void Run() {
    for (Node* node : graph_.TopologicalOrder()) {
      const auto layer = layers_.find(node);
      if (layer != layers_.end()) {
        Replace(layer->second);
      } else if (!inside_.contains(node) && !Move(*node)) {
        ReadFloats(*node);
      }
    }
    for (Value& output : graph_.outputs) output = Floats(output);
    graph_.RemoveDeadNodes();
  }

 private:
  void ReadFloats(Node& node) {
    for (Value& input : node.inputs) input = Floats(input);
  }

  Value Floats(Value value) {
    if (const auto found = floats_.find(value); found != floats_.end()) {
      return found->second;
    }
    const auto integers = integers_.find(value);
    if (integers == integers_.end()) return value;
    return floats_[value] =
               nodes_.Dequantize(integers->second, value.node->name);
  }

  const Integers& IntegersOf(Value value) {
    const auto found = integers_.find(value);
    if (found != integers_.end()) return found->second;
    return integers_[value] = nodes_.Quantize(
               Floats(value), ranges_.at(TensorId(value)), false);
  }

  void Replace(const FusedLayer& layer) {
    const Integers data = IntegersOf(layer.data());
    if (layer.add) return ReplaceSum(layer, data);
    const Value output = layer.output();
    if (HasFloatOutput(layer, wanted_)) {
      floats_[output] = nodes_.FloatLayer(layer, data, output.node->name);
      return;
    }
    integers_[output] = Limited(layer, data, nullptr);
  }

  void ReplaceSum(const FusedLayer& layer, const Integers& data) {
    const Integers summand = IntegersOf(layer.summand());
    if (IntegerNodes::IsWritable(layer, summand)) {
      integers_[layer.output()] = Limited(layer, data, &summand);
      return;
    }
    FusedLayer alone = layer;
    alone.add = alone.add_function = nullptr;
    integers_[alone.output()] = Limited(alone, data, nullptr);
    ReadFloats(*layer.add);
    if (layer.add_function) ReadFloats(*layer.add_function);
  }

  Integers Limited(const FusedLayer& layer, const Integers& data,
                   const Integers* summand) {
    return nodes_.Layer(layer, data, summand,
                        ranges_.at(TensorId(layer.output())),
                        "quantized_" + layer.output().node->name);
  }

  // Moves 8-bit numbers where all that the node reads are such.
  bool Move(Node& node) {
    const char* op = MovedOperator(node);
    if (op == nullptr || !wanted_.Has(node.out())) return false;
    std::vector<Integers> inputs;
    for (const Value& input : node.inputs) {
      const auto found = integers_.find(input);
      if (found == integers_.end()) return false;
      inputs.push_back(found->second);
    }
    integers_[node.out()] =
        *op == '\0' ? inputs[0] : nodes_.Moved(node, op, inputs);
    return true;
  }

  const ValueRanges& ranges_;
  Graph& graph_;
  IntegerNodes nodes_;
  const WantedIntegers wanted_;
  std::unordered_map<const Node*, FusedLayer> layers_;  // by their last node
  std::unordered_set<const Node*> inside_;
  std::unordered_map<Value, Integers, ValueHash> integers_;
  // What stands for a value where it is no longer computed as it was.
  std::unordered_map<Value, Value, ValueHash> floats_;
};

}  // namespace

std::vector<Value> RangedValues(const std::vector<FusedLayer>& layers) {
  std::vector<Value> values;
  std::unordered_set<Value, ValueHash> found;
  const auto add = [&](Value value) {
    if (value && found.insert(value).second) values.push_back(value);
  };
  for (const FusedLayer& layer : layers) {
    add(layer.data());
    add(layer.own());
    add(layer.summand());
    add(layer.output());
  }
  return values;
}

void QuantizeGraph(const std::vector<FusedLayer>& layers,
                   const std::vector<bool>& chosen, const ValueRanges& ranges,
                   Graph& graph) {
  Quantization(layers, chosen, ranges, graph).Run();
}

void AddErrorOutputs(const std::vector<FusedLayer>& layers,
                     const ValueRanges& ranges, Graph& graph) {
  const WantedIntegers wanted(graph, layers,
                              std::vector<bool>(layers.size(), true));
  IntegerNodes nodes(graph);
  const auto squares = [&](Value x, const std::string& name) {
    const Value square = nodes.Plain("square", {x}, name + "_square");
    graph.outputs.push_back(nodes.Plain("sum", {square}, name + "_sum"));
    graph.output_names.push_back(name);
  };
  for (const FusedLayer& layer : layers) {
    const std::string name = "error_" + layer.output().node->name;
    const Integers data =
        nodes.Quantize(layer.data(), ranges.at(TensorId(layer.data())), false);
    // A sum is of floats here: the error is that of the layer alone.
    FusedLayer alone = layer;
    alone.add = alone.add_function = nullptr;
    const Value floats =
        HasFloatOutput(layer, wanted)
            ? nodes.FloatLayer(alone, data, name + "_layer")
            : nodes.Dequantize(nodes.Layer(alone, data, nullptr,
                                           ranges.at(TensorId(alone.output())),
                                           name + "_layer"),
                               name + "_floats");
    squares(nodes.Plain("elemwise_sub", {alone.output(), floats},
                        name + "_difference"),
            name);
    squares(alone.output(), name + "_output");
  }
}

}  // namespace mxc
