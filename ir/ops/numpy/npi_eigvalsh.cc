// SPDX-License-Identifier: Apache-2.0
// _npi_eigvalsh: numpy.linalg.eigvalsh; see np_eigen.h.
#include "ir/ops/numpy/np_eigen.h"

namespace mxc {

MXC_OP(NpiEigvalsh) {
  return Op<EigenAttrs>("_npi_eigvalsh")
      .Doc("numpy.linalg.eigvalsh")
      .Inputs({{"A", InputKind::kData}})
      .Types([](const EigenAttrs&, TypeInference& t) { EigenvalueTypes(t); })
      .FloatsOnly()
      .ZeroGradient()
      .Decompose([](const EigenAttrs& attrs, const Node& node,
                    GraphBuilder& b) -> std::vector<Value> {
        return {Eigen(attrs, node, b)[0]};
      });
}

}  // namespace mxc
