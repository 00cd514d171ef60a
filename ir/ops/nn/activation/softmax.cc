// SPDX-License-Identifier: Apache-2.0
// softmax: exp(x) / Σ exp(x) along an axis; 0 where use_length leaves positions
// out. Inputs, output and constraints: softmax.h. Source: MXNet 1.9.1
// operator/nn/softmax-inl.h.
#include "ir/ops/nn/activation/softmax.h"

namespace mxc {
namespace {

void SoftmaxMeaning(const SoftmaxAttrs& a, Definition& def) {
  const SoftmaxTerms t = SoftmaxTermsOf(a, def, false);
  const Expr value = Exp(t.logit - t.max) / t.sum;
  def.Set(0, t.counts ? Select(t.counts, value, Lit(0, value)) : value);
}

}  // namespace

MXC_OP(Softmax) {
  return Op<SoftmaxAttrs>("softmax")
      .Doc("exp(x) / Σ exp(x) along an axis")
      .Alias({"_npx_softmax"})
      .InputsOf(SoftmaxInputs)
      .Check(SoftmaxCheck)
      .Types(SoftmaxTypes)
      .FloatsOnly()
      .Meaning(SoftmaxMeaning)
      .Gradient([](const SoftmaxAttrs& a, GradientBuilder& g) {
        return SoftmaxFamilyGradient(a, g, false);
      });
}

}  // namespace mxc
