// SPDX-License-Identifier: Apache-2.0
// Attention over projections that are interleaved head by head.
//   queries_keys_values  f[L, N, heads·3·d]   q, k and v of head 0, of head 1 …
//   keys_values          f[M, N, heads·2·d]   k and v of head 0 …
//   queries              f[L, N, heads·d]
//   attention            f[N·heads, L, M]
// C1  the projections have 3 axes, the last one a multiple of heads·3, ·2, ·1
// C2  attention has the shape that follows
// Source: MXNet 1.9.1 operator/contrib/transformer.cc.
#pragma once

#include "ir/ops/op.h"

namespace mxc {

struct AttentionAttrs {
  int64_t heads = 0;

  void Describe(Fields& f) {
    f("heads", heads).Required().Range(1, 1 << 20).Doc("of attention");
  }
};

// Input `input` as `parts` interleaved projections; the depth of a head, or 0
// when its shape is not known yet or is illegal.
int64_t HeadDepth(const AttentionAttrs& a, TypeInference& t, int input,
                  int parts);

// Element `k` of projection `part` at step `step`, for entry `row` of the N ·
// heads; input `input` holds `parts` of them.
Expr Projection(const AttentionAttrs& a, const Definition& def, int input,
                int parts, int part, Expr step, Expr row, Expr k);

// Output 0 as the scores queries · keys / √d, and as attention · values.
void AttentionScores(const AttentionAttrs& a, Definition& def, int keys_input,
                     int query_parts, int key_parts);
void AttentionValues(const AttentionAttrs& a, Definition& def, int parts);

}  // namespace mxc
