// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_spread.h"

namespace mxc {

MXC_OP(NpiStd) {
  return Op<SpreadAttrs>("_npi_std")
      .Doc("numpy.std")
      .Inputs({{"a", InputKind::kData}})
      .Types(SpreadTypes)
      .Decompose([](const SpreadAttrs& a, const Node& node,
                    GraphBuilder& b) -> std::vector<Value> {
        return {b.Sqrt(Variance(a, node, b))};
      });
}

}  // namespace mxc
