// SPDX-License-Identifier: Apache-2.0
// What this machine's processor and system can run, as runtime/abi's bits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace mxc::runtime {

// The environment's variable that holds the processor down to a level: what
// lies above is treated as absent, in the compiler and in the runtime.
inline constexpr const char* kMaxCpuVariable = "MXC_MAX_CPU";

// MXC_CPU_* bits, at most those of the level that MXC_MAX_CPU names; none if it
// names no level. A bit counts only if the processor has all of its level and
// the system saves its registers.
uint64_t CpuFeatures();

// Asks the system for what it gives to a process on demand only, for good: the
// registers of AMX's tiles. Any thread, any number of times.
Status AllowFeatures(uint64_t features);

// The bits of a target's level, "x86-64-v2" to "riscv64-v"; nothing for another
// name.
std::optional<uint64_t> CpuLevelFeatures(std::string_view level);

// The last of levels.def that such a machine runs; empty: there is none.
std::string_view CpuLevel(uint64_t features);

// "AVX2, AVX-512", for people.
std::string CpuFeatureNames(uint64_t features);

}  // namespace mxc::runtime
