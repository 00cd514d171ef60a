// SPDX-License-Identifier: Apache-2.0
// The product of two tensors, summed over pairs of axes: the other axes of a,
// then those of b.
#pragma once

#include "ir/ops/op.h"

namespace mxc {

//   C1  as many axes of both are summed, in range and distinct
//   C2  the extents of each pair agree
void TensordotShape(TypeInference& t, const Extents& a_axes,
                    const Extents& b_axes);
Value Tensordot(GraphBuilder& b, const Node& node, const Extents& a_axes,
                const Extents& b_axes);

}  // namespace mxc
