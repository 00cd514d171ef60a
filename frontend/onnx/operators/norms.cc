// SPDX-License-Identifier: Apache-2.0
// Normalisations of newer networks, and what chooses the greatest element.
// Halves are normalised in float32.
#include "frontend/onnx/operators/norms.h"

#include <algorithm>

#include "frontend/onnx/operators/indices.h"

namespace mxc::onnx {
namespace {

Value MeanOver(Call& c, Value x, const Extents& axes) {
  return c.Op("_npi_mean", {x},
              {{"axis", TupleText(axes)}, {"keepdims", "True"}});
}

Extents AxesFrom(int first, int rank) {
  Extents axes;
  for (int axis = first; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

}  // namespace

Value InverseRootMeanSquare(Call& c, Value x, int first, double epsilon) {
  const Value mean =
      MeanOver(c, c.Square(x), AxesFrom(first, x.shape().rank()));
  return c.Op("rsqrt", {c.Add(mean, epsilon)});
}

Value NormalizedLayer(Call& c, Value x, Value gamma, Value beta,
                      double epsilon) {
  const int last = x.shape().rank() - 1;
  c.Require(last >= 0 && gamma.shape() == Shape{x.shape()[last]} &&
                (!beta || beta.shape() == gamma.shape()),
            "its scale has shape {} and its data {}", ToString(gamma.shape()),
            ToString(x.shape()));
  if (!beta) beta = c.Zeros(gamma.type());
  return c.Op(
      "LayerNorm", {x, gamma, beta},
      {{"axis", std::to_string(last)}, {"eps", fmt::format("{}", epsilon)}});
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
    y = c.Op("GroupNorm", {x, gamma, beta},
             {{"num_groups", std::to_string(groups)},
              {"eps", fmt::format("{}", epsilon)}});
  } else {
    const Value rows = c.Reshape(x, Shape{s[0], groups, s[1] / groups});
    const Value off = c.Sub(rows, MeanOver(c, rows, {2}));
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
  const Value none = c.Op("_npi_equal_scalar", {sum}, {{"scalar", "0"}});
  sum = c.Op("_npi_where", {none, c.ScalarLike(1, sum), sum});
  const Value y = p == 1 ? c.Div(x, sum) : c.Mul(x, c.Op("rsqrt", {sum}));
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
  const Value off = c.Sub(x, MeanOver(c, x, axes));
  const Value deviation = c.Sqrt(MeanOver(c, c.Square(off), axes));
  c.Give(0, c.Cast(c.Div(off, c.Add(deviation, 1e-9)), dtype));
}

namespace {

// 1 where the greatest element of an axis is, the first of equal ones.
Value Hardened(Call& c, Value x, int axis) {
  const Value at = c.Op("_npi_argmax", {x},
                        {{"axis", std::to_string(axis)}, {"keepdims", "True"}});
  const Value places = NumbersAlong(c, x.shape().rank(), axis, x.shape()[axis]);
  return c.Cast(c.Op("_npi_equal", {c.Cast(at, DType::kI64), places}),
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
  const Value gate = c.Op("sigmoid", {alpha == 1 ? x : c.Mul(x, alpha)});
  c.Give(0, c.Cast(c.Mul(c.Mul(x, gate), c.Cast(b, wide)), dtype));
}

}  // namespace mxc::onnx
