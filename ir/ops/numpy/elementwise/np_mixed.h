// SPDX-License-Identifier: Apache-2.0
// NumPy's arithmetic of operands of two types: of a float and whole numbers, or
// truth values, the float's; of two floats the wider one.
#pragma once

#include <string>

#include "ir/ops/op.h"

namespace mxc {

// `op` broadcasts two tensors of one type. With `divides`, whole numbers give
// float32.
//   C1  extents of an axis are equal, or one of them is 1
//   C2  the types are alike, or one of them is a float
Op<> NpMixedOperator(std::string name, std::string doc, const Operator& (*op)(),
                     bool divides = false);

}  // namespace mxc
