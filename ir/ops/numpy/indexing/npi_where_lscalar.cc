// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/indexing/npi_where_lscalar.h"
#include "ir/ops/numpy/indexing/np_where.h"

namespace mxc {

MXC_OP(NpiWhereLscalar) {
  return Op<NpiWhereLscalarAttrs>("_npi_where_lscalar")
      .Doc("scalar where condition is not 0, else x")
      .Inputs({{"condition", InputKind::kData}, {"x", InputKind::kData}})
      .Types([](const auto&, TypeInference& t) { NpWhereTypes(t); })
      .Meaning([](const NpiWhereLscalarAttrs& a, Definition& def) {
        NpWhereMeaning(def, a.scalar, {});
      })
      .Gradient([](const auto&, GradientBuilder& g) {
        std::vector<Value> gradients = g.Elementwise();
        gradients[0] = {};
        return gradients;
      });
}

}  // namespace mxc
