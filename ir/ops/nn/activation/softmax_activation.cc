// SPDX-License-Identifier: Apache-2.0
// SoftmaxActivation: softmax over the last axis, or over axis 1.
//   data    f[N, C, d1 …]
//   output  f[N, C, d1 …]   sums to 1 over the last axis (instance; the whole
//           of an instance only where data has two) or over C (channel)
// The gradient is that of a softmax over axis 1 in both modes: wrong where data
// has more than two axes in mode instance, and MXNet's.
// C1  data has an axis, in mode channel at least 3
// Source: MXNet 1.9.1 operator/nn/softmax_activation.cc.
#include <algorithm>

#include "ir/ops/nn/activation/softmax.h"

namespace mxc {
namespace {

enum class SoftmaxMode : int { kInstance, kChannel };

struct SoftmaxActivationAttrs {
  SoftmaxMode mode = SoftmaxMode::kInstance;

  void Describe(Fields& f) {
    f("mode", mode).OneOf({"instance", "channel"}).Doc("what sums to 1");
  }
};

void SoftmaxActivationTypes(const SoftmaxActivationAttrs& a, TypeInference& t) {
  t.AllSameShape();
  t.AllSameDType();
  if (!t.In(0).known_rank()) return;
  const int least = a.mode == SoftmaxMode::kChannel ? 3 : 1;
  t.Require(t.In(0).rank() >= least,
            "C1: data has {} axes, expected at least {}", t.In(0).rank(),
            least);
}

// Where one softmax is, forward.
Extents SoftmaxActivationAxes(const SoftmaxActivationAttrs& a,
                              const Shape& shape) {
  return {a.mode == SoftmaxMode::kChannel ? 1 : shape.rank() - 1};
}

void SoftmaxActivationMeaning(const SoftmaxActivationAttrs& a,
                              Definition& def) {
  def.Set(0, SoftmaxOver(def, SoftmaxActivationAxes(a, def.OutShape())));
}

std::vector<Value> SoftmaxActivationGradient(const SoftmaxActivationAttrs&,
                                             GradientBuilder& g) {
  const int last = g.Out().shape().rank() - 1;
  return {SoftmaxGradient(g, g.Head(), g.Out(), {std::min(1, last)})};
}

}  // namespace

MXC_OP(SoftmaxActivation) {
  return Op<SoftmaxActivationAttrs>("SoftmaxActivation")
      .Doc("softmax over channels or over the last axis")
      .Types(SoftmaxActivationTypes)
      .FloatsOnly()
      .Meaning(SoftmaxActivationMeaning)
      .Gradient(SoftmaxActivationGradient);
}

}  // namespace mxc
