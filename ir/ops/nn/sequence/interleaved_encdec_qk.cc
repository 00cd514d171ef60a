// SPDX-License-Identifier: Apache-2.0
// _contrib_interleaved_matmul_encdec_qk: the scores of cross-attention.
//   queries, keys_values → f[N·heads, L, M]; interleaved_attention.h.
#include "ir/ops/nn/meaning_gradient.h"
#include "ir/ops/nn/sequence/interleaved_attention.h"

namespace mxc {
namespace {

void EncdecQkTypes(const AttentionAttrs& a, TypeInference& t) {
  t.AllSameDType();
  const int64_t depth = HeadDepth(a, t, 0, 1);
  if (depth == 0 || HeadDepth(a, t, 1, 2) == 0) return;
  t.SetIn(1, {t.In(1)[0], t.In(0)[1], 2 * depth * a.heads});
  if (t.error()) return;
  t.SetOut(0, {t.In(0)[1] * a.heads, t.In(0)[0], t.In(1)[0]});
}

}  // namespace

MXC_OP(InterleavedEncdecQk) {
  return Op<AttentionAttrs>("_contrib_interleaved_matmul_encdec_qk")
      .Doc("the scores of cross-attention")
      .Inputs({{"queries"}, {"keys_values"}})
      .Types(EncdecQkTypes)
      .FloatsOnly()
      .Meaning([](const AttentionAttrs& a, Definition& def) {
        AttentionScores(a, def, 1, 1, 2);
      })
      .Gradient(
          [](const auto&, GradientBuilder& g) { return MeaningGradients(g); });
}

}  // namespace mxc
