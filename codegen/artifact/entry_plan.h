// SPDX-License-Identifier: Apache-2.0
// Entries that no runtime walks: each becomes one function that calls the kernels
// of its steps.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "codegen/artifact/states.h"
#include "codegen/artifact/weights.h"
#include "codegen/codegen.h"
#include "codegen/llvm/entry_function.h"
#include "ir/program/program.h"
#include "ir/support/result.h"

namespace mxc {

// Where each buffer of an entry lies, and what the arena needs beside them. Adds
// the constants to the weights. Inputs that nothing reads are none of the
// function's.
EntryFunction PlanEntry(const Program& program,
                        const std::vector<StepCode>& steps,
                        const CodeImage& code, const StateTable& states,
                        WeightsSection& weights);

// Refuses what such a function cannot do, since nobody would find the functions,
// or the other devices, that it asks for. `form` is what holds the function: "an
// object for C".
Status RequireNoImports(std::span<const Program> entries,
                        std::string_view form);

}  // namespace mxc
