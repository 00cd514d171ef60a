// SPDX-License-Identifier: Apache-2.0
// NumPy's tests and comparisons: their outputs are truth values (bool), whatever
// the operands' type. Nothing passes backward.
#pragma once

#include <string>

#include "ir/ops/op.h"
#include "ir/ops/tensor/elementwise/arithmetic.h"
#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/elementwise/unary.h"

namespace mxc {

// `test` gives a condition, or a number that is one where it is not 0.
Op<> NpTest(std::string name, std::string doc, UnaryFunction test);
// Of two tensors of one type, with broadcasting (see binary.h).
Op<> NpComparison(std::string name, std::string doc, BinaryFunction condition);
// Of data and a number; of integers and a number with a fraction, in f64.
Op<ScalarAttrs> NpScalarComparison(std::string name, std::string doc,
                                   BinaryFunction condition);

}  // namespace mxc
