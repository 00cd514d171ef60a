// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/elementwise/unary.h"

namespace mxc {

DType FloatTypeOf(DType dtype) {
  return dtype == DType::kF64 ? DType::kF64 : DType::kF32;
}

Expr InFloat(const Expr& x, const UnaryFunction& f) {
  return Cast(f(Cast(x, FloatTypeOf(x->dtype))), x->dtype);
}

void SameTypes(TypeInference& t) {
  t.AllSameShape();
  t.AllSameDType();
}

bool LikeFirstInput(TypeInference& t) {
  t.AllSameDType();
  t.SetOut(0, t.In(0));
  if (t.error()) return false;
  t.SetIn(0, t.Out(0));
  return true;
}

Op<> UnaryOperator(std::string name, std::string doc, UnaryFunction f,
                   Arithmetic arithmetic) {
  Op<> op(std::move(name));
  op.Doc(std::move(doc));
  op.Types([](const NoAttrs&, TypeInference& t) { SameTypes(t); });
  op.Meaning([f, arithmetic](const NoAttrs&, Definition& def) {
    const Expr x = def.In(0, def.Indices());
    def.Set(0, arithmetic == Arithmetic::kExact ? f(x) : InFloat(x, f));
  });
  op.ElementwiseGradient();
  return op;
}

Op<> UnaryOperator(std::string name, std::string doc, UnaryOp f,
                   Arithmetic arithmetic) {
  return UnaryOperator(
      std::move(name), std::move(doc), [f](Expr x) { return Unary(f, x); },
      arithmetic);
}

}  // namespace mxc
