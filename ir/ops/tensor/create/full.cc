// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/create/full.h"

#include "ir/ops/tensor/create/filled.h"
#include "ir/ops/tensor/elementwise/arithmetic.h"

namespace mxc {
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
