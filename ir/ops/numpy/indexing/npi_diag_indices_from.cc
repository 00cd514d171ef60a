// SPDX-License-Identifier: Apache-2.0
// _npi_diag_indices_from: the places of the main diagonal.
//   data    t[n, n, …], at least 2 axes
//   output  i64[rank, n]: output[a, i] = i
// C1  all axes of data have one extent
#include "ir/ops/op.h"

namespace mxc {
namespace {

void DiagIndicesFromTypes(const NoAttrs&, TypeInference& t) {
  t.SetOutDType(0, DType::kI64);
  const Shape& data = t.In(0);
  if (!data.known()) return;
  bool square = data.rank() >= 2;
  for (const int64_t extent : data.dims()) {
    square = square && extent == data[0];
  }
  if (!t.Require(square, "C1: data has shape {}, expected axes of one extent",
                 ToString(data))) {
    return;
  }
  t.SetOut(0, {data.rank(), data[0]});
}

}  // namespace

MXC_OP(NpiDiagIndicesFrom) {
  return Op<>("_npi_diag_indices_from")
      .Doc("the places of the main diagonal")
      .Types(DiagIndicesFromTypes)
      .ZeroGradient()
      .Meaning([](const NoAttrs&, Definition& def) {
        def.Set(0, Cast(def.Indices()[1], DType::kI64));
      });
}

}  // namespace mxc
