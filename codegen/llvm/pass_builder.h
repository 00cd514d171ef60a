// SPDX-License-Identifier: Apache-2.0
// LLVM's pass builder. It includes every pass, so only optimize.cc, which runs
// them, includes this header.
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#include <llvm/Passes/PassBuilder.h>
#pragma GCC diagnostic pop
