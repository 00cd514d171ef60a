// SPDX-License-Identifier: Apache-2.0
// log_softmax: x − log Σ exp(x) along an axis.
// Inputs, output and constraints: softmax.h, and
// C4  use_length is false (MXNet refuses it too)
// Source: MXNet 1.9.1 operator/nn/log_softmax.cc.
#include "ir/ops/nn/activation/softmax.h"

namespace mxc {
namespace {

std::optional<std::string> LogSoftmaxCheck(const SoftmaxAttrs& a) {
  if (a.has_length()) return "C4: use_length is not supported";
  return SoftmaxCheck(a);
}

void LogSoftmaxMeaning(const SoftmaxAttrs& a, Definition& def) {
  const SoftmaxTerms t = SoftmaxTermsOf(a, def, false);
  def.Set(0, t.logit - t.max - Log(t.sum));
}

// (dy − exp(y) · Σ dy) / temperature
std::vector<Value> LogSoftmaxGradient(const SoftmaxAttrs& a,
                                      GradientBuilder& g) {
  const int axis = a.axis_of(g.In(0).shape().rank());
  const Value dy = g.Head();
  Value gradient = g.Sub(dy, g.Mul(g.Exp(g.Out()), g.Sum(dy, {axis}, true)));
  if (a.temperature.value_or(1) != 1)
    gradient = g.Div(gradient, *a.temperature);
  return {g.Cast(gradient, g.In(0).type().dtype)};
}

}  // namespace

MXC_OP(LogSoftmax) {
  return Op<SoftmaxAttrs>("log_softmax")
      .Doc("the logarithm of softmax")
      .Alias({"_npx_log_softmax"})
      .InputsOf(SoftmaxInputs)
      .Check(LogSoftmaxCheck)
      .Types(SoftmaxTypes)
      .FloatsOnly()
      .Meaning(LogSoftmaxMeaning)
      .Gradient(LogSoftmaxGradient);
}

}  // namespace mxc
