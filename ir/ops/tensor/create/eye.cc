// SPDX-License-Identifier: Apache-2.0
// _eye: ones on the k-th diagonal of an N × M matrix, zeros elsewhere.
#include "ir/ops/tensor/create/eye.h"

#include "ir/ops/op.h"

namespace mxc {
MXC_OP(Eye) {
  return Op<EyeAttrs>("_eye")
      .Alias({"_npi_eye"})
      .Doc("ones on a diagonal, zeros elsewhere")
      .Inputs({})
      .Types([](const EyeAttrs& a, TypeInference& t) {
        t.SetOutDType(0, a.dtype);
        t.SetOut(0, Shape{a.rows, a.columns > 0 ? a.columns : a.rows});
      })
      .Meaning([](const EyeAttrs& a, Definition& def) {
        def.Set(0, Cast(Var(1) - Var(0) == Expr(a.k), def.OutDType()));
      });
}

}  // namespace mxc
