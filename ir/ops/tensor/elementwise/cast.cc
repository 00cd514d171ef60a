// SPDX-License-Identifier: Apache-2.0
// Cast: data in another element type. Floats are cut towards zero to integers,
// and where they do not fit as MXNet does on x86 (C leaves it open): see
// Truncated (ir/program/integers.h). Half floats round to nearest even.
#include "ir/ops/tensor/elementwise/cast.h"
#include "ir/ops/tensor/elementwise/unary.h"

namespace mxc {

MXC_OP(Cast) {
  return Op<CastAttrs>("Cast")
      .Alias({"_npi_cast", "cast", "_npx_cast"})
      .Doc(
          "the input in another element type; floats are cut towards zero, "
          "those beyond int32 (for int64 beyond it), infinities and NaN become "
          "its least number, and int8 and uint8 keep the lowest 8 bits: -2.93 "
          "is 254 in uint8, 300 is 44, NaN is 0")
      .Types([](const CastAttrs& attrs, TypeInference& t) {
        t.AllSameShape();
        t.SetOutDType(0, attrs.dtype);
      })
      .Meaning([](const CastAttrs&, Definition& def) {
        def.Set(0, Cast(def.In(0, def.Indices()), def.OutDType()));
      })
      .Gradient([](const CastAttrs&, GradientBuilder& g) -> std::vector<Value> {
        const DType dtype = g.In(0).type().dtype;
        if (!IsFloat(dtype)) return g.None();
        return {g.Cast(g.Head(), dtype)};
      });
}

}  // namespace mxc
