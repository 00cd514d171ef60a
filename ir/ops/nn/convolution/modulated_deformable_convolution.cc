// SPDX-License-Identifier: Apache-2.0
// _contrib_ModulatedDeformableConvolution: a convolution whose cells are
// displaced and weighted. Inputs, output and constraints:
// deformable_convolution.h.
#include "ir/ops/nn/convolution/modulated_deformable_convolution.h"

#include "ir/ops/nn/convolution/deformable_convolution.h"
#include "ir/ops/nn/convolution/deformable_gradient.h"

namespace mxc {
MXC_OP(ModulatedDeformableConvolution) {
  return Op<ModulatedAttrs>("_contrib_ModulatedDeformableConvolution")
      .Doc("a convolution whose cells are displaced and weighted")
      .InputsOf(
          [](const ModulatedAttrs& a) { return DeformableInputs(a, true); })
      .Check(DeformableCheck)
      .Types([](const ModulatedAttrs& a, TypeInference& t) {
        DeformableTypes(a, true, t);
      })
      .FloatsOnly()
      .Meaning([](const ModulatedAttrs& a, Definition& def) {
        DeformableMeaning(a, true, def);
      })
      .Gradient([](const ModulatedAttrs& a, GradientBuilder& g) {
        return DeformableGradients(a, true, g);
      });
}

}  // namespace mxc
