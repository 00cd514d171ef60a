// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/launch_kernel.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "codegen/cuda/channel_kernel.h"
#include "codegen/cuda/device_function.h"
#include "codegen/cuda/library_task.h"
#include "codegen/cuda/step_kernel.h"
#include "ir/support/check.h"

namespace mxc {
namespace {

using llvm::Value;
using Steps = std::vector<const Step*>;

// For the kernel's parameters, of which there are 4 KB.
constexpr size_t kMostOperands = 250;
constexpr int64_t kMostBlocks = int64_t{1} << 31;

// Steps that share blocks, and their kernel.
struct Part {
  Steps steps;
  DevicePlan kernel;
  std::vector<int> operands;  // of the kernel; empty: those of the whole
  bool any_threads = false;

  int threads() const { return static_cast<int>(kernel.launch.block[0]); }
  int64_t blocks() const { return kernel.launch.grid[0]; }
};

bool Overlap(const Program& program, const std::vector<int>& a,
             const std::vector<int>& b) {
  return std::ranges::any_of(a, [&](int x) {
    return std::ranges::any_of(
        b, [&](int y) { return program.Root(x) == program.Root(y); });
  });
}

// Returns whether one of them writes what the other one uses.
bool Depend(const Program& program, const Step& a, const Step& b) {
  return Overlap(program, a.outputs, b.operands()) ||
         Overlap(program, a.inputs, b.outputs);
}

class LaunchPlanning {
 public:
  LaunchPlanning(const Program& program, const Target& target,
                 AlignmentOf alignment)
      : program_(program), target_(target), alignment_(std::move(alignment)) {}

  std::optional<DevicePlan> Run(std::span<const Step* const> steps) {
    std::set<int> operands;
    for (const Step* step : steps) {
      AddToParts(step);
      for (const int b : step->operands()) operands.insert(b);
    }
    if (operands.size() > kMostOperands) return std::nullopt;
    for (Part& part : parts_) {
      if (!Plan(part)) return std::nullopt;
    }
    if (!ShareThreads()) return std::nullopt;
    return Whole();
  }

 private:
  // A step that needs two parts joins them, which no kernel can.
  void AddToParts(const Step* step) {
    Part joined;
    std::erase_if(parts_, [&](Part& part) {
      const bool needs = std::ranges::any_of(part.steps, [&](const Step* s) {
        return Depend(program_, *s, *step);
      });
      if (needs)
        std::ranges::copy(part.steps, std::back_inserter(joined.steps));
      return needs;
    });
    joined.steps.push_back(step);
    parts_.push_back(std::move(joined));
  }

  bool Plan(Part& part, int task_threads = kTaskThreads) {
    if (part.steps.size() == 2) {
      auto plan = PlanChannels(program_, *part.steps[0], *part.steps[1],
                               target_, alignment_);
      if (!plan) return false;
      part.kernel = std::move(*plan);
      return true;
    }
    if (part.steps.size() != 1) return false;
    part.operands = part.steps[0]->operands();
    std::string alignments;
    for (const int b : part.operands) alignments += alignment_(b);
    StepKernel kernel =
        PlanStep(program_, *part.steps[0], target_, alignments, task_threads);
    part.any_threads = kernel.any_threads;
    part.kernel = std::move(kernel.kernel);
    return part.kernel.scratch_bytes == 0;
  }

  // As many as the largest block has. The others' blocks must need most of
  // theirs, and products all of them: they need the registers, too, of which a
  // block has 65536 and a thread at most 255.
  bool ShareThreads() {
    for (const Part& part : parts_) {
      if (!part.any_threads) threads_ = std::max(threads_, part.threads());
    }
    if (threads_ == 0) threads_ = kTaskThreads;
    int64_t blocks = 0;
    for (Part& part : parts_) {
      if (part.any_threads) Plan(part, threads_);
      const bool is_product = part.steps[0]->contraction() != nullptr;
      const int least = is_product && HasChannels() ? threads_ : threads_ / 4;
      if (part.threads() < least) return false;
      constexpr int kMostOfProducts = 256;
      if (is_product && threads_ > std::max(part.threads(), kMostOfProducts)) {
        return false;
      }
      blocks += part.blocks();
      shared_bytes_ = std::max(shared_bytes_, part.kernel.launch.shared_bytes);
    }
    return blocks < kMostBlocks;
  }

  bool HasChannels() const {
    return std::ranges::any_of(
        parts_, [](const Part& part) { return part.steps.size() == 2; });
  }

  DevicePlan Whole() {
    DevicePlan plan;
    plan.tasks = 0;
    for (const Part& part : parts_) {
      plan.tasks += part.blocks();
      plan.nanoseconds += part.kernel.nanoseconds;  // of shared sums
    }
    plan.launch = LaunchOf(plan.tasks, threads_, shared_bytes_);
    for (Part& part : parts_) part.steps.clear();  // they do not live on
    plan.emit = [parts = std::move(parts_),
                 threads = threads_](DeviceFunction& kernel) {
      kernel.SetBlock(threads);
      EmitParts(kernel, parts, threads, 0);
    };
    return plan;
  }

  // A block finds its part by halves.
  static void EmitParts(DeviceFunction& kernel, std::span<const Part> parts,
                        int threads, int64_t first) {
    auto& b = kernel.b();
    if (parts.size() == 1) {
      Value* own = b.CreateSub(kernel.Block(), kernel.Word(first));
      return EmitPart(kernel, parts[0], threads, own);
    }
    const auto before = parts.first(parts.size() / 2);
    int64_t middle = first;
    for (const Part& part : before) middle += part.blocks();
    kernel.If(
        b.CreateICmpULT(kernel.Block(), kernel.Word(middle)),
        [&] { EmitParts(kernel, before, threads, first); },
        [&] {
          EmitParts(kernel, parts.subspan(before.size()), threads, middle);
        });
  }

  // Threads that a part does not need end at once: nobody waits for them.
  static void EmitPart(DeviceFunction& kernel, const Part& part, int threads,
                       Value* block) {
    const auto emit = [&] {
      kernel.WithBlock(block, [&] {
        if (part.operands.empty()) return part.kernel.emit(kernel);
        kernel.WithOperands(part.operands, [&] { part.kernel.emit(kernel); });
      });
    };
    if (part.threads() == threads) return emit();
    kernel.If(
        kernel.b().CreateICmpULT(kernel.Thread(), kernel.Word(part.threads())),
        emit);
  }

  const Program& program_;
  const Target& target_;
  const AlignmentOf alignment_;
  std::vector<Part> parts_;
  int threads_ = 0;
  uint32_t shared_bytes_ = 0;
};

}  // namespace

DevicePlan PlanLaunch(const Launch& launch, const Target& target,
                      const std::string& alignments) {
  Steps steps;
  for (const Step& step : launch.inside->steps) steps.push_back(&step);
  auto plan = LaunchPlanning(*launch.inside, target, [&](int b) {
                return alignments[b];
              }).Run(steps);
  MXC_CHECK(plan, "steps that the catalog lets run at once have no kernel");
  return std::move(*plan);
}

bool RunAtOnce(const Program& program, std::span<const Step* const> steps,
               const Target& target) {
  const bool of_library = std::ranges::any_of(
      steps, [&](const Step* step) { return IsOfLibrary(program, *step); });
  if (of_library) return false;
  return LaunchPlanning(program, target, [](int) { return 'e'; })
      .Run(steps)
      .has_value();
}

}  // namespace mxc
