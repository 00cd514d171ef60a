// SPDX-License-Identifier: Apache-2.0
// fold-batch-norm: at inference a BatchNorm after a layer with weights is a
// change of these weights.
//
//   conv(x, w, b) ─► BatchNorm(γ, β, μ, σ²)    ⇒    conv(x, w·s, (b − μ)·s + β)
//                                                   s = γ / √(σ² + ε)
//
// The layer is a Convolution, Deconvolution or FullyConnected. Needs constant
// weights and statistics and a layer without other readers. Never touches a
// BatchNorm that uses the statistics of the batch.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "passes/node_values.h"
#include "passes/passes.h"

namespace mxc {
namespace {

// All are BatchNorm at inference, with the same operands.
bool IsBatchNorm(const Node& node) {
  return node.Is("BatchNorm") || node.Is("BatchNorm_v1") ||
         node.Is("CuDNNBatchNorm") || node.Is("_contrib_SyncBatchNorm");
}

// True for constants of a type in which a product with a scale is as good as
// the two: not of halves.
bool IsScalable(Value value) {
  const DType dtype = value.type().dtype;
  return value.node->kind == Node::Kind::kConstant &&
         (dtype == DType::kF32 || dtype == DType::kF64);
}

double NumberOf(const Node& node, std::string_view name, double otherwise) {
  const auto text = AttrTextOf(node, name);
  if (!text) return otherwise;
  double value = otherwise;
  std::from_chars(text->data(), text->data() + text->size(), value);
  return value;
}

bool UsesMovingStatistics(const Graph& graph, const Node& norm) {
  return !graph.training || AttrIsTrue(norm, "use_global_stats");
}

// The axis of the layer's output that its bias runs over, or -1.
int ChannelAxis(const Node& layer) {
  if (layer.Is("FullyConnected")) return layer.types[0].shape.rank() - 1;
  if (!layer.Is("Convolution") && !layer.Is("Deconvolution")) return -1;
  const std::string layout = AttrTextOf(layer, "layout").value_or("None");
  const bool channels_last =
      layout.size() > 1 && layout[1] != 'C' && layout != "None";
  return channels_last ? -1 : 1;
}

bool NormalizesAxis(const Node& norm, int axis) {
  const int rank = norm.types[0].shape.rank();
  const int given = static_cast<int>(NumberOf(norm, "axis", 1));
  return (given < 0 ? given + rank : given) == axis;
}

// The layer whose weights can take `norm` in, or null.
Node* LayerInto(const Graph& graph, const Node& norm,
                const ReaderCounts& readers) {
  if (!IsBatchNorm(norm) || !UsesMovingStatistics(graph, norm)) {
    return nullptr;
  }
  const Value data = norm.inputs[0];
  Node* layer = data.node;
  if (layer->kind != Node::Kind::kOperator || data.index != 0) return nullptr;
  const int axis = ChannelAxis(*layer);
  if (axis < 0 || !NormalizesAxis(norm, axis)) return nullptr;
  for (size_t i = 1; i < norm.inputs.size(); ++i) {
    if (!IsScalable(norm.inputs[i])) return nullptr;
  }
  for (size_t i = 1; i < layer->inputs.size(); ++i) {
    if (!IsScalable(layer->inputs[i])) return nullptr;
  }
  if (readers.Of(data) != 1) return nullptr;
  for (int i = 1; i < static_cast<int>(norm.types.size()); ++i) {
    const Value statistic{const_cast<Node*>(&norm), i};
    if (readers.Of(statistic) != 0) return nullptr;
  }
  return layer;
}

struct ScaleAndShift {
  std::vector<double> scale, shift;  // y = x·scale + shift
};

ScaleAndShift Affine(const Node& norm) {
  const Tensor& gamma = norm.inputs[1].node->constant;
  const Tensor& beta = norm.inputs[2].node->constant;
  const Tensor& mean = norm.inputs[3].node->constant;
  const Tensor& variance = norm.inputs[4].node->constant;
  const bool fix_gamma = AttrIsTrue(norm, "fix_gamma");
  const double epsilon = NumberOf(norm, "eps", 1e-3);
  ScaleAndShift affine;
  for (int64_t c = 0; c < mean.shape().elements(); ++c) {
    const double scale =
        (fix_gamma ? 1.0 : gamma.At(c)) / std::sqrt(variance.At(c) + epsilon);
    affine.scale.push_back(scale);
    affine.shift.push_back(beta.At(c) - mean.At(c) * scale);
  }
  return affine;
}

// Convolution and FullyConnected: f[channels, …]. Deconvolution:
// f[in, channels / groups, …], where input c belongs to group c / (in /
// groups).
template <class T>
Tensor ScaledElements(const Node& layer, const std::vector<double>& scale) {
  const Tensor& weight = layer.inputs[1].node->constant;
  const Shape& shape = weight.shape();
  const bool transposed = layer.Is("Deconvolution");
  const auto channels = static_cast<int64_t>(scale.size());
  const int64_t rows = transposed ? shape[0] * shape[1] : shape[0];
  const int64_t row_elements = rows == 0 ? 0 : shape.elements() / rows;
  std::byte* bytes = nullptr;
  Tensor scaled = Tensor::Allocate(weight.type(), &bytes);
  auto* out = reinterpret_cast<T*>(bytes);
  const T* in = reinterpret_cast<const T*>(weight.bytes());
  for (int64_t row = 0; row < rows; ++row) {
    int64_t channel = row;
    if (transposed) {
      const int64_t per_group = shape[1];
      const int64_t groups = channels / per_group;
      const int64_t group = row / per_group / (shape[0] / groups);
      channel = group * per_group + row % per_group;
    }
    const double s = scale[channel];
    for (int64_t i = 0; i < row_elements; ++i, ++in, ++out) {
      *out = static_cast<T>(*in * s);
    }
  }
  return scaled;
}

Tensor ScaledWeight(const Node& layer, const std::vector<double>& scale) {
  return layer.inputs[1].type().dtype == DType::kF32
             ? ScaledElements<float>(layer, scale)
             : ScaledElements<double>(layer, scale);
}

Tensor FoldedBias(const Node& layer, const ScaleAndShift& affine) {
  const DType dtype = layer.inputs[1].type().dtype;
  const auto channels = static_cast<int64_t>(affine.scale.size());
  std::byte* to = nullptr;
  Tensor bias = Tensor::Allocate({dtype, {channels}}, &to);
  for (size_t c = 0; c < affine.scale.size(); ++c) {
    double b = 0;
    if (layer.inputs.size() > 2) {
      b = layer.inputs[2].node->constant.At(static_cast<int64_t>(c));
    }
    StoreElement(to + static_cast<int64_t>(c) * SizeOf(dtype), dtype,
                 b * affine.scale[c] + affine.shift[c]);
  }
  return bias;
}

AttrsPtr WithBias(const Node& layer) {
  std::vector<AttrText> attrs = layer.op->print(layer.attrs.get());
  for (auto& [name, text] : attrs) {
    if (name == "no_bias") text = "False";
  }
  std::vector<AttrError> errors;
  AttrsPtr parsed = layer.op->parse(attrs, errors);
  MXC_CHECK(errors.empty(), "attributes of '{}'", layer.name);
  return parsed;
}

Value Fold(Graph& graph, Node& layer, Node& norm) {
  const ScaleAndShift affine = Affine(norm);
  const std::string weight_name = layer.inputs[1].node->name + ".folded";
  const std::string bias_name = layer.name + ".bias";
  Node* weight =
      graph.AddConstant(weight_name, ScaledWeight(layer, affine.scale));
  Node* bias = graph.AddConstant(bias_name, FoldedBias(layer, affine));
  Node* folded =
      graph.AddOperator(layer.op, layer.name, WithBias(layer),
                        {layer.inputs[0], weight->out(), bias->out()});
  folded->types = layer.types;
  folded->loc = layer.loc;
  folded->attr_locs = layer.attr_locs;
  folded->written = layer.written;
  folded->origins = OriginsOf(layer);
  for (const std::string& origin : OriginsOf(norm)) {
    folded->origins.push_back(origin);
  }
  return folded->out();
}

}  // namespace

Result<bool> FoldBatchNorm(Graph& graph, PassContext&) {
  const bool any = std::ranges::any_of(
      graph.nodes(), [](const auto& node) { return IsBatchNorm(*node); });
  if (!any) return false;
  ReaderCounts readers(graph);
  Replacements replaced;
  for (Node* norm : graph.TopologicalOrder()) {
    replaced.ApplyTo(*norm);
    if (norm->kind != Node::Kind::kOperator) continue;
    Node* layer = LayerInto(graph, *norm, readers);
    if (layer == nullptr) continue;
    const Value folded = Fold(graph, *layer, *norm);
    readers.PassOn(norm->out(), folded);
    replaced.Add(norm->out(), folded);
  }
  if (replaced.empty()) return false;
  graph.ReplaceUses(replaced);
  graph.RemoveDeadNodes();
  return true;
}

}  // namespace mxc
