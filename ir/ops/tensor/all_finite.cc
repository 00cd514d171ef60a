// SPDX-License-Identifier: Apache-2.0
// all_finite: 1 if data hold neither an infinity nor NaN, else 0.
#include "ir/ops/op.h"

namespace mxc {
namespace {

struct AllFiniteAttrs {
  bool init_output = true;

  void Describe(Fields& f) {
    f("init_output", init_output).Doc("the output starts from 1").Hint();
  }
};

void AllFiniteMeaning(const AllFiniteAttrs&, Definition& def) {
  const Extents& dims = def.InShape(0).dims();
  const std::vector<Expr> extents(dims.begin(), dims.end());
  def.Set(0, Definition::MinOf(extents, [&](const std::vector<Expr>& r) {
            const Expr x = Cast(def.In(0, r), DType::kF32);
            return Select(x - x == Lit(0, x), Lit(1, x), Lit(0, x));
          }));
}

}  // namespace

MXC_OP(AllFinite) {
  return Op<AllFiniteAttrs>("all_finite")
      .Doc("whether all elements are finite")
      .Types([](const AllFiniteAttrs&, TypeInference& t) {
        t.SetOutDType(0, DType::kF32);
        t.SetOut(0, Shape{1});
      })
      .Meaning(AllFiniteMeaning)
      .ZeroGradient();
}

}  // namespace mxc
