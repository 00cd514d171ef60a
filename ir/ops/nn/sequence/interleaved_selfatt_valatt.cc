// SPDX-License-Identifier: Apache-2.0
// _contrib_interleaved_matmul_selfatt_valatt: values weighted by attention.
//   queries_keys_values, attention → f[L, N, heads·d]; interleaved_attention.h.
#include "ir/ops/nn/meaning_gradient.h"
#include "ir/ops/nn/sequence/interleaved_attention.h"

namespace mxc {
namespace {

void SelfattValattTypes(const AttentionAttrs& a, TypeInference& t) {
  t.AllSameDType();
  const int64_t depth = HeadDepth(a, t, 0, 3);
  if (depth == 0) return;
  const int64_t steps = t.In(0)[0], batch = t.In(0)[1];
  t.SetIn(1, {batch * a.heads, steps, steps});
  t.SetOut(0, {steps, batch, a.heads * depth});
}

}  // namespace

MXC_OP(InterleavedSelfattValatt) {
  return Op<AttentionAttrs>("_contrib_interleaved_matmul_selfatt_valatt")
      .Doc("the values of self-attention, weighted")
      .Inputs({{"queries_keys_values"}, {"attention"}})
      .Types(SelfattValattTypes)
      .FloatsOnly()
      .Meaning([](const AttentionAttrs& a, Definition& def) {
        AttentionValues(a, def, 3);
      })
      .Gradient(
          [](const auto&, GradientBuilder& g) { return MeaningGradients(g); });
}

}  // namespace mxc
