// SPDX-License-Identifier: Apache-2.0
// all_finite: 1 if data hold neither an infinity nor NaN, else 0.
#include "ir/ops/tensor/reduction/all_finite.h"
#include "ir/program/finite.h"

namespace mxc {
namespace {

struct AllFiniteAttrs {
  bool init_output = true;

  void Describe(Fields& f) {
    f("init_output", init_output).Doc("the output starts from 1").Hint();
  }
};

}  // namespace

Expr FiniteInput(const Definition& def, int input) {
  const Extents& dims = def.InShape(input).dims();
  const std::vector<Expr> extents(dims.begin(), dims.end());
  return Definition::MinOf(extents, [&](const std::vector<Expr>& r) {
    const Expr x = Cast(def.In(input, r), DType::kF32);
    return Select(IsFinite(x), Lit(1, x), Lit(0, x));
  });
}

void FiniteTypes(TypeInference& t) {
  t.SetOutDType(0, DType::kF32);
  t.SetOut(0, Shape{1});
}

MXC_OP(AllFinite) {
  return Op<AllFiniteAttrs>("all_finite")
      .Doc("whether all elements are finite")
      .Types([](const auto&, TypeInference& t) { FiniteTypes(t); })
      .Meaning(
          [](const auto&, Definition& def) { def.Set(0, FiniteInput(def, 0)); })
      .ZeroGradient();
}

}  // namespace mxc
