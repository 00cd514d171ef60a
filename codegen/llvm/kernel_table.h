// SPDX-License-Identifier: Apache-2.0
// The symbols that the runtime looks up in an artifact's code.
#pragma once

#include <cstdint>
#include <string>

#include "codegen/codegen.h"
#include "ir/target/target.h"

namespace mxc {

// An object that defines mxc_kernels, with a pointer to each kernel of the code,
// null where the host has none of them, mxc_limits and mxc_operands, which say
// what these touch, and mxc_abi (runtime/abi/abi.h).
std::string EmitKernelTable(const CodeImage& code, uint64_t tables_checksum,
                            const Target& target);

}  // namespace mxc
