// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/nn/norm/moments.h"

namespace mxc {

Moments MomentsOf(
    int64_t count, DType type,
    const std::function<Expr(const std::function<Expr(Expr x)>& f)>& sum) {
  const Expr cells = Constant(static_cast<double>(count), type);
  Moments m;
  m.mean = sum([](Expr x) { return x; }) / cells;
  m.variance = sum([&](Expr x) {
                 const Expr distance = x - m.mean;
                 return distance * distance;
               }) /
               cells;
  return m;
}

Moments MomentsOver(const Definition& def, const Extents& axes,
                    const std::vector<Expr>& kept, DType type) {
  int64_t count = 1;
  for (const int64_t axis : axes) {
    count *= def.InShape(0)[static_cast<int>(axis)];
  }
  return MomentsOf(count, type, [&](const std::function<Expr(Expr)>& f) {
    return def.ReduceAxes(ReduceOp::kSum, 0, axes, kept,
                          [&](Expr x) { return f(Cast(x, type)); });
  });
}

Value NormalizedGradient(GraphBuilder& b, Value dy, Value normalized,
                         Value deviation, const Extents& axes) {
  double cells = 1;
  for (const int64_t axis : axes) {
    cells *= static_cast<double>(dy.shape()[static_cast<int>(axis)]);
  }
  const auto mean = [&](Value x) { return b.Div(b.Sum(x, axes, true), cells); };
  const Value along = b.Mul(normalized, mean(b.Mul(dy, normalized)));
  return b.Div(b.Sub(b.Sub(dy, mean(dy)), along), deviation);
}

std::vector<Value> NormGradients(GradientBuilder& g, Value dy,
                                 const NormalizedInput& x) {
  std::vector<Value> gradients = g.None();
  if (g.Needs(0)) {
    const Value scaled = g.Mul(dy, g.Reshape(g.In(1), x.parameter));
    gradients[0] = g.Reshape(
        NormalizedGradient(g, scaled, x.normalized, x.deviation, x.axes),
        g.In(0).shape());
  }
  const auto summed = [&](Value terms, int input) {
    return g.Reshape(g.SumTo(terms, x.parameter), g.In(input).shape());
  };
  if (g.Needs(1)) gradients[1] = summed(g.Mul(dy, x.normalized), 1);
  if (g.Needs(2)) gradients[2] = summed(dy, 2);
  return gradients;
}

}  // namespace mxc
