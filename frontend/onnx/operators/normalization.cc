// SPDX-License-Identifier: Apache-2.0
// Normalisations, and dropout.
#include <algorithm>

#include "frontend/onnx/call.h"

namespace mxc::onnx {
namespace {

// A vector over the channels, beside [N, C, …].
Value OverChannels(Call& c, Value vector, int rank) {
  Extents dims(rank, 1);
  c.Require(rank >= 2 && vector.shape().rank() == 1,
            "{} is no vector over channels", ToString(vector.shape()));
  dims[1] = vector.shape()[0];
  return c.Reshape(vector, dims);
}

Value Mean(Call& c, Value x, const Extents& axes) {
  return c.Op("_npi_mean", {x},
              {{"axis", TupleText(axes)}, {"keepdims", "True"}});
}

// (x − mean) / √(var + ε)
Value Normalized(Call& c, Value x, Value mean, Value variance, double epsilon) {
  const Value scale = c.Op("rsqrt", {c.Add(variance, epsilon)});
  return c.Mul(c.Sub(x, mean), scale);
}

bool IsParameter(const Value& value) {
  return value.node->kind == Node::Kind::kVariable &&
         value.node->role != VariableRole::kInput;
}

// With the statistics of the batch, and the running ones after it; in float32
// where the data are narrower.
void TrainBatchNorm(Call& c, double epsilon, double momentum) {
  const DType dtype = c.DTypeOf(0), wide = AccumulateType(dtype);
  const Value x = c.Cast(c.In(0), wide);
  const int rank = x.shape().rank();
  Extents axes;
  for (int axis = 0; axis < rank; ++axis) {
    if (axis != 1) axes.push_back(axis);
  }
  const Value mean = Mean(c, x, axes);
  const Value variance = Mean(c, c.Square(c.Sub(x, mean)), axes);
  const auto beside = [&](int input) {
    return OverChannels(c, c.Cast(c.In(input), wide), rank);
  };
  const Value gamma = beside(1), beta = beside(2);
  const Value y = Normalized(c, x, mean, variance, epsilon);
  c.Give(0, c.Cast(c.Add(c.Mul(y, gamma), beta), dtype));
  const Shape channels{x.shape()[1]};
  const auto running = [&](int input, Value now) {
    const Value before = c.Cast(c.In(input), wide);
    const Value after = c.Add(c.Mul(before, momentum),
                              c.Mul(c.Reshape(now, channels), 1 - momentum));
    return c.Cast(after, c.DTypeOf(input));
  };
  if (c.Wants(1)) c.Give(1, running(3, mean));
  if (c.Wants(2)) c.Give(2, running(4, variance));
}

}  // namespace

void ImportBatchNormalization(Call& c) {
  c.Require(c.Flag("spatial", true),
            "attribute 'spatial' is 0, which is not "
            "supported");
  const double epsilon = c.Float("epsilon", 1e-5);
  const double momentum = c.Float("momentum", 0.9);
  if (c.Flag("training_mode")) return TrainBatchNorm(c, epsilon, momentum);
  c.Require(!c.Wants(1), "its output 1 is of training alone");
  const Value x = c.In(0), mean = c.In(3), variance = c.In(4);
  const int rank = x.shape().rank();
  const DType dtype = x.type().dtype;
  if (rank >= 2 && IsParameter(mean) && IsParameter(variance) &&
      mean.type().dtype == dtype && c.DTypeOf(1) == dtype) {
    return c.Give(0, c.Op("BatchNorm", {x, c.In(1), c.In(2), mean, variance},
                          {{"eps", NumberText(epsilon)},
                           {"momentum", NumberText(momentum)},
                           {"fix_gamma", "False"}}));
  }
  const DType wide = AccumulateType(dtype);
  const auto beside = [&](Value vector) {
    return c.Cast(OverChannels(c, vector, rank), wide);
  };
  const Value y =
      Normalized(c, c.Cast(x, wide), beside(mean), beside(variance), epsilon);
  c.Give(0, c.Cast(c.Add(c.Mul(y, beside(c.In(1))), beside(c.In(2))), dtype));
}

void ImportInstanceNormalization(Call& c) {
  c.Ignore("consumed_inputs");
  c.Give(0, c.Op("InstanceNorm", {c.In(0), c.In(1), c.In(2)},
                 {{"eps", NumberText(c.Float("epsilon", 1e-5))}}));
}

// Along all axes from `axis` on, in float32 where the data are narrower.
void ImportLayerNormalization(Call& c) {
  c.Ignore("stash_type");
  const Value given = c.In(0);
  const DType dtype = given.type().dtype;
  const DType wide = AccumulateType(dtype);
  const Value x = c.Cast(given, wide);
  const int rank = x.shape().rank();
  const int first = c.Axis(c.Int("axis", -1), rank);
  const double epsilon = c.Float("epsilon", 1e-5);
  const Value gamma = c.Cast(c.In(1), wide);
  const bool one =
      first == rank - 1 && gamma.shape() == Shape{x.shape()[first]};
  if (one && !c.Wants(1) && !c.Wants(2) &&
      (!c.Has(2) || c.ShapeOf(2) == gamma.shape())) {
    const Value beta = c.Has(2) ? c.Cast(c.In(2), wide) : c.Zeros(gamma.type());
    return c.Give(0, c.Cast(c.Op("LayerNorm", {x, gamma, beta},
                                 {{"axis", std::to_string(first)},
                                  {"eps", NumberText(epsilon)}}),
                            dtype));
  }
  Extents axes;
  for (int axis = first; axis < rank; ++axis) axes.push_back(axis);
  const Value mean = Mean(c, x, axes);
  const Value variance = Mean(c, c.Square(c.Sub(x, mean)), axes);
  const Value scale = c.Op("rsqrt", {c.Add(variance, epsilon)});
  Value y = c.Mul(c.Mul(c.Sub(x, mean), scale), gamma);
  if (c.Has(2)) y = c.Add(y, c.Cast(c.In(2), wide));
  c.Require(y.shape() == x.shape(), "its scale has shape {}, its data {}",
            ToString(gamma.shape()), ToString(x.shape()));
  c.Give(0, c.Cast(y, dtype));
  if (c.Wants(1)) c.Give(1, mean);
  if (c.Wants(2)) c.Give(2, scale);
}

// x / (bias + alpha / size · Σ x²)^beta over `size` channels around.
void ImportLRN(Call& c) {
  const int64_t size = c.Int("size");
  const double alpha = c.Float("alpha", 1e-4), beta = c.Float("beta", 0.75),
               bias = c.Float("bias", 1);
  c.Require(size > 0, "size is {}", size);
  const Value x = c.In(0);
  c.Require(x.shape().rank() >= 2, "its data have the shape {}",
            ToString(x.shape()));
  if (size % 2 == 1 && x.shape().rank() == 4) {
    return c.Give(0, c.Op("LRN", {x},
                          {{"nsize", std::to_string(size)},
                           {"alpha", NumberText(alpha)},
                           {"beta", NumberText(beta)},
                           {"knorm", NumberText(bias)}}));
  }
  // Channels before: (size − 1) / 2; behind: one more where size is even.
  const Shape& s = x.shape();
  const int64_t channels = s[1], before = (size - 1) / 2;
  c.Require(size <= 2 * channels + 1, "size {} exceeds twice the channels",
            size);
  const Value squares = c.Square(x);
  Value sum;
  for (int64_t shift = -before; shift <= size - 1 - before; ++shift) {
    const int64_t first = std::max<int64_t>(0, shift);
    const int64_t last = std::min(channels, channels + shift);
    if (first >= last) continue;
    Extents dims = s.dims();
    std::vector<Value> parts;
    const auto zeros = [&](int64_t count) {
      if (count <= 0) return;
      dims[1] = count;
      parts.push_back(c.Zeros({x.type().dtype, Shape(dims)}));
    };
    zeros(-shift);
    parts.push_back(c.SliceAxis(squares, 1, first, last));
    zeros(shift);
    const Value moved = c.Concat(parts, 1);
    sum = sum ? c.Add(sum, moved) : moved;
  }
  const Value base = c.Add(c.Mul(sum, alpha / static_cast<double>(size)), bias);
  c.Give(0, c.Mul(x, c.Op("_power_scalar", {base},
                          {{"scalar", NumberText(-beta)}})));
}

// Without effect unless the network is trained. A node that is to drop at every
// run, as exporters of networks in training write it, needs a loss.
void ImportDropout(Call& c) {
  c.Ignore("seed");
  c.Ignore("is_test");
  double ratio = c.Float("ratio", 0.5);
  if (c.Has(1)) ratio = c.NeedFloat(1, "ratio");
  const bool always = c.Has(2) && c.NeedInt(2, "training_mode") != 0;
  c.Require(ratio >= 0 && ratio < 1, "ratio is {}", ratio);
  c.Require(!always || ratio == 0 || c.learns(),
            "training_mode is true, so that each run would drop others; with "
            "--loss it drops while the network is trained");
  const Value x = c.In(0);
  if (c.Wants(1)) {
    c.Give(1, c.Op("_ones", {},
                   {{"shape", TupleText(x.shape().dims())},
                    {"dtype", c.opset() < 10
                                  ? std::string(MxnetName(x.type().dtype))
                                  : "bool"}}));
  }
  if (ratio == 0) return c.Give(0, c.operand(0));
  c.Give(0, c.Op("Dropout", {x},
                 {{"p", NumberText(ratio)}, {"mode", "training"}}));
}

}  // namespace mxc::onnx
