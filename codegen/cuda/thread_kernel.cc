// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/thread_kernel.h"

#include <string>
#include <utility>
#include <vector>

#include "codegen/cuda/device_function.h"
#include "ir/support/division.h"

namespace mxc {
namespace {

constexpr int kBlockThreads = 128;
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

KernelPlan OnThreads(const Program& program, const Step& step,
                     KernelPlan tasks) {
  const int64_t scratch =
      DivideUp(tasks.scratch_bytes, kScratchAlignment) * kScratchAlignment;
  KernelPlan plan;
  plan.tasks = tasks.tasks;
  plan.scratch_bytes = scratch * tasks.tasks;
  plan.launch.grid[0] =
      static_cast<uint32_t>(DivideUp(tasks.tasks, int64_t{kBlockThreads}));
  plan.launch.block[0] = kBlockThreads;
  for (const int axis : {1, 2}) {
    plan.launch.grid[axis] = plan.launch.block[axis] = 1;
  }
  plan.emit = [aligned = AlignmentsOf(program, step), scratch,
               tasks = std::move(tasks)](KernelFunction& kernel) {
    auto& device = static_cast<DeviceFunction&>(kernel);
    for (size_t i = 0; i < aligned.size(); ++i) {
      if (aligned[i] == 'v') {
        device.SetAlignment(static_cast<int>(i), kVectorBytes);
      }
    }
    device.EachTask(tasks.tasks, kBlockThreads, scratch,
                    [&] { tasks.emit(kernel); });
  };
  return plan;
}

}  // namespace mxc
