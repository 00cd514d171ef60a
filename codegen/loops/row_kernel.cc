// SPDX-License-Identifier: Apache-2.0
#include "codegen/loops/row_kernel.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "codegen/llvm/alias_scopes.h"
#include "codegen/llvm/expr_emitter.h"
#include "codegen/loops/fetch_lines.h"
#include "ir/program/in_place.h"
#include "ir/program/steps/row_update.h"
#include "ir/support/check.h"

namespace mxc {
namespace {

using llvm::Value;

constexpr int64_t kElementsOfTask = 8192, kMostTasks = 64;
// A row is not where the one before it was; then an element follows the other.
constexpr double kNanosecondsOfRow = 60, kNanosecondsOfElement = 0.5;

struct RowKernel {
  RowUpdate update;
  std::vector<DType> dtypes;  // of the operands, outputs last
  std::vector<Layout> layouts;
  std::vector<int> roots;
  std::vector<size_t> copied;  // outputs that do not lie over what they were
  Shape shape;
  int first_output = 0;
  int lanes = 1;
  int64_t tasks = 1;
  int64_t slots_ahead = 0;  // whose rows are fetched; 0: none are
};

class RowEmitter {
 public:
  RowEmitter(KernelFunction& kernel, const RowKernel& plan)
      : kernel_(kernel),
        plan_(plan),
        emitter_(kernel, OperandsOf(kernel, plan), plan.lanes) {
    DeclareIndices();
  }

  void Run() {
    if (!plan_.copied.empty()) CopyRows();
    kernel_.Loop(Share(kernel_.begin()), Share(kernel_.end()), 1,
                 [&](Value* slot) {
                   const ExprEmitter::Scope scope(emitter_);
                   if (plan_.slots_ahead > 0) FetchAhead(slot);
                   emitter_.SetValue(indices_.back(), slot);
                   EmitSlot();
                 });
  }

 private:
  struct Written {
    int output;
    Expr value;  // in address form
  };

  static std::vector<EmitOperand> OperandsOf(KernelFunction& kernel,
                                             const RowKernel& plan) {
    std::vector<EmitOperand> operands;
    for (size_t i = 0; i < plan.dtypes.size(); ++i) {
      operands.push_back({kernel.operand(static_cast<int>(i)), plan.dtypes[i],
                          plan.layouts[i]});
    }
    SeparateByRoots(kernel, plan.roots, operands);
    return operands;
  }

  // The tensor's axes, of which the last has the lanes, then the slots.
  void DeclareIndices() {
    const int rank = plan_.shape.rank();
    for (int axis = 0; axis < rank; ++axis) {
      const Interval range{0, plan_.shape[axis] - 1};
      const bool lanes = plan_.lanes > 1 && axis == rank - 1;
      indices_.push_back(lanes ? emitter_.DeclareLanes(range)
                               : emitter_.Declare(range));
    }
    indices_.push_back(emitter_.Declare({0, plan_.update.slots - 1}));
    emitter_.SetIndices(indices_);
    row_ = emitter_.FormOf(plan_.update.row);
    for (size_t i = 0; i < plan_.update.changes.size(); ++i) {
      const RowUpdate::Change& change = plan_.update.changes[i];
      const int output = plan_.first_output + static_cast<int>(i);
      next_.push_back({output, emitter_.FormOf(change.next)});
    }
    for (const size_t i : plan_.copied) {
      const int output = plan_.first_output + static_cast<int>(i);
      kept_.push_back({output, emitter_.FormOf(plan_.update.changes[i].keep)});
    }
  }

  // The first slot of a task of the kernel.
  Value* Share(Value* task) {
    auto& builder = kernel_.b();
    if (plan_.tasks == plan_.update.slots) return task;
    return builder.CreateUDiv(
        builder.CreateMul(task, kernel_.Int(plan_.update.slots)),
        kernel_.Int(plan_.tasks));
  }

  // By the only task.
  void CopyRows() {
    kernel_.Loop(kernel_.Int(0), kernel_.Int(plan_.shape[0]), 1,
                 [&](Value* row) { EmitRow(row, kept_); });
  }

  // What a later slot changes. The last ones ask for the last one's again.
  void FetchAhead(Value* slot) {
    auto& builder = kernel_.b();
    const ExprEmitter::Scope scope(emitter_);
    const auto least = [&](Value* a, int64_t b) {
      return builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, a,
                                           kernel_.Int(b));
    };
    Value* later = builder.CreateAdd(slot, kernel_.Int(plan_.slots_ahead));
    emitter_.SetValue(indices_.back(), least(later, plan_.update.slots - 1));
    Value* row = least(emitter_.EmitForm(row_), plan_.shape[0] - 1);
    const int64_t length = plan_.shape.elements() / plan_.shape[0];
    for (const Written& one : next_) {
      const EmitOperand& operand = emitter_.operand(one.output);
      const int64_t bytes = length * SizeOf(operand.dtype);
      FetchLines(kernel_, kernel_.ElementAddress(operand.base, row, bytes),
                 bytes, /*to_write=*/true);
    }
    emitter_.ClearValue(indices_.back());
  }

  void EmitSlot() {
    auto& builder = kernel_.b();
    Value* row = emitter_.EmitForm(row_);
    Value* named = builder.CreateICmpULT(row, kernel_.Int(plan_.shape[0]));
    kernel_.If(named, [&] { EmitRow(row, next_); });
  }

  void EmitRow(Value* row, const std::vector<Written>& written) {
    const ExprEmitter::Scope scope(emitter_);
    emitter_.SetValue(indices_[0], row);
    EmitAxis(1, written);
    emitter_.ClearValue(indices_[0]);
  }

  void EmitAxis(int axis, const std::vector<Written>& written) {
    const int rank = plan_.shape.rank();
    if (axis == rank) return EmitElements(written);
    if (plan_.lanes > 1 && axis == rank - 1) return EmitLanes(written);
    const Expr& index = indices_[static_cast<size_t>(axis)];
    kernel_.Loop(kernel_.Int(0), kernel_.Int(plan_.shape[axis]), 1,
                 [&](Value* i) {
                   const ExprEmitter::Scope scope(emitter_);
                   emitter_.SetValue(index, i);
                   EmitAxis(axis + 1, written);
                 });
    emitter_.ClearValue(index);
  }

  void EmitLanes(const std::vector<Written>& written) {
    const int64_t extent = plan_.shape[plan_.shape.rank() - 1];
    const int64_t end = extent / plan_.lanes * plan_.lanes;
    kernel_.Loop(kernel_.Int(0), kernel_.Int(end), plan_.lanes, [&](Value* i) {
      const ExprEmitter::Scope scope(emitter_);
      emitter_.SetLaneBase(i);
      EmitElements(written);
    });
    emitter_.SetLaneBase(nullptr);
    if (end == extent) return;
    kernel_.Loop(kernel_.Int(end), kernel_.Int(extent), 1, [&](Value* i) {
      emitter_.EnterScalar(i);
      EmitElements(written);
      emitter_.LeaveScalar();
    });
  }

  // All values of an element before any of them is written.
  void EmitElements(const std::vector<Written>& written) {
    std::vector<Value*> values;
    for (const Written& one : written) {
      values.push_back(plan_.lanes > 1 ? emitter_.EmitFormLanes(one.value)
                                       : emitter_.EmitForm(one.value));
    }
    for (size_t i = 0; i < written.size(); ++i) {
      emitter_.Store(written[i].output, values[i], written[i].value->dtype);
    }
  }

  KernelFunction& kernel_;
  const RowKernel& plan_;
  ExprEmitter emitter_;
  std::vector<Expr> indices_;
  Expr row_;
  std::vector<Written> next_, kept_;
};

// The widest vectors that a row has.
int LanesOf(const RowKernel& kernel, const Machine& machine,
            const Dealing& dealing) {
  if (kernel.shape.rank() < 2) return 1;
  const int64_t length = kernel.shape[kernel.shape.rank() - 1];
  int lanes = dealing.lanes(machine, kernel.dtypes);
  while (lanes > length) lanes /= 2;
  return lanes;
}

int64_t TasksOf(const RowKernel& kernel, const Dealing& dealing) {
  // A copy runs before all slots.
  if (!kernel.copied.empty()) return 1;
  const int64_t slots = kernel.update.slots;
  if (dealing.one_task_each) return slots;
  const int64_t length = kernel.shape.elements() / kernel.shape[0];
  const double elements =
      static_cast<double>(slots) * static_cast<double>(length);
  const double wanted = std::clamp(elements / kElementsOfTask, 1.0,
                                   static_cast<double>(kMostTasks));
  return std::min(slots, static_cast<int64_t>(wanted));
}

// Of rows that lie one after the other.
int64_t SlotsAhead(const RowKernel& kernel, const Target& target,
                   const Dealing& dealing) {
  if (dealing.fetches_rows == nullptr || !dealing.fetches_rows(target))
    return 0;
  int64_t widest = 0;
  for (size_t o = static_cast<size_t>(kernel.first_output);
       o < kernel.dtypes.size(); ++o) {
    if (!kernel.layouts[o].row_major()) return 0;
    widest = std::max(widest, SizeOf(kernel.dtypes[o]));
  }
  return RowsToFetchAhead(
      kernel.shape.elements() / kernel.shape[0] * widest,
      static_cast<int64_t>(kernel.dtypes.size()) - kernel.first_output);
}

}  // namespace

FunctionPlan PlanRows(const Program& program, const Step& step,
                      const Target& target, const Dealing& dealing) {
  const RowUpdate* update = step.body.As<RowUpdate>();
  MXC_CHECK(update != nullptr, "step '{}'", step.name);
  auto kernel = std::make_shared<RowKernel>();
  kernel->update = *update;
  kernel->first_output = static_cast<int>(step.inputs.size());
  kernel->shape = program.buffers[step.outputs[0]].type.shape;
  for (const int operand : step.operands()) {
    kernel->dtypes.push_back(program.buffers[operand].type.dtype);
    kernel->layouts.push_back(program.buffers[operand].layout);
    kernel->roots.push_back(program.Root(operand));
  }
  for (size_t i = 0; i < update->changes.size(); ++i) {
    const auto keep = static_cast<size_t>(update->changes[i].keep->index);
    if (!HaveSameBytes(program, step.inputs[keep], step.outputs[i])) {
      kernel->copied.push_back(i);
    }
  }
  kernel->lanes = LanesOf(*kernel, target.machine, dealing);
  kernel->tasks = TasksOf(*kernel, dealing);
  kernel->slots_ahead = SlotsAhead(*kernel, target, dealing);
  FunctionPlan plan;
  plan.tasks = kernel->tasks;
  const auto length =
      static_cast<double>(kernel->shape.elements() / kernel->shape[0]);
  plan.nanoseconds =
      static_cast<double>(update->slots * std::ssize(update->changes)) *
          (kNanosecondsOfRow + length * kNanosecondsOfElement) +
      static_cast<double>(kernel->shape.elements() *
                          std::ssize(kernel->copied)) *
          kNanosecondsOfElement;
  plan.emit = [kernel](KernelFunction& function) {
    RowEmitter(function, *kernel).Run();
  };
  return plan;
}

}  // namespace mxc
