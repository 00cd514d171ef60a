// SPDX-License-Identifier: Apache-2.0
#include "codegen/loops/procedure_kernel.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "codegen/llvm/alias_scopes.h"
#include "ir/program/steps/procedure.h"
#include "ir/support/check.h"

namespace mxc {
namespace {

using llvm::Value;

// A task of the kernel takes so many times what it costs to start it.
constexpr double kLaunchesPerKernelTask = 10;
constexpr double kMostKernelTasks = 4096;

struct ProcedureKernel {
  Procedure procedure;
  std::vector<TensorType> types;  // of operands and locals
  std::vector<int> roots;         // operands with equal roots share bytes
  int operands = 0;
  int64_t tasks = 1;  // among which the procedure's are dealt
};

class ProcedureEmitter {
 public:
  ProcedureEmitter(KernelFunction& kernel, const ProcedureKernel& plan)
      : kernel_(kernel),
        plan_(plan),
        emitter_(kernel, OperandsOf(kernel, plan), /*lanes=*/1) {}

  void Run() {
    const int64_t tasks = plan_.procedure.tasks;
    const Expr task = emitter_.Declare({0, tasks - 1});
    indices_ = {task};
    emitter_.SetIndices(indices_);
    kernel_.Loop(Share(kernel_.begin()), Share(kernel_.end()), 1,
                 [&](Value* i) {
                   emitter_.SetValue(task, i);
                   EmitList(plan_.procedure.body);
                 });
  }

 private:
  static std::vector<EmitOperand> OperandsOf(KernelFunction& kernel,
                                             const ProcedureKernel& plan) {
    const std::vector<int64_t> offsets = plan.procedure.ScratchOffsets();
    std::vector<EmitOperand> places;
    for (size_t i = 0; i < plan.types.size(); ++i) {
      const TensorType& type = plan.types[i];
      Value* base = nullptr;
      if (static_cast<int>(i) < plan.operands) {
        base = kernel.operand(static_cast<int>(i));
      } else if (type.shape.rank() == 0) {
        base = kernel.b().CreateAlloca(kernel.MemoryType(type.dtype));
      } else {
        const int64_t offset = offsets[i - static_cast<size_t>(plan.operands)];
        base = kernel.ElementAddress(kernel.scratch(), kernel.Int(offset), 1);
      }
      places.push_back({base, type.dtype, Layout::RowMajor(type.shape)});
    }
    SeparateByRoots(kernel, plan.roots, places);
    return places;
  }

  // The first of the procedure's tasks that belongs to one of the kernel's.
  Value* Share(Value* task) {
    auto& builder = kernel_.b();
    if (plan_.tasks == plan_.procedure.tasks) return task;
    return builder.CreateUDiv(
        builder.CreateMul(task, kernel_.Int(plan_.procedure.tasks)),
        kernel_.Int(plan_.tasks));
  }

  void EmitList(const std::vector<Statement>& list) {
    for (const Statement& s : list) EmitStatement(s);
  }

  void EmitStatement(const Statement& s) {
    switch (s.kind) {
      case Statement::Kind::kStore:
        return EmitStore(s);
      case Statement::Kind::kFor:
        return EmitFor(s);
      case Statement::Kind::kIf:
        return kernel_.If(
            EmitValue(s.value), [&] { EmitList(s.body); },
            [&] { EmitList(s.otherwise); });
      case Statement::Kind::kBreak:
        return leave_();
    }
  }

  // What is emitted for one statement is of no use to the next one, which may
  // find other values in memory.
  Value* EmitValue(const Expr& e) {
    const ExprEmitter::Scope scope(emitter_);
    return emitter_.Emit(e);
  }

  void EmitStore(const Statement& s) {
    const ExprEmitter::Scope scope(emitter_);
    Value* value = emitter_.Emit(s.value);
    const Expr element = emitter_.FormOf(s.target);
    emitter_.StoreAt(element->index,
                     ToAffine(element->args[0], emitter_.ranges()), value,
                     s.value->dtype);
  }

  void EmitFor(const Statement& s) {
    auto& builder = kernel_.b();
    const Expr i = DeclareVariable(s);
    Value* begin = EmitValue(s.begin);
    Value* limit = builder.CreateBinaryIntrinsic(llvm::Intrinsic::sadd_sat,
                                                 begin, kernel_.Int(s.most));
    Value* end = builder.CreateBinaryIntrinsic(llvm::Intrinsic::smin,
                                               EmitValue(s.end), limit);
    indices_.push_back(i);
    emitter_.SetIndices(indices_);
    const KernelFunction::Leave outer = leave_;
    kernel_.Loop(begin, end, [&](Value* value, const auto& leave) {
      leave_ = leave;
      emitter_.SetValue(i, value);
      EmitList(s.body);
    });
    leave_ = outer;
    emitter_.ClearValue(i);
    indices_.pop_back();
    emitter_.SetIndices(indices_);
  }

  // The variable of a loop with what is known of its values.
  Expr DeclareVariable(const Statement& s) {
    const IntervalOf& ranges = emitter_.ranges();
    const auto begin = Bounds(emitter_.FormOf(s.begin), ranges);
    const auto end = Bounds(emitter_.FormOf(s.end), ranges);
    if (!begin) return emitter_.Declare();
    int64_t last = begin->high + s.most - 1;
    if (end) last = std::min(last, end->high - 1);
    return emitter_.Declare({begin->low, std::max(last, begin->low)});
  }

  KernelFunction& kernel_;
  const ProcedureKernel& plan_;
  ExprEmitter emitter_;
  std::vector<Expr> indices_;    // what variables 0, 1, … stand for
  KernelFunction::Leave leave_;  // the innermost loop
};

}  // namespace

FunctionPlan PlanProcedure(const Program& program, const Step& step,
                           const Target& target) {
  const Procedure* procedure = step.body.As<Procedure>();
  MXC_CHECK(procedure != nullptr, "step '{}'", step.name);
  auto kernel = std::make_shared<ProcedureKernel>();
  kernel->procedure = *procedure;
  for (const int operand : step.operands()) {
    kernel->types.push_back(program.buffers[operand].type);
    kernel->roots.push_back(program.Root(operand));
  }
  kernel->operands = static_cast<int>(kernel->types.size());
  for (const TensorType& local : procedure->locals) {
    kernel->roots.push_back(
        static_cast<int>(program.buffers.size() + kernel->types.size()));
    kernel->types.push_back(local);
  }
  const auto grid = static_cast<double>(procedure->tasks);
  const double seconds =
      procedure->MostStatements() * grid / target.machine.statements_per_second;
  const double wanted =
      seconds / (kLaunchesPerKernelTask * target.machine.launch_seconds);
  kernel->tasks = static_cast<int64_t>(
      std::min(grid, std::clamp(wanted, 1.0, kMostKernelTasks)));
  FunctionPlan plan;
  plan.tasks = kernel->tasks;
  plan.scratch_bytes = procedure->ScratchOffsets().back();
  plan.nanoseconds = seconds * 1e9;
  plan.emit = [kernel](KernelFunction& function) {
    ProcedureEmitter(function, *kernel).Run();
  };
  return plan;
}

}  // namespace mxc
