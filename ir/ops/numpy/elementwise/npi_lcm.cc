// SPDX-License-Identifier: Apache-2.0
// _npi_lcm: the least common multiple of integers, with broadcasting; 0 if
// either is 0, else positive.
// C1: see binary.h
#include "ir/ops/tensor/elementwise/binary.h"
#include "ir/program/procedure_builder.h"

namespace mxc {
namespace {

// Euclid's algorithm takes the most on consecutive Fibonacci numbers of 64
// bits.
constexpr int64_t kMostDivisions = 92;

Expr LcmOperand(const ProcedureBuilder& p, int input,
                const std::vector<Expr>& index) {
  const Shape shape = p.InShape(input);
  const size_t rank = static_cast<size_t>(shape.rank());
  std::vector<Expr> own(index.end() - shape.rank(), index.end());
  for (size_t axis = 0; axis < rank; ++axis) {
    if (shape[static_cast<int>(axis)] == 1) own[axis] = 0;
  }
  return Abs(Cast(p.In(input).At(own), DType::kI64));
}

void LcmProcedure(const NoAttrs&, ProcedureBuilder& p) {
  const Shape shape = p.OutShape();  // locals may move what p holds
  const int64_t columns = shape.rank() == 0 ? 1 : shape[shape.rank() - 1];
  const Expr row = p.Tasks(shape.elements() / columns);
  const Expr a = p.Scalar(DType::kI64), b = p.Scalar(DType::kI64);
  p.For(0, columns, [&](const Expr& column) {
    const std::vector<Expr> index =
        Definition::Unflatten(row * Expr(columns) + column, shape);
    const Expr left = p.Let(LcmOperand(p, 0, index));
    const Expr right = p.Let(LcmOperand(p, 1, index));
    p.Set(a, left);
    p.Set(b, right);
    p.For(0, kMostDivisions, [&](const Expr&) {
      p.If(b == Expr(0), [&] { p.Break(); });
      const Expr rest = p.Let(a % b);
      p.Set(a, b);
      p.Set(b, rest);
    });
    // a is the greatest common divisor, 0 of two zeros.
    p.Set(p.Out().At(index), Select(a == Expr(0), Expr(0), left / a * right));
  });
}

}  // namespace

MXC_OP(NpiLcm) {
  return Op<>("_npi_lcm")
      .Doc("the least common multiple of integers, with broadcasting")
      .Inputs({{"lhs"}, {"rhs"}})
      .Types([](const NoAttrs&, TypeInference& t) { BroadcastTypes(t); })
      .IntegersOnly()
      .Procedure(LcmProcedure)
      .ZeroGradient();
}

}  // namespace mxc
