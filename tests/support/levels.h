// SPDX-License-Identifier: Apache-2.0
// What is run in a test is compiled for the processor at hand, which may have
// no AVX2, or be held down by MXC_MAX_CPU; or for MXC_TEST_TARGET, if an emulator
// of it runs the kernels (tests/codegen/other_processor.h).
#pragma once

#include <string_view>
#include <vector>

#include "ir/support/result.h"
#include "ir/target/target.h"

namespace mxc::test {

// Whether this machine can run code for the target.
bool CanRun(const Target& target);
// The levels of x86-64 that it can, the lowest first; at least one. The emulated
// one alone, if there is one.
std::vector<Target> RunnableTargets();
// The target of that name, or the highest level that it can run if that is
// lower. Fails if there is no target of that name.
Result<Target> RunnableTarget(std::string_view name);

}  // namespace mxc::test
