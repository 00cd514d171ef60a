// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/shape/permute.h"

#include "ir/ops/tensor/shape/transpose.h"

namespace mxc {

void PermuteTypes(TypeInference& t, const Extents& order) {
  const int rank = static_cast<int>(order.size());
  Shape in = Shape::OfRank(rank), out = Shape::OfRank(rank);
  t.SetIn(0, in);
  t.SetOut(0, out);
  if (t.error()) return;
  for (int k = 0; k < rank; ++k) {
    const int from = static_cast<int>(order[k]);
    out[k] = t.In(0)[from];
    in[from] = t.Out(0)[k];
  }
  t.SetOut(0, out);
  t.SetIn(0, in);
}

std::vector<Value> PermuteGradient(GradientBuilder& g, const Extents& order) {
  Extents back(order.size());
  for (size_t k = 0; k < order.size(); ++k) {
    back[order[k]] = static_cast<int64_t>(k);
  }
  return {g.Op<op::Transpose>({g.Head()}, {.axes = back})};
}

void PermuteMeaning(Definition& def, const Extents& order) {
  std::vector<Expr> index(order.size());
  for (size_t k = 0; k < order.size(); ++k) {
    index[order[k]] = Var(static_cast<int>(k));
  }
  def.Set(0, def.In(0, index));
}

}  // namespace mxc
