// SPDX-License-Identifier: Apache-2.0
// States in LLVM's metadata which operands of a kernel cannot overlap.
#pragma once

#include <span>

#include "codegen/llvm/expr_emitter.h"

namespace mxc {

// Tells LLVM that operands of different roots never overlap: it may keep what
// it loaded from one of them while another is written. One root for each
// operand; those with equal ones share bytes.
void SeparateByRoots(KernelFunction& kernel, std::span<const int> roots,
                     std::span<EmitOperand> operands);

}  // namespace mxc
