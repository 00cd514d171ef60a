// SPDX-License-Identifier: Apache-2.0
// _npi_full_like: one number everywhere, in the shape of `a`.
#include "ir/ops/op.h"
#include "ir/ops/tensor/elementwise/arithmetic.h"

namespace mxc {
namespace {

struct FullLikeAttrs {
  double fill_value = 0;
  std::string ctx;
  std::optional<DType> dtype;

  void Describe(Fields& f) {
    f("fill_value", fill_value).Required().Doc("every element");
    f("ctx", ctx).Doc("device").Hint();
    f("dtype", dtype).Doc("element type; None: that of a");
  }
};

}  // namespace

MXC_OP(NpiFullLike) {
  return Op<FullLikeAttrs>("_npi_full_like")
      .Doc("numpy.full_like")
      .Inputs({{"a", InputKind::kData}})
      .Types([](const FullLikeAttrs& a, TypeInference& t) {
        t.AllSameShape();
        t.SetOutDType(0, a.dtype.value_or(t.InDType(0)));
      })
      .Meaning([](const FullLikeAttrs& a, Definition& def) {
        def.Set(0, Number(a.fill_value, def.OutDType()));
      })
      .ZeroGradient();
}

}  // namespace mxc
