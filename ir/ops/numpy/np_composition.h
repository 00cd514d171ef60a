// SPDX-License-Identifier: Apache-2.0
// What operators of mx.np that are nothing but operators of mx.sym are made with.
// Their gradient is that of their parts.
#pragma once

#include <string_view>
#include <vector>

#include "ir/ops/op.h"
#include "ir/ops/tensor/elementwise/scalar.h"

namespace mxc {

// `x` with its axes in another order; x itself if that changes nothing.
Value Transposed(GraphBuilder& b, Value x, const Extents& order);
// Its elements in one row.
Value Flattened(GraphBuilder& b, Value x);
// Σ over the `count` last axes of `a` and the `count` first ones of `b`.
Value SummedProduct(GraphBuilder& b, Value left, Value right, int count);

// Quotients of data and a number are floats; of whole numbers, float32.
void TrueDivisionTypes(const ScalarAttrs&, TypeInference& t);
// The input, in which true division is done.
Value TrueDividend(GraphBuilder& b, const Node& node);

}  // namespace mxc
