// SPDX-License-Identifier: Apache-2.0
// _contrib_DeformableConvolution: a convolution whose cells are displaced.
// Inputs, output and constraints: deformable_convolution.h.
#include "ir/ops/nn/convolution/deformable_convolution.h"

#include "ir/ops/nn/convolution/deformable_gradient.h"

namespace mxc {

MXC_OP(DeformableConvolution) {
  return Op<DeformableAttrs>("_contrib_DeformableConvolution")
      .Doc("a convolution whose cells are displaced")
      .InputsOf(
          [](const DeformableAttrs& a) { return DeformableInputs(a, false); })
      .Check(DeformableCheck)
      .Types([](const DeformableAttrs& a, TypeInference& t) {
        DeformableTypes(a, false, t);
      })
      .FloatsOnly()
      .Meaning([](const DeformableAttrs& a, Definition& def) {
        DeformableMeaning(a, false, def);
      })
      .Gradient([](const DeformableAttrs& a, GradientBuilder& g) {
        return DeformableGradients(a, false, g);
      });
}

}  // namespace mxc
