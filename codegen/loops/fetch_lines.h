// SPDX-License-Identifier: Apache-2.0
// Rows that data name, asked for some rows before they are needed: a core foresees
// rows that lie side by side, and no others.
#pragma once

#include "codegen/llvm/kernel_function.h"

namespace mxc {

// Asks for the lines of the first of so many bytes, of which a core fetches the rest
// by itself.
void FetchLines(KernelFunction& kernel, llvm::Value* address, int64_t bytes,
                bool to_write);

// How many rows ahead, if of each so many bytes of several operands are needed: as
// far as it takes to have as many lines on their way as a core waits for.
int64_t RowsToFetchAhead(int64_t bytes, int64_t operands);

}  // namespace mxc
