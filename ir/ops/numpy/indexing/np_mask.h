// SPDX-License-Identifier: Apache-2.0
// Elements that a mask chooses, replaced:
//   data    t[A…, M…, B…], A of start_axis extents
//   mask    [M…]: chosen where it is not 0
// C1  mask has the extents of data from start_axis on
// Gradients do not pass.
// Source: MXNet 1.9.1 operator/numpy/np_boolean_mask_assign.cc, which can write
// over data alone.
#pragma once

#include "ir/ops/op.h"

namespace mxc {

// False while shapes are not known, and where C1 fails.
bool RequireMask(int64_t start_axis, TypeInference& t);
// The mask with 1 for the extents A and B: it broadcasts to data.
Value MaskOverData(int64_t start_axis, const Node& node, GraphBuilder& b);

}  // namespace mxc
