// SPDX-License-Identifier: Apache-2.0
// _contrib_allclose: 1 if |a − b| ≤ atol + rtol · |b| for every element, else
// 0. C1  a and b have one shape
#include "ir/ops/op.h"

namespace mxc {
namespace {

struct AllcloseAttrs {
  double rtol = 1e-5, atol = 1e-8;
  bool equal_nan = true;

  void Describe(Fields& f) {
    f("rtol", rtol).Doc("tolerance relative to b");
    f("atol", atol).Doc("absolute tolerance");
    f("equal_nan", equal_nan).Doc("NaN is close to NaN");
  }
};

void AllcloseTypes(const AllcloseAttrs&, TypeInference& t) {
  t.SetInDType(1, t.InDType(0));
  t.SetInDType(0, t.InDType(1));
  t.Require(!t.In(0).known() || !t.In(1).known() || t.In(0) == t.In(1),
            "C1: a has shape {} and b {}", ToString(t.In(0)),
            ToString(t.In(1)));
  t.SetOut(0, Shape{1});
  t.SetOutDType(0, DType::kF32);
}

Expr IsClose(const AllcloseAttrs& attrs, const Expr& a, const Expr& b) {
  const Expr tolerance = Lit(attrs.atol, b) + Lit(attrs.rtol, b) * Abs(b);
  const Expr close = a == b || Abs(a - b) <= tolerance;
  if (!attrs.equal_nan) return close;
  return close || (Unary(UnaryOp::kIsNan, a) && Unary(UnaryOp::kIsNan, b));
}

void AllcloseMeaning(const AllcloseAttrs& attrs, Definition& def) {
  const Extents& dims = def.InShape(0).dims();
  def.Set(0, Definition::MinOf({dims.begin(), dims.end()}, [&](const auto& r) {
            const Expr a = Cast(def.In(0, r), DType::kF64);
            const Expr b = Cast(def.In(1, r), DType::kF64);
            return Cast(IsClose(attrs, a, b), DType::kF32);
          }));
}

}  // namespace

MXC_OP(Allclose) {
  return Op<AllcloseAttrs>("_contrib_allclose")
      .Doc("whether two tensors agree within a tolerance")
      .Inputs({{"a", InputKind::kData}, {"b", InputKind::kData}})
      .Types(AllcloseTypes)
      .Meaning(AllcloseMeaning)
      .ZeroGradient();
}

}  // namespace mxc
