// SPDX-License-Identifier: Apache-2.0
// amp_cast: floats in another float type; whatever else stays as it is.
// C1  dtype is a float type
#include "ir/ops/op.h"

namespace mxc {
namespace {

struct AmpCastAttrs {
  DType dtype = DType::kF32;

  void Describe(Fields& f) {
    f("dtype", dtype).Required().Doc("float type of the output");
  }
};

std::optional<std::string> CheckAmpCast(const AmpCastAttrs& attrs) {
  if (IsFloat(attrs.dtype)) return std::nullopt;
  return fmt::format("C1: dtype is {}, expected a float type",
                     MxnetName(attrs.dtype));
}

void AmpCastTypes(const AmpCastAttrs& attrs, TypeInference& t) {
  t.AllSameShape();
  if (t.InDType(0) == DType::kUnknown) return;
  t.SetOutDType(0, IsFloat(t.InDType(0)) ? attrs.dtype : t.InDType(0));
}

}  // namespace

MXC_OP(AmpCast) {
  return Op<AmpCastAttrs>("amp_cast")
      .Doc("floats in another float type")
      .Check(CheckAmpCast)
      .Types(AmpCastTypes)
      .Meaning([](const AmpCastAttrs&, Definition& def) {
        def.Set(0, def.In(0, def.Indices()));
      })
      .Gradient(
          [](const AmpCastAttrs&, GradientBuilder& g) -> std::vector<Value> {
            const DType dtype = g.In(0).type().dtype;
            if (!IsFloat(dtype)) return g.None();
            return {g.Cast(g.Head(), dtype)};
          });
}

}  // namespace mxc
