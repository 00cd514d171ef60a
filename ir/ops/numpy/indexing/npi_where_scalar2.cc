// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/indexing/np_where.h"

namespace mxc {
namespace {

struct NpiWhereScalar2Attrs {
  double x = 0, y = 0;

  void Describe(Fields& f) {
    f("x", x).Doc("where condition is not 0");
    f("y", y).Doc("elsewhere");
  }
};

}  // namespace

MXC_OP(NpiWhereScalar2) {
  return Op<NpiWhereScalar2Attrs>("_npi_where_scalar2")
      .Doc("one of two numbers")
      .Inputs({{"condition", InputKind::kData}})
      .Types([](const auto&, TypeInference& t) {
        t.AllSameShape();
        t.SetOutDType(0, DType::kF32);
      })
      .Meaning([](const NpiWhereScalar2Attrs& a, Definition& def) {
        NpWhereMeaning(def, a.x, a.y);
      })
      .ZeroGradient();
}

}  // namespace mxc
