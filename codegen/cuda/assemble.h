// SPDX-License-Identifier: Apache-2.0
// PTX as machine code of one generation of devices, by NVIDIA's assembler.
#pragma once

#include <cstdint>
#include <string>

#include "ir/support/result.h"

namespace mxc {

// `assembler` is a program like ptxas, looked for on the path if it is a bare
// name. Fails if it cannot be run, or does not take the text: with the first
// line that it says. `version` is an image's (runtime/abi/abi.h).
Result<std::string> Assemble(const std::string& assembler,
                             const std::string& ptx, uint32_t version);

}  // namespace mxc
