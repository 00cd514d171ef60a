// SPDX-License-Identifier: Apache-2.0
// Positions that a file's tensors hold.
#pragma once

#include <functional>

#include "frontend/onnx/call.h"

namespace mxc::onnx {

// Input `i`, indices into `extent` elements of axis `axis`: i64, those that
// count from the end counted from the front. What is out of range is refused
// where it is known, and left as it is where it is not.
Value IndicesOf(Call& c, int i, int64_t extent, int axis);
// The same for a part of it.
Value FromFront(Call& c, Value indices, int64_t extent);
// Refuses elements of a known input that are no indices; `at(k)` says the extent
// for element k.
void RequireIndices(Call& c, int i, const std::function<int64_t(int64_t)>& at);

// i64: 0, 1, … along axis `d` of so many, of extent 1 along the others.
Value NumbersAlong(Call& c, int rank, int d, int64_t count);

}  // namespace mxc::onnx
