// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/arithmetic.h"
#include "ir/ops/tensor/filled.h"

namespace mxc {
namespace {

struct FullAttrs : FilledAttrs {
  double value = 0;

  void Describe(Fields& f) {
    FilledAttrs::Describe(f);
    f("value", value).Required().Doc("every element");
  }
};

}  // namespace

MXC_OP(Full) {
  return Op<FullAttrs>("_full")
      .Alias({"_npi_full"})
      .Doc("one number everywhere")
      .Inputs({})
      .Types([](const FullAttrs& attrs, TypeInference& t) {
        t.SetOutDType(0, attrs.dtype);
        t.SetOut(0, StatedShape(attrs.shape));
      })
      .Meaning([](const FullAttrs& attrs, Definition& def) {
        def.Set(0, Number(attrs.value, def.OutDType()));
      });
}

}  // namespace mxc
