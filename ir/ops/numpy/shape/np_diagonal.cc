// SPDX-License-Identifier: Apache-2.0
// _np_diagonal: the `offset`-th diagonal of two axes, as the last axis.
// C1, C2: see np_diagonal.h
#include "ir/ops/numpy/shape/np_diagonal.h"

namespace mxc {

MXC_OP(NpDiagonal) {
  return Op<NpDiagonalAttrs>("_np_diagonal")
      .Doc("numpy.diagonal")
      .Types([](const NpDiagonalAttrs& a, TypeInference& t) {
        NpDiagonalShape(a, t, true);
      })
      .Decompose([](const NpDiagonalAttrs& a, const Node& node,
                    GraphBuilder& b) -> std::vector<Value> {
        return {NpDiagonalOf(a, b, node.inputs[0])};
      });
}

}  // namespace mxc
