// SPDX-License-Identifier: Apache-2.0
// Diagonals of two axes, as numpy.diagonal and numpy.trace name them.
#pragma once

#include "ir/ops/op.h"

namespace mxc {

struct NpDiagonalAttrs {
  int64_t offset = 0;
  int64_t axis1 = 0, axis2 = 1;

  void Describe(Fields& f);
};

// The shape of output 0: the other axes of input 0 and, if it is kept, the
// diagonal.
//   C1  axis1 and axis2 are in range and differ
//   C2  data have a diagonal `offset`
void NpDiagonalShape(const NpDiagonalAttrs& a, TypeInference& t, bool kept);
Value NpDiagonalOf(const NpDiagonalAttrs& a, GraphBuilder& b, Value x);

}  // namespace mxc
