// SPDX-License-Identifier: Apache-2.0
// _npi_identity: the matrix with ones in its diagonal.
// C1  shape is that of a square matrix
#include "ir/ops/tensor/create/filled.h"

namespace mxc {

MXC_OP(NpiIdentity) {
  return Op<FilledAttrs>("_npi_identity")
      .Doc("numpy.identity")
      .Inputs({})
      .Types([](const FilledAttrs& a, TypeInference& t) {
        t.SetOutDType(0, a.dtype);
        if (t.Require(a.shape.size() == 2 && a.shape[0] == a.shape[1] &&
                          a.shape[0] > 0,
                      "C1: shape is {}, expected (n, n)", ToString(a.shape))) {
          t.SetOut(0, Shape(a.shape));
        }
      })
      .Meaning([](const FilledAttrs&, Definition& def) {
        def.Set(0, Cast(Var(0) == Var(1), def.OutDType()));
      });
}

}  // namespace mxc
