// SPDX-License-Identifier: Apache-2.0
// Kernels of contractions by the device's units for products of matrices:
// convolutions of any stride, dilation and groups, their gradients, products of
// matrices. Tiles come into shared memory by copies that run ahead of the
// products; f32 is multiplied as three products of tf32, so that no more than
// the last bits of an f32 are lost; bf16 and f16 stay what they are, in memory and
// in the products. The epilogue is any expression.
#pragma once

#include <string>

#include "codegen/cuda/device_function.h"
#include "ir/program/program.h"

namespace mxc {

// Of a step whose choice ProductCandidates offered. `alignments`: of the
// operands, as AlignmentsOf says.
DevicePlan PlanProduct(const Program& program, const Step& step,
                       const std::string& alignments);

}  // namespace mxc
