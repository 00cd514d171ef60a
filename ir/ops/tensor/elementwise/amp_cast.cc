// SPDX-License-Identifier: Apache-2.0
// amp_cast: f16, bf16 and f32 in another type; whatever else, f64 too, stays as
// it is.
// Source: MXNet 1.9.1 operator/tensor/amp_cast.h, AMPCastType.
#include "ir/ops/op.h"

namespace mxc {
namespace {

struct AmpCastAttrs {
  DType dtype = DType::kF32;

  void Describe(Fields& f) {
    f("dtype", dtype).Required().Doc("element type of the output");
  }
};

void AmpCastTypes(const AmpCastAttrs& attrs, TypeInference& t) {
  t.AllSameShape();
  const DType given = t.InDType(0);
  if (given == DType::kUnknown) return;
  const bool cast = IsFloat(given) && given != DType::kF64;
  t.SetOutDType(0, cast ? attrs.dtype : given);
}

}  // namespace

MXC_OP(AmpCast) {
  return Op<AmpCastAttrs>("amp_cast")
      .Doc("float16, bfloat16 and float32 in another type")
      .Types(AmpCastTypes)
      .Meaning([](const AmpCastAttrs&, Definition& def) {
        def.Set(0, Cast(def.In(0, def.Indices()), def.OutDType()));
      })
      .Gradient(
          [](const AmpCastAttrs&, GradientBuilder& g) -> std::vector<Value> {
            const DType dtype = g.In(0).type().dtype;
            if (!IsFloat(dtype)) return g.None();
            return {g.Cast(g.Head(), dtype)};
          });
}

}  // namespace mxc
