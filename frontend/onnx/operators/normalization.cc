// SPDX-License-Identifier: Apache-2.0
#include "frontend/onnx/operators/normalization.h"

#include <algorithm>

#include "frontend/onnx/operators/indices.h"
#include "ir/ops/nn/activation/dropout.h"
#include "ir/ops/nn/norm/batch_norm.h"
#include "ir/ops/nn/norm/group_norm.h"
#include "ir/ops/nn/norm/instance_norm.h"
#include "ir/ops/nn/norm/layer_norm.h"
#include "ir/ops/nn/norm/lrn.h"
#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/reduction/extremum.h"

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

// (x − mean) / √(var + ε)
Value Normalized(Call& c, Value x, Value mean, Value variance, double epsilon) {
  const Value scale = c.Op<op::Rsqrt>({c.Add(variance, epsilon)});
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
  const Value mean = c.Mean(x, axes);
  const Value variance = c.Mean(c.Square(c.Sub(x, mean)), axes);
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
    BatchNormAttrs attrs;
    attrs.eps = epsilon;
    attrs.momentum = momentum;
    attrs.fix_gamma = false;
    return c.Give(
        0, c.Op<op::BatchNorm>({x, c.In(1), c.In(2), mean, variance}, attrs));
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
  c.Give(0, c.Op<op::InstanceNorm>({c.In(0), c.In(1), c.In(2)},
                                   {.eps = c.Float("epsilon", 1e-5)}));
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
    return c.Give(0,
                  c.Cast(c.Op<op::LayerNorm>({x, gamma, beta},
                                             {.axis = first, .eps = epsilon}),
                         dtype));
  }
  const Extents axes = AxesFrom(first, rank);
  const Value mean = c.Mean(x, axes);
  const Value variance = c.Mean(c.Square(c.Sub(x, mean)), axes);
  const Value scale = c.Op<op::Rsqrt>({c.Add(variance, epsilon)});
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
    return c.Give(
        0,
        c.Op<op::LRN>(
            {x}, {.alpha = alpha, .beta = beta, .knorm = bias, .nsize = size}));
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
  c.Give(0, c.Mul(x, c.Op<op::PowerScalar>({base}, {.scalar = -beta})));
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
    c.Give(1,
           c.Ones({c.opset() < 10 ? x.type().dtype : DType::kBool, x.shape()}));
  }
  if (ratio == 0) return c.Give(0, c.operand(0));
  c.Give(0,
         c.Op<op::Dropout>({x}, {.p = ratio, .mode = DropoutMode::kTraining}));
}

// --- newer ones: halves are normalized in float32

Value InverseRootMeanSquare(Call& c, Value x, int first, double epsilon) {
  const Value mean = c.Mean(c.Square(x), AxesFrom(first, x.shape().rank()));
  return c.Op<op::Rsqrt>({c.Add(mean, epsilon)});
}

Value NormalizedLayer(Call& c, Value x, Value gamma, Value beta,
                      double epsilon) {
  const int last = x.shape().rank() - 1;
  c.Require(last >= 0 && gamma.shape() == Shape{x.shape()[last]} &&
                (!beta || beta.shape() == gamma.shape()),
            "its scale has shape {} and its data {}", ToString(gamma.shape()),
            ToString(x.shape()));
  if (!beta) beta = c.Zeros(gamma.type());
  return c.Op<op::LayerNorm>({x, gamma, beta}, {.axis = last, .eps = epsilon});
}

void ImportRMSNormalization(Call& c) {
  const int64_t stash = c.Int("stash_type", 1);
  const Value given = c.In(0), scale = c.In(1);
  DType wide = AccumulateType(given.type().dtype);
  if (stash == 11) wide = DType::kF64;
  const int first = c.Axis(c.Int("axis", -1), given.shape().rank());
  const Value x = c.Cast(given, wide);
  const Value normal =
      c.Mul(x, InverseRootMeanSquare(c, x, first, c.Float("epsilon", 1e-5)));
  const DType dtype = scale.type().dtype;
  const DType product = AccumulateType(dtype);
  const Value y = c.Mul(c.Cast(normal, product), c.Cast(scale, product));
  c.Require(y.shape() == x.shape(), "its scale has shape {}, its data {}",
            ToString(scale.shape()), ToString(x.shape()));
  c.Give(0, c.Cast(y, dtype));
}

namespace {

// [N, C, …] in groups of channels, each with mean 0 and variance 1; scaled and
// shifted by `per` entries: one a group or one a channel.
void NormalizeGroups(Call& c, bool per_group) {
  const int64_t groups = c.Int("num_groups");
  const double epsilon = c.Float("epsilon", 1e-5);
  const Value given = c.In(0);
  const Shape s = given.shape();
  const DType dtype = given.type().dtype, wide = AccumulateType(dtype);
  c.Require(s.rank() >= 2 && groups > 0 && s[1] % groups == 0,
            "num_groups is {}, its data have the shape {}", groups,
            ToString(s));
  const int64_t entries = per_group ? groups : s[1];
  c.Require(c.ShapeOf(1) == Shape{entries} && c.ShapeOf(2) == Shape{entries},
            "its scale has shape {}, expected {} entries",
            ToString(c.ShapeOf(1)), entries);
  const Value x = c.Cast(given, wide);
  const Value gamma = c.Cast(c.In(1), wide), beta = c.Cast(c.In(2), wide);
  Value y;
  if (s.rank() > 2) {
    y = c.Op<op::GroupNorm>({x, gamma, beta},
                            {.num_groups = groups, .eps = epsilon});
  } else {
    const Value rows = c.Reshape(x, Shape{s[0], groups, s[1] / groups});
    const Value off = c.Sub(rows, c.Mean(rows, {2}));
    const Value scale = InverseRootMeanSquare(c, off, 2, epsilon);
    const auto along = [&](Value v) {
      return c.Reshape(v, Shape{groups, entries / groups});
    };
    y = c.Add(c.Mul(c.Mul(off, scale), along(gamma)), along(beta));
  }
  c.Give(0, c.Cast(c.Reshape(y, s), dtype));
}

}  // namespace

void ImportGroupNormalizationByGroup(Call& c) { NormalizeGroups(c, true); }
void ImportGroupNormalization(Call& c) {
  c.Ignore("stash_type");
  NormalizeGroups(c, false);
}

// Zeros stay zeros.
void ImportLpNormalization(Call& c) {
  const int64_t p = c.Int("p", 2);
  c.Require(p == 1 || p == 2, "p is {}, expected 1 or 2", p);
  const Value given = c.In(0);
  const DType dtype = given.type().dtype, wide = AccumulateType(dtype);
  const Value x = c.Cast(given, wide);
  const int axis = c.Axis(c.Int("axis", -1), x.shape().rank());
  const Value terms = p == 1 ? c.Abs(x) : c.Square(x);
  Value sum = c.Sum(terms, {axis}, /*keepdims=*/true);
  const Value none = c.Op<op::NpiEqualScalar>({sum}, {.scalar = 0});
  sum = c.Op<op::NpiWhere>({none, c.ScalarLike(1, sum), sum});
  const Value y = p == 1 ? c.Div(x, sum) : c.Mul(x, c.Op<op::Rsqrt>({sum}));
  c.Give(0, c.Cast(y, dtype));
}

// (x − mean) / (σ + 1e-9), as the standard's function body has it.
void ImportMeanVarianceNormalization(Call& c) {
  const Value given = c.In(0);
  const DType dtype = given.type().dtype, wide = AccumulateType(dtype);
  const Value x = c.Cast(given, wide);
  const Extents axes =
      c.Axes(c.Ints("axes").value_or(Extents{0, 2, 3}), x.shape().rank());
  if (axes.empty()) c.Refuse("its axes are an empty list");
  const Value off = c.Sub(x, c.Mean(x, axes));
  const Value deviation = c.Sqrt(c.Mean(c.Square(off), axes));
  c.Give(0, c.Cast(c.Div(off, c.Add(deviation, 1e-9)), dtype));
}

namespace {

// 1 where the greatest element of an axis is, the first of equal ones.
Value Hardened(Call& c, Value x, int axis) {
  const Value at = c.Op<op::NpiArgmax>({x}, {.axis = axis, .keepdims = true});
  const Value places = NumbersAlong(c, x.shape().rank(), axis, x.shape()[axis]);
  return c.Cast(c.Op<op::NpiEqual>({c.Cast(at, DType::kI64), places}),
                x.type().dtype);
}

}  // namespace

void ImportHardmax(Call& c) {
  const Value x = c.In(0);
  c.Give(0, Hardened(c, x, c.Axis(c.Int("axis", -1), x.shape().rank())));
}

// Below version 13 all axes from `axis` on count as one.
void ImportHardmaxOfRows(Call& c) {
  const Value x = c.In(0);
  const int rank = x.shape().rank();
  const int64_t axis = c.Int("axis", 1);
  c.Require(axis >= -rank && axis <= rank, "axis {} does not exist", axis);
  const int64_t first = axis < 0 ? axis + rank : axis;
  int64_t rows = 1;
  for (int i = 0; i < first; ++i) rows *= x.shape()[i];
  const Value flat = c.Reshape(x, Shape{rows, x.shape().elements() / rows});
  c.Give(0, c.Reshape(Hardened(c, flat, 1), x.shape()));
}

// Swish(a) · b
void ImportSwiGLU(Call& c) {
  const double alpha = c.Float("alpha", 1);
  const Value a = c.In(0), b = c.In(1);
  c.Require(a.shape() == b.shape(), "its operands have the shapes {} and {}",
            ToString(a.shape()), ToString(b.shape()));
  const DType dtype = a.type().dtype, wide = AccumulateType(dtype);
  const Value x = c.Cast(a, wide);
  const Value gate = c.Op<op::Sigmoid>({alpha == 1 ? x : c.Mul(x, alpha)});
  c.Give(0, c.Cast(c.Mul(c.Mul(x, gate), c.Cast(b, wide)), dtype));
}

}  // namespace mxc::onnx
