// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/thread_kernel.h"

#include <utility>

#include "ir/support/division.h"

namespace mxc {
namespace {

constexpr int kVectorBytes = 16;
// Of a thread's scratch: what follows one begins where vectors may be written.
constexpr int64_t kScratchAlignment = 64;

// What the runtime places is aligned to MXC_ARENA_ALIGNMENT, the caller's
// tensors have twins on the device. What has no place, a window of a repeat,
// moves by elements.
bool IsAligned(const Program& program, int operand) {
  const Buffer& root = program.buffers[program.Root(operand)];
  if (root.kind == BufferKind::kInternal && root.offset < 0) return false;
  const int64_t begin = root.kind == BufferKind::kInternal ? root.offset : 0;
  return (begin + program.BytesIntoRoot(operand)) % kVectorBytes == 0;
}

}  // namespace

std::string AlignmentsOf(const Program& program, const Step& step) {
  std::string text;
  for (const int operand : step.operands()) {
    text += IsAligned(program, operand) ? 'v' : 'e';
  }
  return text;
}

void AlignOperands(DeviceFunction& kernel, const std::string& alignments) {
  for (size_t i = 0; i < alignments.size(); ++i) {
    if (alignments[i] == 'v') {
      kernel.SetAlignment(static_cast<int>(i), kVectorBytes);
    }
  }
}

mxc_launch LaunchOf(int64_t blocks, int threads, int64_t shared_bytes) {
  mxc_launch launch = {};
  for (const int axis : {0, 1, 2}) launch.grid[axis] = launch.block[axis] = 1;
  launch.grid[0] = static_cast<uint32_t>(blocks);
  launch.block[0] = static_cast<uint32_t>(threads);
  launch.shared_bytes = static_cast<uint32_t>(shared_bytes);
  return launch;
}

DevicePlan OnThreads(FunctionPlan tasks, const std::string& alignments,
                     int block_threads) {
  const int64_t scratch =
      DivideUp(tasks.scratch_bytes, kScratchAlignment) * kScratchAlignment;
  DevicePlan plan;
  plan.tasks = tasks.tasks;
  plan.scratch_bytes = scratch * tasks.tasks;
  plan.launch =
      LaunchOf(DivideUp(tasks.tasks, int64_t{block_threads}), block_threads);
  plan.emit = [alignments, block_threads, scratch,
               tasks = std::move(tasks)](DeviceFunction& kernel) {
    AlignOperands(kernel, alignments);
    kernel.EachTask(tasks.tasks, block_threads, scratch,
                    [&] { tasks.emit(kernel); });
  };
  return plan;
}

}  // namespace mxc
