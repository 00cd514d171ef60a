// SPDX-License-Identifier: Apache-2.0
// Recognises steps that cuBLASLt can compute as they are.
#pragma once

#include <optional>

#include "ir/program/program.h"
#include "runtime/abi/matrix_product.h"

namespace mxc {

// What the step computes, for a library on the device: a contraction without
// windows of f32, in strides, whose sums are stored as they are or with a bias
// for each column. Nothing for other steps.
std::optional<MatrixProduct> MatrixProductOf(const Program& program,
                                             const Step& step);

// Returns whether steps of the contraction may be such products.
bool MayBeMatrixProduct(const Contraction& c);

}  // namespace mxc
