// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/random/draws.h"

#include <algorithm>

namespace mxc {
namespace {

Expr F32(double value) { return Constant(value); }

}  // namespace

Expr PositivePart(const Expr& bits) {
  return UnitInterval(bits) + F32(0x1p-24);
}

void ParameterTypes(const PhiloxAttrs& attrs, int first, int count,
                    std::string_view label, TypeInference& t) {
  for (int i = first; i < first + count; ++i) {
    t.SetInDType(i, DType::kF32);
    if (!t.In(i).known() || t.In(i) == Shape{1}) continue;
    const Extents& dims = t.In(i).dims();
    t.Require(dims.size() <= attrs.shape.size() &&
                  std::equal(dims.begin(), dims.end(), attrs.shape.begin()),
              "{}: parameters of shape {} for draws of shape {}", label,
              ToString(t.In(i)), ToString(attrs.shape));
  }
}

Expr ParameterOf(const Definition& def, int input) {
  const Shape& shape = def.InShape(input);
  if (shape == Shape{1}) return def.In(input, {0});
  const std::vector<Expr> index = def.Indices();
  return def.In(input, {index.begin(), index.begin() + shape.rank()});
}

GammaDraw::GammaDraw(const Expr& shape) {
  const Expr raised = Select(shape < F32(1), shape + F32(1), shape);
  d = raised - F32(1.0 / 3);
  c = F32(1) / Sqrt(F32(9) * d);
}

Expr GammaDraw::Cube(const Expr& x) const {
  const Expr root = F32(1) + c * x;
  return root * root * root;
}

PoissonDraw::PoissonDraw(const Expr& wanted)
    : mean(Max(wanted, F32(kPtrsMean))) {
  b = F32(0.931) + F32(2.53) * Sqrt(mean);
  a = F32(-0.059) + F32(0.02483) * b;
}

Expr PoissonDraw::Shifted(const PhiloxBlock& block) {
  return UnitInterval(block.first) - F32(0.5);
}

Expr PoissonDraw::Distance(const Expr& u) {
  return Max(F32(0.5) - Abs(u), F32(1e-7));
}

Expr PoissonDraw::Events(const Expr& u) const {
  return Unary(UnaryOp::kFloor,
               (F32(2) * a / Distance(u) + b) * u + mean + F32(0.43));
}

}  // namespace mxc
