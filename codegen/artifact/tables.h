// SPDX-License-Identifier: Apache-2.0
// The tables section: entries, buffers, steps and operands as runtime/abi says.
#pragma once

#include <span>
#include <string>

#include "codegen/artifact/weights.h"
#include "codegen/codegen.h"
#include "ir/program/program.h"
#include "ir/support/result.h"
#include "ir/target/target.h"

namespace mxc {

// The bytes of the section. Constants and the states' first values are added to
// `weights` on the way. Fails where entries disagree about a state.
Result<std::string> MakeTables(std::span<const Program> entries,
                               const CodeImage& code, const Target& target,
                               const TensorRoles& roles,
                               WeightsSection& weights);

}  // namespace mxc
