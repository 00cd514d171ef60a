// SPDX-License-Identifier: Apache-2.0
// choose-layouts: on a device each value is row-major or has its channels last,
// whichever makes the whole program cheapest.
//
//   x ─► conv0 ─► bn ─► conv1 ─► y              row-major throughout
//
//   x ─► copy ─► conv0 ─► bn ─► conv1 ─► y
//    rows     last     last  last      rows
//
//  Each step and each value is a question: channels last? A convolution answers
//  at the cost of its best kernel of that form, a step with long reductions at
//  what the catalog says, others for nothing. A value that a step wants otherwise
//  costs a copy of it, or one side of the step that is read or written across.
//  What the caller owns stays row-major. The cheapest answers together are a
//  minimum cut (least_cut.h).
//
//  Where a kernel still needs another layout, a copy is inserted: one for each
//  buffer and layout. Constants are laid out in the artifact.
#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "ir/program/steps/contraction.h"
#include "passes/aligned_axes.h"
#include "passes/dead_code.h"
#include "passes/free_layouts.h"
#include "passes/kernel_demands.h"
#include "passes/kernel_seconds.h"
#include "passes/layout_copies.h"
#include "passes/least_cut.h"
#include "passes/passes.h"

namespace mxc {
namespace {

constexpr int kNone = -1;
// One launch more must save the time of so many: the device runs empty before
// it and fills up after it, and what shared it reads memory again.
constexpr double kLaunchesSaved = 10;
// Copies of what backward needs again are often made again.
constexpr double kCopyLaunches = 2;

class LayoutChoice {
 public:
  LayoutChoice(Program& program, const KernelCatalog& catalog,
               const Machine& machine)
      : program_(program),
        catalog_(catalog),
        machine_(machine),
        free_(BuffersOfAnyLayout(program)),
        axes_(program.buffers.size(), kNone),
        along_(program.steps.size()),
        kernels_(program.steps.size()),
        values_(program.buffers.size(), kNone),
        per_byte_(program.buffers.size(), Forms{}),
        readers_(program.buffers.size(), 0) {}

  // True if it changed something.
  bool Run() {
    for (const Step& step : program_.steps) {
      if (!step.view) continue;
      for (const int b : step.operands()) free_[b] = false;
    }
    for (size_t s = 0; s < program_.steps.size(); ++s) FindKernels(s);
    FindAxes();
    if (std::ranges::all_of(axes_, [](int axis) { return axis == kNone; })) {
      return false;
    }
    for (size_t s = 0; s < program_.steps.size(); ++s) Ask(s);
    const std::vector<bool> last = cut_.Answers();
    for (size_t s = 0; s < program_.steps.size(); ++s) {
      if (kernels_[s]) TakeKernel(s, last[kernels_[s]->question]);
    }
    for (size_t b = 0; b < values_.size(); ++b) {
      if (values_[b] == kNone || !free_[b] || !last[values_[b]]) continue;
      program_.buffers[b].layout = LastOf(b);
      changed_ = true;
    }
    return changed_;
  }

 private:
  // A contraction's best kernels: row-major, and channels last.
  struct Kernels {
    std::array<std::optional<KernelCandidate>, 2> forms;
    int question = kNone;
  };

  // A number for the row-major form, and one for that with channels last.
  using Forms = std::array<double, 2>;

  const Step& StepOf(size_t s) const { return program_.steps[s]; }

  static bool IsLast(const KernelCandidate& kernel) {
    return kernel.data_block == kWholeAxis ||
           kernel.weight_block == kWholeAxis ||
           kernel.output_block == kWholeAxis;
  }

  void FindKernels(size_t s) {
    const Step& step = StepOf(s);
    const ContractionStep* body = step.contraction();
    if (body == nullptr || body->choice.algorithm.empty()) return;
    const bool constant =
        program_.buffers[step.inputs[1]].kind == BufferKind::kConstant;
    const auto seconds = [&](const KernelCandidate& kernel) {
      return KernelSeconds(kernel, constant);
    };
    Kernels kernels;
    for (KernelCandidate& each : catalog_.Candidates(body->contraction)) {
      auto& best = kernels.forms[IsLast(each) ? 1 : 0];
      const bool chosen = each.choice == body->choice;
      const bool fits = each.parts == 0 && !each.flipped_weight &&
                        catalog_.Finishes(program_, step, each);
      if (!chosen && (!fits || (best && seconds(*best) <= seconds(each)))) {
        continue;
      }
      if (best && best->choice == body->choice) continue;
      best = std::move(each);
    }
    if (!kernels.forms[1]) return;  // as the kernel asks
    for (const int b : {step.inputs[0], step.inputs[1]}) ++readers_[b];
    const KernelCandidate& last = *kernels.forms[1];
    const auto set = [&](int buffer, int64_t block, int axis) {
      if (block == kWholeAxis) axes_[buffer] = axis;
    };
    set(step.inputs[0], last.data_block, last.data_axis);
    set(step.inputs[1], last.weight_block, last.weight_axis);
    set(step.outputs[0], last.output_block, last.output_axis);
    kernels_[s] = std::move(kernels);
  }

  // From the kernels along the steps between them, forwards and backwards.
  void FindAxes() {
    const auto pass_on = [&](size_t s) {
      for (const AlignedAxes& a : along_[s]) {
        int &read = axes_[a.read], &written = axes_[a.written];
        if (read == a.read_axis && written == kNone) written = a.written_axis;
        if (written == a.written_axis && read == kNone) read = a.read_axis;
      }
    };
    for (size_t s = 0; s < along_.size(); ++s) {
      along_[s] = AlignedAxesOf(program_, StepOf(s));
      pass_on(s);
    }
    for (size_t s = along_.size(); s-- > 0;) pass_on(s);
    for (size_t s = 0; s < along_.size(); ++s) pass_on(s);
  }

  Layout LastOf(size_t b) const {
    return Layout::AxisLast(program_.buffers[b].type.shape, axes_[b]);
  }

  // The value's question; none where both layouts are the same.
  int Value(int b) {
    if (axes_[b] == kNone || LastOf(b).row_major()) return kNone;
    if (values_[b] == kNone) {
      values_[b] = cut_.AddQuestion();
      if (!free_[b]) cut_.Price(values_[b], 0, LeastCut::kNever);
    }
    return values_[b];
  }

  double BytesOf(int b) const {
    return static_cast<double>(program_.buffers[b].bytes());
  }

  void Ask(size_t s) {
    if (kernels_[s]) return AskKernel(s);
    std::set<int> aligned;
    for (const AlignedAxes& a : along_[s]) {
      if (IsAligned(a)) aligned.insert({a.read, a.written});
    }
    std::erase_if(aligned, [&](int b) { return Value(b) == kNone; });
    if (aligned.empty()) return;
    const int question = cut_.AddQuestion();
    for (const int b : aligned) {
      // Read or written across, and what shares its launch does not any more.
      cut_.PriceDifference(
          question, Value(b),
          BytesOf(b) / machine_.stream_bytes_per_second + LaunchOf(b));
    }
    const Forms seconds = SecondsOf(s, aligned);
    cut_.Price(question, seconds[0], seconds[1]);
  }

  bool IsAligned(const AlignedAxes& a) const {
    return axes_[a.read] == a.read_axis && axes_[a.written] == a.written_axis;
  }

  // A step with long sums takes the seconds that the catalog says; one that
  // goes on with them, whose blocks are the same, takes its bytes' at that
  // rate.
  Forms SecondsOf(size_t s, const std::set<int>& aligned) {
    double bytes = 0;
    for (const int b : aligned) bytes += BytesOf(b);
    Forms seconds = {SecondsWith(s, {}), SecondsWith(s, aligned)};
    if (seconds[0] > 0 || seconds[1] > 0) {
      for (const int b : StepOf(s).outputs) {
        per_byte_[b] = {seconds[0] / bytes, seconds[1] / bytes};
      }
    }
    for (const int form : {0, 1}) {
      for (const int b : StepOf(s).inputs) {
        seconds[form] = std::max(seconds[form], bytes * per_byte_[b][form]);
      }
      seconds[form] =
          std::max(seconds[form], bytes / machine_.busy_l3_bytes_per_second);
    }
    return seconds;
  }

  // Copies of small weights are launched together.
  double LaunchOf(int b) const {
    const Buffer& buffer = program_.buffers[b];
    return buffer.kind == BufferKind::kInternal ||
                   buffer.bytes() > machine_.grouped_step_bytes
               ? kLaunchesSaved * machine_.launch_seconds
               : 0;
  }

  // The seconds of the step while those operands have their channels last.
  double SecondsWith(size_t s, const std::set<int>& last) {
    for (const int b : last) program_.buffers[b].layout = LastOf(b);
    const Step& step = StepOf(s);
    const double seconds =
        step.map() != nullptr ? catalog_.KernelSeconds(program_, step) : 0;
    for (const int b : last) {
      Buffer& buffer = program_.buffers[b];
      buffer.layout = Layout::RowMajor(buffer.type.shape);
    }
    return seconds;
  }

  void AskKernel(size_t s) {
    const Step& step = StepOf(s);
    Kernels& kernels = *kernels_[s];
    kernels.question = cut_.AddQuestion();
    double memory = 0;
    for (const int b : step.operands()) {
      memory += BytesOf(b) / machine_.busy_l3_bytes_per_second;
    }
    const auto price = [&](const std::optional<KernelCandidate>& kernel) {
      return kernel ? std::max(kernel->cost, memory) : LeastCut::kNever;
    };
    cut_.Price(kernels.question, price(kernels.forms[0]),
               price(kernels.forms[1]));
    const KernelCandidate& last = *kernels.forms[1];
    AskOperand(kernels, step.inputs[0], last.data_block);
    AskOperand(kernels, step.inputs[1], last.weight_block);
    if (!last.any_output) {
      AskOperand(kernels, step.outputs[0], last.output_block);
    }
    // Operands that the epilogue reads across.
    for (const AlignedAxes& a : along_[s]) {
      if (!IsAligned(a)) continue;
      const int read = Value(a.read), written = Value(a.written);
      if (read == kNone || written == kNone) continue;
      cut_.PriceDifference(read, written,
                           BytesOf(a.read) / machine_.stream_bytes_per_second);
    }
  }

  // A kernel that finds the operand otherwise than it needs it takes a copy;
  // constants are laid out before.
  void AskOperand(const Kernels& kernels, int b, int64_t block_of_last) {
    const int value = Value(b);
    if (value == kNone || program_.buffers[b].kind == BufferKind::kConstant) {
      return;
    }
    const double copy = (2 * BytesOf(b) / machine_.stream_bytes_per_second +
                         kCopyLaunches * LaunchOf(b)) /
                        std::max(1, readers_[b]);
    if (block_of_last == kWholeAxis) {
      cut_.PriceDifference(kernels.question, value, copy);
    } else {
      cut_.Price(value, 0, copy);  // row-major in both forms
    }
  }

  void TakeKernel(size_t s, bool last) {
    KernelChoice& choice = program_.steps[s].contraction()->choice;
    const KernelCandidate& kernel = *kernels_[s]->forms[last ? 1 : 0];
    if (choice == kernel.choice) return;
    choice = kernel.choice;
    program_.steps[s].scratch_bytes = kernel.scratch_bytes;
    changed_ = true;
  }

  Program& program_;
  const KernelCatalog& catalog_;
  const Machine& machine_;
  std::vector<bool> free_;  // by buffer: any layout will do
  std::vector<int> axes_;   // by buffer: of its channels
  std::vector<std::vector<AlignedAxes>> along_;  // by step
  std::vector<std::optional<Kernels>> kernels_;
  std::vector<int> values_;  // by buffer: its question
  std::vector<Forms>
      per_byte_;              // by buffer that holds long sums: their seconds
  std::vector<int> readers_;  // by buffer: kernels of both forms
  LeastCut cut_;
  bool changed_ = false;
};

}  // namespace

Result<bool> ChooseLayouts(Program& program, PassContext& context) {
  if (context.catalog == nullptr) return false;
  bool changed =
      LayoutChoice(program, *context.catalog, context.machine()).Run();
  const KernelDemands demands(program, *context.catalog);
  changed |= InsertLayoutCopies(program, demands);
  return RemoveUnusedBuffers(program) || changed;
}

}  // namespace mxc
