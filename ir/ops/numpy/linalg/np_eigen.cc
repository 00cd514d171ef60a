// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/linalg/np_eigen.h"

#include "ir/ops/tensor/linalg/factorization.h"

namespace mxc {

bool EigenvalueTypes(TypeInference& t) {
  t.AllSameDType();
  if (!RequireSquare(t, "C1")) return false;
  const Extents& a = t.In(0).dims();
  t.SetOut(0, Shape(Extents(a.begin(), a.end() - 1)));
  return true;
}

std::vector<Value> Eigen(const EigenAttrs& attrs, const Node& node,
                         GraphBuilder& b) {
  const Value a = node.inputs[0];
  const Value lower = attrs.triangle == "L" ? a : Transposed(b, a);
  const std::vector<Value> found = b.Ops<op::LinalgSyevd>({lower});
  return {found[1], Transposed(b, found[0])};
}

// _npi_eigh: numpy.linalg.eigh; see np_eigen.h. The greatest element of
// each eigenvector is positive.
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

// _npi_eigvalsh: numpy.linalg.eigvalsh; see np_eigen.h.
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
