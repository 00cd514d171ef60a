// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/indexing/np_where.h"

namespace mxc {

MXC_OP(NpiWhere) {
  return Op<>("_npi_where")
      .Doc("numpy.where")
      .Inputs({{"condition", InputKind::kData},
               {"x", InputKind::kData},
               {"y", InputKind::kData}})
      .Types([](const NoAttrs&, TypeInference& t) { NpWhereTypes(t); })
      .Meaning(
          [](const NoAttrs&, Definition& def) { NpWhereMeaning(def, {}, {}); })
      .Gradient([](const NoAttrs&, GradientBuilder& g) {
        std::vector<Value> gradients = g.Elementwise();
        gradients[0] = {};
        return gradients;
      });
}

}  // namespace mxc
