// SPDX-License-Identifier: Apache-2.0
// signsgd_update: steps of one length, SignSgdWeight of formulas.h.
// Source: MXNet 1.9.1 operator/optimizer_op-inl.h, SignSGDKernel, which neither rescales nor clips.
#include "ir/ops/updates/update.h"

namespace mxc {

MXC_OP(SignsgdUpdate) {
  return UpdateOperator<UpdateOptions>(
             "signsgd_update", {{}},
             [](const auto&, WeightUpdate& u) {
               u.SetWeight(SignSgdWeight(u.Terms(u.RawGradient())));
             })
      .Doc("a step of one length, along the sign of the gradient");
}

}  // namespace mxc
