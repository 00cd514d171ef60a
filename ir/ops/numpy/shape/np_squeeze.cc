// SPDX-License-Identifier: Apache-2.0
// _np_squeeze: numpy.squeeze, after which no axis may remain.
#include "ir/ops/tensor/shape/squeeze.h"
#include "ir/ops/tensor/shape/view.h"

namespace mxc {

MXC_OP(NpSqueeze) {
  return Op<SqueezeAttrs>("_np_squeeze")
      .Doc("numpy.squeeze")
      .Inputs({{"a", InputKind::kData}})
      .Types([](const SqueezeAttrs& attrs, TypeInference& t) {
        SqueezeTypes(attrs, t, 0);
      })
      .Meaning([](const SqueezeAttrs&, Definition& def) { ViewMeaning(def); })
      .View()
      .Gradient(kViewGradient);
}

}  // namespace mxc
