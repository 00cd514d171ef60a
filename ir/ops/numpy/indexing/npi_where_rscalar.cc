// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/indexing/np_where.h"

namespace mxc {
namespace {

struct NpiWhereRscalarAttrs {
  double scalar = 0;

  void Describe(Fields& f) { f("scalar", scalar).Doc("the number"); }
};

}  // namespace

MXC_OP(NpiWhereRscalar) {
  return Op<NpiWhereRscalarAttrs>("_npi_where_rscalar")
      .Doc("y where condition is not 0, else scalar")
      .Inputs({{"condition", InputKind::kData}, {"y", InputKind::kData}})
      .Types([](const auto&, TypeInference& t) { NpWhereTypes(t); })
      .Meaning([](const NpiWhereRscalarAttrs& a, Definition& def) {
        NpWhereMeaning(def, {}, a.scalar);
      })
      .Gradient([](const auto&, GradientBuilder& g) {
        std::vector<Value> gradients = g.Elementwise();
        gradients[0] = {};
        return gradients;
      });
}

}  // namespace mxc
