// SPDX-License-Identifier: Apache-2.0
// What the device's libraries could do in the place of kernels.
#pragma once

#include <cstdint>
#include <string>

#include "ir/program/program.h"

namespace mxc {

// Returns whether steps of the contraction may be a library's.
bool MayBeOfLibrary(const Contraction& c);
// The memory that one gets to work in, where it is the choice.
int64_t LibraryWorkspace(const Contraction& c);

// The step in the words of runtime/abi/matrix_product.h or convolution.h; empty
// where no library computes it. `alignments`: of the operands, as AlignmentsOf
// says.
std::string LibraryTaskOf(const Program& program, const Step& step,
                          const std::string& alignments);
// Returns whether the epilogue of the step, a contraction, is one that a
// library has.
bool StoresSums(const Program& program, const Step& step);
// Returns whether a library is to compute the step where there is one.
bool IsOfLibrary(const Program& program, const Step& step);

}  // namespace mxc
