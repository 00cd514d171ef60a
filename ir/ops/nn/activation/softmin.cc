// SPDX-License-Identifier: Apache-2.0
// softmin: exp(−x) / Σ exp(−x) along an axis; 0 where use_length leaves
// positions out. Inputs, output and constraints: softmax.h. Source: MXNet 1.9.1
// operator/nn/softmax-inl.h.
#include "ir/ops/nn/activation/softmax.h"

namespace mxc {
namespace {

void SoftminMeaning(const SoftmaxAttrs& a, Definition& def) {
  const SoftmaxTerms t = SoftmaxTermsOf(a, def, true);
  const Expr value = Exp(t.logit - t.max) / t.sum;
  def.Set(0, t.counts ? Select(t.counts, value, Lit(0, value)) : value);
}

}  // namespace

MXC_OP(Softmin) {
  return Op<SoftmaxAttrs>("softmin")
      .Doc("exp(−x) / Σ exp(−x) along an axis")

      .InputsOf(SoftmaxInputs)
      .Check(SoftmaxCheck)
      .Types(SoftmaxTypes)
      .FloatsOnly()
      .Meaning(SoftminMeaning)
      .Gradient([](const SoftmaxAttrs& a, GradientBuilder& g) {
        return SoftmaxFamilyGradient(a, g, true);
      });
}

}  // namespace mxc
