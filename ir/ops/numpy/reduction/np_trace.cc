// SPDX-License-Identifier: Apache-2.0
// _np_trace: the sum of the `offset`-th diagonal of two axes.
// C1, C2: see np_diagonal.h
#include "ir/ops/numpy/shape/np_diagonal.h"

namespace mxc {

MXC_OP(NpTrace) {
  return Op<NpDiagonalAttrs>("_np_trace")
      .Doc("numpy.trace")
      .Types([](const NpDiagonalAttrs& a, TypeInference& t) {
        NpDiagonalShape(a, t, false);
      })
      .Decompose([](const NpDiagonalAttrs& a, const Node& node,
                    GraphBuilder& b) -> std::vector<Value> {
        const Value diagonal = NpDiagonalOf(a, b, node.inputs[0]);
        const Value sum = b.Sum(diagonal, {diagonal.shape().rank() - 1});
        return {b.Reshape(sum, node.types[0].shape)};
      });
}

}  // namespace mxc
