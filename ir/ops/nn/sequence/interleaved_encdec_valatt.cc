// SPDX-License-Identifier: Apache-2.0
// _contrib_interleaved_matmul_encdec_valatt: values weighted by attention.
//   keys_values, attention → f[L, N, heads·d]; interleaved_attention.h.
#include "ir/ops/nn/meaning_gradient.h"
#include "ir/ops/nn/sequence/interleaved_attention.h"

namespace mxc {
namespace {

void EncdecValattTypes(const AttentionAttrs& a, TypeInference& t) {
  t.AllSameDType();
  const int64_t depth = HeadDepth(a, t, 0, 2);
  if (depth == 0 || !t.In(1).known_rank()) return;
  const Shape &values = t.In(0), &attention = t.In(1);
  if (!t.Require(attention.rank() == 3,
                 "C2: attention has shape {}, expected 3 axes",
                 ToString(attention))) {
    return;
  }
  const int64_t queries = attention[1];
  t.SetIn(1, {values[1] * a.heads, queries, values[0]});
  t.SetOut(0, {queries, values[1], a.heads * depth});
}

}  // namespace

MXC_OP(InterleavedEncdecValatt) {
  return Op<AttentionAttrs>("_contrib_interleaved_matmul_encdec_valatt")
      .Doc("the values of cross-attention, weighted")
      .Inputs({{"keys_values"}, {"attention"}})
      .Types(EncdecValattTypes)
      .FloatsOnly()
      .Meaning([](const AttentionAttrs& a, Definition& def) {
        AttentionValues(a, def, 2);
      })
      .Gradient(
          [](const auto&, GradientBuilder& g) { return MeaningGradients(g); });
}

}  // namespace mxc
