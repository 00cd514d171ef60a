// SPDX-License-Identifier: Apache-2.0
// Pooling_v1: Pooling as of 0.8, for images only.
//   data    f[N, C, H, W]
//   output  f[N, C, h, w]   sizes as in Pooling
// The image is padded with zeros first: a maximum at the border sees them, and
// an average always divides by the whole kernel. The maximum of a window beyond
// the padded image is −∞.
// The gradient: _pooling_v1_gradient.
// C1  kernel has 2 entries, positive, unless global_pool
// C2  stride and pad are empty or have 2 entries; stride is positive, pad is
//     not negative
// C3  data has 4 axes
// C4  kernel does not exceed the padded image
// Source: MXNet 1.9.1 operator/pooling_v1-inl.h.
#include "ir/ops/nn/pooling/pooling_v1.h"

#include <fmt/format.h>

#include "ir/ops/nn/pooling/pooling.h"
#include "ir/ops/nn/pooling/pooling_v1_gradient.h"

namespace mxc {

PoolingAxis RowOf(const PoolingV1Attrs& a, int d, int64_t extent) {
  if (a.global_pool) return {extent, 1, 0, 1};
  const int64_t stride = OrFill(a.stride, 2, 1)[d],
                pad = OrFill(a.pad, 2, 0)[d];
  const int64_t room = extent + 2 * pad - a.kernel[d];
  const bool full = a.pooling_convention == PoolV1Convention::kFull;
  return {a.kernel[d], stride, pad,
          room < 0 ? 0 : (room + (full ? stride - 1 : 0)) / stride + 1};
}

namespace {

std::optional<std::string> PoolingV1Check(const PoolingV1Attrs& a) {
  if (a.global_pool) return std::nullopt;
  if (auto error = CheckWindow(a.kernel, a.stride, {}, a.pad)) return error;
  if (a.kernel.size() == 2) return std::nullopt;
  return fmt::format("C1: kernel {} has {} entries, expected 2",
                     ToString(a.kernel), a.kernel.size());
}

void PoolingV1Types(const PoolingV1Attrs& a, TypeInference& t) {
  t.AllSameDType();
  const Shape& data = t.In(0);
  if (!data.known_rank()) return;
  if (!t.Require(data.rank() == 4, "C3: data has {} axes, expected 4",
                 data.rank())) {
    return;
  }
  Shape output = data;
  for (int d = 0; d < 2; ++d) {
    if (!data.known(2 + d)) continue;
    output[2 + d] = RowOf(a, d, data[2 + d]).windows;
    if (!t.Require(output[2 + d] > 0,
                   "C4: kernel {} exceeds the padded input {}",
                   ToString(a.kernel), ToString(data))) {
      return;
    }
  }
  t.SetOut(0, output);
}

void PoolingV1Meaning(const PoolingV1Attrs& a, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const Shape& data = def.InShape(0);
  const bool max = a.pool_type == PoolV1Type::kMax;
  std::vector<Expr> begin, end;
  int64_t area = 1;
  for (int d = 0; d < 2; ++d) {
    const PoolingAxis row = RowOf(a, d, data[2 + d]);
    // Positions in the padded image; zeros add nothing to a sum.
    const Expr start = i[2 + d] * row.stride;
    const int64_t padded = data[2 + d] + 2 * row.pad;
    begin.push_back(max ? start : Max(start, row.pad));
    end.push_back(Min(start + row.kernel, max ? padded : padded - row.pad));
    area *= row.kernel;
  }
  Expr value = Definition::ReduceOver(
      max ? ReduceOp::kMax : ReduceOp::kSum, begin, end,
      [&](const std::vector<Expr>& r) {
        std::vector<Expr> at = {i[0], i[1]};
        Expr inside;
        for (int d = 0; d < 2; ++d) {
          const int64_t pad = RowOf(a, d, data[2 + d]).pad;
          at.push_back(r[d] - pad);
          if (pad == 0) continue;
          const Expr in = at.back() >= 0 && at.back() < data[2 + d];
          inside = inside ? inside && in : in;
        }
        const Expr cell = def.In(0, at);
        if (!max || !inside) return cell;
        return Select(inside, cell, def.Lit(0));
      });
  if (a.pool_type == PoolV1Type::kAvg) {
    value = value / def.Lit(static_cast<double>(area));
  }
  def.Set(0, value);
}

std::vector<Value> PoolingV1Gradient(const PoolingV1Attrs& a,
                                     GradientBuilder& g) {
  std::vector<Value> inputs = {g.Head()};
  if (a.pool_type == PoolV1Type::kMax) {
    inputs.push_back(g.In(0));
    inputs.push_back(g.Out());
  }
  return {
      g.Op<op::PoolingV1Gradient>(inputs, {a, g.In(0).shape().dims()}, "data")};
}

}  // namespace

MXC_OP(PoolingV1) {
  return Op<PoolingV1Attrs>("Pooling_v1")
      .Doc("Pooling as of 0.8")
      .Check(PoolingV1Check)
      .Types(PoolingV1Types)
      .Meaning(PoolingV1Meaning)
      .Gradient(PoolingV1Gradient);
}

}  // namespace mxc
