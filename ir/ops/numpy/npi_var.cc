// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_spread.h"

namespace mxc {

MXC_OP(NpiVar) {
  return Op<SpreadAttrs>("_npi_var")
      .Doc("numpy.var")
      .Inputs({{"a", InputKind::kData}})
      .Types(SpreadTypes)
      .Decompose([](const SpreadAttrs& a, const Node& node,
                    GraphBuilder& b) -> std::vector<Value> {
        return {Variance(a, node, b)};
      });
}

}  // namespace mxc
