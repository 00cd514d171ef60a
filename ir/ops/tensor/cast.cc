// SPDX-License-Identifier: Apache-2.0
// Cast: data in another element type. Floats are truncated towards zero to
// integers, and to the least one where they do not fit (what x86 does; C leaves
// it open); half floats round to nearest even.
#include <cmath>

#include "ir/ops/tensor/unary.h"

namespace mxc {
namespace {

struct CastAttrs {
  DType dtype = DType::kF32;

  void Describe(Fields& f) {
    f("dtype", dtype).Required().Doc("element type of the output");
  }
};

// Only the types whose conversion the processor has: narrower ones are cut from
// these.
Expr CastTo(DType dtype, const Expr& x) {
  if (!IsFloat(x->dtype) || (dtype != DType::kI32 && dtype != DType::kI64)) {
    return Cast(x, dtype);
  }
  const Expr wide = Cast(x, FloatTypeOf(x->dtype));
  const double limit = std::ldexp(1, dtype == DType::kI32 ? 31 : 63);
  const Expr fits = wide >= Lit(-limit, wide) && wide < Lit(limit, wide);
  return Select(fits, Cast(wide, dtype), Constant(-limit, dtype));
}

}  // namespace

MXC_OP(Cast) {
  return Op<CastAttrs>("Cast")
      .Alias({"cast", "_npx_cast"})
      .Doc("the input in another element type")
      .Types([](const CastAttrs& attrs, TypeInference& t) {
        t.AllSameShape();
        t.SetOutDType(0, attrs.dtype);
      })
      .Meaning([](const CastAttrs&, Definition& def) {
        def.Set(0, CastTo(def.OutDType(), def.In(0, def.Indices())));
      })
      .Gradient([](const CastAttrs&, GradientBuilder& g) -> std::vector<Value> {
        const DType dtype = g.In(0).type().dtype;
        if (!IsFloat(dtype)) return g.None();
        return {g.Cast(g.Head(), dtype)};
      });
}

}  // namespace mxc
