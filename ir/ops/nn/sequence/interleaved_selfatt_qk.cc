// SPDX-License-Identifier: Apache-2.0
// _contrib_interleaved_matmul_selfatt_qk: the scores of self-attention.
//   queries_keys_values → f[N·heads, L, L]; interleaved_attention.h.
#include "ir/ops/nn/meaning_gradient.h"
#include "ir/ops/nn/sequence/interleaved_attention.h"

namespace mxc {
namespace {

void SelfattQkTypes(const AttentionAttrs& a, TypeInference& t) {
  t.AllSameDType();
  if (HeadDepth(a, t, 0, 3) == 0) return;
  const int64_t steps = t.In(0)[0];
  t.SetOut(0, {t.In(0)[1] * a.heads, steps, steps});
}

}  // namespace

MXC_OP(InterleavedSelfattQk) {
  return Op<AttentionAttrs>("_contrib_interleaved_matmul_selfatt_qk")
      .Doc("the scores of self-attention")
      .Inputs({{"queries_keys_values"}})
      .Types(SelfattQkTypes)
      .FloatsOnly()
      .Meaning([](const AttentionAttrs& a, Definition& def) {
        AttentionScores(a, def, 0, 3, 3);
      })
      .Gradient(
          [](const auto&, GradientBuilder& g) { return MeaningGradients(g); });
}

}  // namespace mxc
