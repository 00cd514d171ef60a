// SPDX-License-Identifier: Apache-2.0
// _npi_eigh: numpy.linalg.eigh; see np_eigen.h. Of each eigenvector the greatest
// element is positive.
#include "ir/ops/numpy/np_eigen.h"

namespace mxc {

MXC_OP(NpiEigh) {
  return Op<EigenAttrs>("_npi_eigh")
      .Doc("numpy.linalg.eigh")
      .Inputs({{"A", InputKind::kData}})
      .Outputs({"w", "v"})
      .Types([](const EigenAttrs&, TypeInference& t) {
        if (EigenvalueTypes(t)) t.SetOut(1, t.In(0));
      })
      .FloatsOnly()
      .ZeroGradient()
      .Decompose(Eigen);
}

}  // namespace mxc
