// SPDX-License-Identifier: Apache-2.0
// Kernels whose tasks are those of a host's kernel, one thread each.
#pragma once

#include <cstdint>
#include <string>

#include "codegen/cuda/device_function.h"
#include "ir/program/program.h"

namespace mxc {

// Of a block, where nothing else decides.
inline constexpr int kTaskThreads = 128;

// The kernel that computes what `tasks` does, by blocks of so many threads.
// `alignments`: of the operands for which the tasks were planned (AlignmentsOf).
DevicePlan OnThreads(FunctionPlan tasks, const std::string& alignments,
                     int block_threads = kTaskThreads);

// Which operands begin where vectors may be read, as text: part of the key of
// a step, for the kernel relies on it.
std::string AlignmentsOf(const Program& program, const Step& step);

// Tells the kernel the same.
void AlignOperands(DeviceFunction& kernel, const std::string& alignments);

// Blocks and their threads, along one axis.
mxc_launch LaunchOf(int64_t blocks, int threads, int64_t shared_bytes = 0);

}  // namespace mxc
