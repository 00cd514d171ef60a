// SPDX-License-Identifier: Apache-2.0
// _np_reshape: numpy.reshape; -1 infers one extent.
// C1  extents are positive, but for one -1 at most
// C3  an extent in place of -1 keeps the number of elements
#include "ir/ops/numpy/shape/np_reshape.h"

#include "ir/ops/tensor/shape/reshape_codes.h"
#include "ir/ops/tensor/shape/view.h"

namespace mxc {
namespace {

void NpReshapeTypes(const NpReshapeAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  for (const int64_t extent : attrs.newshape) {
    if (!t.Require(extent != 0, "C1: newshape {} is empty",
                   ToString(attrs.newshape))) {
      return;
    }
  }
  t.SetOut(0, ReshapeByCodes(t, t.In(0), attrs.newshape, false, 1));
  t.SetIn(0, SolveInput(t.In(0), t.Out(0)));
}

}  // namespace

MXC_OP(NpReshape) {
  return Op<NpReshapeAttrs>("_np_reshape")
      .Alias({"_npi_reshape"})
      .Doc("numpy.reshape")
      .Inputs({{"a", InputKind::kData}})
      .Types(NpReshapeTypes)
      .Meaning([](const NpReshapeAttrs&, Definition& def) { ViewMeaning(def); })
      .View()
      .Gradient(kViewGradient);
}

}  // namespace mxc
