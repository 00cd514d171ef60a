// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/nn/sequence/interleaved_attention.h"

#include <cmath>

namespace mxc {

int64_t HeadDepth(const AttentionAttrs& a, TypeInference& t, int input,
                  int parts) {
  const Shape& shape = t.In(input);
  if (!shape.known()) return 0;
  const int64_t unit = a.heads * parts;
  if (!t.Require(shape.rank() == 3 && shape[2] > 0 && shape[2] % unit == 0,
                 "C1: input {} has shape {}, expected 3 axes, the last one a "
                 "multiple of {}",
                 input, ToString(shape), unit)) {
    return 0;
  }
  return shape[2] / unit;
}

Expr Projection(const AttentionAttrs& a, const Definition& def, int input,
                int parts, int part, Expr step, Expr row, Expr k) {
  const int64_t depth = def.InShape(input)[2] / (a.heads * parts);
  const Expr column = (row % a.heads * parts + part) * depth + k;
  return def.In(input, {step, row / a.heads, column});
}

void AttentionScores(const AttentionAttrs& a, Definition& def, int keys_input,
                     int query_parts, int key_parts) {
  const std::vector<Expr> i = def.Indices();
  const int64_t depth = def.InShape(0)[2] / (a.heads * query_parts);
  const Expr scale = def.Lit(1 / std::sqrt(static_cast<double>(depth)));
  const int key = key_parts == 3 ? 1 : 0;
  def.Set(0, Definition::Sum({depth}, [&](const std::vector<Expr>& r) {
               return Projection(a, def, 0, query_parts, 0, i[1], i[0], r[0]) *
                      Projection(a, def, keys_input, key_parts, key, i[2], i[0],
                                 r[0]);
             }) * scale);
}

void AttentionValues(const AttentionAttrs& a, Definition& def, int parts) {
  const std::vector<Expr> i = def.Indices();
  const int64_t depth = def.InShape(0)[2] / (a.heads * parts);
  const Expr row = i[1] * a.heads + i[2] / depth;
  def.Set(
      0, Definition::Sum({def.InShape(0)[0]}, [&](const std::vector<Expr>& r) {
        return def.In(1, {row, i[0], r[0]}) *
               Projection(a, def, 0, parts, parts - 1, r[0], row, i[2] % depth);
      }));
}

}  // namespace mxc
