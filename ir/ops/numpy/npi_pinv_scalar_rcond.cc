// SPDX-License-Identifier: Apache-2.0
// _npi_pinv_scalar_rcond: numpy.linalg.pinv; see np_pseudo_inverse.h.
#include "ir/ops/numpy/np_pseudo_inverse.h"

namespace mxc {
namespace {

struct NpiPinvAttrs {
  double rcond = 1e-15;
  bool hermitian = false;

  void Describe(Fields& f) {
    f("rcond", rcond).Doc("what is small, as a share of the greatest");
    f("hermitian", hermitian).Doc("A is symmetric; the same values").Hint();
  }
};

}  // namespace

MXC_OP(NpiPinvScalarRcond) {
  return Op<NpiPinvAttrs>("_npi_pinv_scalar_rcond")
      .Doc("numpy.linalg.pinv")
      .Inputs({{"A", InputKind::kData}})
      .Types(
          [](const NpiPinvAttrs&, TypeInference& t) { PseudoInverseTypes(t); })
      .FloatsOnly()
      .ZeroGradient()
      .Decompose([](const NpiPinvAttrs& attrs, const Node& node,
                    GraphBuilder& b) -> std::vector<Value> {
        const Value a = node.inputs[0];
        return {PseudoInverse(b, a, b.Scalar(attrs.rcond, a.type().dtype))};
      });
}

}  // namespace mxc
