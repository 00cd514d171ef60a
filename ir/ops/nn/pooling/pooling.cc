// SPDX-License-Identifier: Apache-2.0
// Pooling: reduces a window that slides over the spatial dimensions.
//   data    f[N, C, d1 … dk]    k = 1, 2, 3; channels last if `layout` says so
//   output  f[N, C, o1 … ok]    o = ⌊(d + 2·pad − kernel) / stride⌋ + 1 (valid)
//                                   ⌈(d + 2·pad − kernel) / stride⌉ + 1 (full)
// global_pool takes the whole image as the only window and ignores the rest.
// A window is clipped to the image. An average divides by the cells of the
// window that lie in the padded image, or, without count_include_pad, in the
// image; lp is (Σ x^p)^(1/p), without absolute values.
// C1  kernel has 1 to 3 entries, all positive, unless global_pool
// C2  stride and pad are empty or at least as long as kernel, and count as far
//     as that is; stride is positive, pad is not negative
// C3  layout and data have as many spatial axes as kernel
// C4  kernel does not exceed the padded image
// C5  lp has p_value 1, 2 or 3
// C6  pooling_convention is valid or full (MXNet refuses every 'same')
// The gradient: _pooling_gradient. Max passes it to the first cell of a window
// that holds the maximum, which _pooling_argmax finds.
// Source: MXNet 1.9.1 operator/nn/pooling.cc, pool.h.
#include "ir/ops/nn/pooling/pooling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cfloat>

#include "ir/ops/nn/pooling/pooling_gradient.h"

namespace mxc {
namespace {

Extents FirstOf(const Extents& entries, size_t count) {
  return {entries.begin(), entries.begin() + static_cast<int64_t>(std::min(
                                                 count, entries.size()))};
}

std::optional<std::string> PoolingCheck(const PoolingAttrs& a) {
  if (!a.global_pool || !a.kernel.empty()) {
    const Extents kernel =
        a.global_pool ? Extents(a.kernel.size(), 1) : a.kernel;
    const size_t used = a.global_pool ? 0 : kernel.size();
    const Extents stride = FirstOf(a.stride, used);
    const Extents pad = FirstOf(a.pad, used);
    if (auto error = CheckWindow(kernel, stride, {}, pad)) return error;
    if (!LayoutFits(a.layout, static_cast<int>(kernel.size()))) {
      return fmt::format("C3: layout {} does not fit kernel {}", a.layout,
                         ToString(a.kernel));
    }
  }
  if (a.pool_type == PoolType::kLp &&
      (!a.p_value || *a.p_value < 1 || *a.p_value > 3)) {
    return fmt::format("C5: pool_type lp needs p_value 1, 2 or 3");
  }
  if (a.pooling_convention == PoolingConvention::kSame && !a.global_pool) {
    return fmt::format(
        "C6: pooling_convention is same, expected valid or full");
  }
  return std::nullopt;
}

void PoolingTypes(const PoolingAttrs& a, TypeInference& t) {
  t.AllSameDType();
  const Shape& data = t.In(0);
  if (!data.known_rank()) return;
  const int rank = data.rank() - 2;
  if (!t.Require(
          rank >= 1 && rank <= 3 && LayoutFits(a.layout, rank) &&
              (a.kernel.empty() || rank == static_cast<int>(a.kernel.size())),
          "C3: data has {} axes, expected {}", data.rank(),
          a.kernel.empty() ? "3 to 5 as layout says"
                           : std::to_string(a.kernel.size() + 2))) {
    return;
  }
  const SpatialAxes axes = a.axes(data.rank());
  Shape output = Shape::OfRank(data.rank());
  output[0] = data[0];
  output[axes.channel()] = data[axes.channel()];
  const Extents pad = OrFill(a.pad, rank, 0);
  for (int d = 0; d < rank; ++d) {
    const int axis = axes.spatial(d);
    if (a.global_pool) {
      output[axis] = 1;
    } else if (data.known(axis)) {
      const int64_t padded = data[axis] + 2 * pad[d];
      if (!t.Require(a.kernel[d] <= padded,
                     "C4: kernel {} exceeds the padded input: {} > {}",
                     ToString(a.kernel), a.kernel[d], padded)) {
        return;
      }
      output[axis] = PoolingExtent(a, d, data[axis]);
    }
  }
  t.SetOut(0, output);
}

Expr ToThe(Expr x, int64_t power) {
  return power == 1 ? x : power == 2 ? x * x : x * x * x;
}

Expr Root(Expr x, int64_t power) {
  return power == 1 ? x : power == 2 ? Sqrt(x) : Unary(UnaryOp::kCbrt, x);
}

void PoolingMeaning(const PoolingAttrs& a, Definition& def) {
  const SpatialAxes axes = a.axes(def.InShape(0).rank());
  const std::vector<Expr> i = def.Indices();
  const PoolingWindow window = WindowOf(a, def.InShape(0), def.OutShape(), i);
  const int64_t power = a.pool_type == PoolType::kLp ? *a.p_value : 1;
  const bool max = a.pool_type == PoolType::kMax;
  Expr value = Definition::ReduceOver(
      max ? ReduceOp::kMax : ReduceOp::kSum, window.begin, window.end,
      [&](const std::vector<Expr>& at) {
        return ToThe(def.In(0, axes.Index(i[0], i[axes.channel()], at)), power);
      });
  switch (a.pool_type) {
    case PoolType::kMax:
      // The reduction of nothing is −∞, MXNet's is the lowest float.
      if (window.may_be_empty) value = Max(value, def.Lit(-FLT_MAX));
      break;
    case PoolType::kAvg:
      // Nothing is counted as one cell, so that it is 0 rather than NaN.
      value = value /
              Cast(window.may_be_empty ? Max(window.cells, 1) : window.cells,
                   def.OutDType());
      break;
    case PoolType::kSum:
      break;
    case PoolType::kLp:
      value = Root(value, power);
      break;
  }
  def.Set(0, value);
}

std::vector<Value> PoolingGradient(const PoolingAttrs& a, GradientBuilder& g) {
  std::vector<Value> inputs = {g.Head()};
  if (a.pool_type == PoolType::kMax) {
    inputs.push_back(g.Op<op::PoolingArgmax>({g.In(0)}, a, "argmax"));
  } else if (a.pool_type == PoolType::kLp) {
    inputs.push_back(g.In(0));
    inputs.push_back(g.Out());
  }
  return {
      g.Op<op::PoolingGradient>(inputs, {a, g.In(0).shape().dims()}, "data")};
}

}  // namespace

MXC_OP(Pooling) {
  return Op<PoolingAttrs>("Pooling")
      .Doc("reduces a window that slides over the spatial dimensions")
      .Alias({"_npx_pooling"})
      .Check(PoolingCheck)
      .Types(PoolingTypes)
      .Meaning(PoolingMeaning)
      .Gradient(PoolingGradient);
}

}  // namespace mxc
