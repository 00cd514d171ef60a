// SPDX-License-Identifier: Apache-2.0
#include "codegen/loops/scatter_kernel.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "codegen/llvm/arithmetic.h"
#include "codegen/llvm/expr_emitter.h"
#include "ir/program/scatter_sum.h"
#include "ir/program/steps/map.h"

namespace mxc {
namespace {

using llvm::Value;

struct ScatterKernel {
  std::vector<DType> dtypes;  // of the operands, the output last
  std::vector<Layout> layouts;
  Shape shape;  // of the output
  ScatterSum sum;
  int lane_axis = -1;      // the last axis, where lanes share their position
  std::vector<int> dealt;  // axes, outermost first: neither lanes nor scattered
  ScatterGrid grid;

  int output() const { return static_cast<int>(dtypes.size()) - 1; }
};

class ScatterEmitter {
 public:
  ScatterEmitter(KernelFunction& kernel, const ScatterKernel& scatter)
      : kernel_(kernel),
        scatter_(scatter),
        emitter_(kernel, OperandsOf(kernel, scatter), scatter.grid.lanes) {
    DeclareIndices();
  }

  void Run() {
    auto& builder = kernel_.b();
    const auto share = [&](Value* task) {
      return builder.CreateUDiv(
          builder.CreateMul(task, kernel_.Int(scatter_.grid.points())),
          kernel_.Int(scatter_.grid.tasks));
    };
    kernel_.Loop(share(kernel_.begin()), share(kernel_.end()), 1,
                 [&](Value* point) {
                   const ExprEmitter::Scope scope(emitter_);
                   EmitPoint(point);
                 });
  }

 private:
  static std::vector<EmitOperand> OperandsOf(KernelFunction& kernel,
                                             const ScatterKernel& scatter) {
    std::vector<EmitOperand> operands;
    for (size_t i = 0; i < scatter.dtypes.size(); ++i) {
      operands.push_back({kernel.operand(static_cast<int>(i)),
                          scatter.dtypes[i], scatter.layouts[i]});
    }
    return operands;
  }

  // Index variables: the output's axes, then the reduction's ranges.
  void DeclareIndices() {
    std::vector<Expr> indices;
    for (int axis = 0; axis < scatter_.shape.rank(); ++axis) {
      const Interval range{0, scatter_.shape[axis] - 1};
      indices.push_back(axis == scatter_.lane_axis
                            ? emitter_.DeclareLanes(range)
                            : emitter_.Declare(range));
    }
    std::vector<int> vars;
    for (const Range& range : scatter_.sum.ranges) {
      indices.push_back(
          emitter_.Declare({static_cast<int64_t>(range.begin->number),
                            static_cast<int64_t>(range.end->number) - 1}));
      vars.push_back(range.var);
    }
    const auto renamed = [&](const Expr& e) {
      return SubstituteVars(e, [&](int var) -> Expr {
        const auto at = std::ranges::find(vars, var);
        if (at == vars.end()) return {};
        return Var(scatter_.shape.rank() + static_cast<int>(at - vars.begin()));
      });
    };
    emitter_.SetIndices(indices);
    indices_ = indices;
    std::vector<Expr> own;
    for (int axis = 0; axis < scatter_.shape.rank(); ++axis) {
      own.push_back(Var(axis));
    }
    const DType dtype = scatter_.sum.value->dtype;
    position_ = emitter_.FormOf(renamed(scatter_.sum.position));
    sum_ = emitter_.FormOf(Load(scatter_.output(), dtype, own) +
                           renamed(scatter_.sum.value));
  }

  const Expr& Index(int axis) const {
    return indices_[static_cast<size_t>(axis)];
  }

  // The part of the output that belongs to one point of the grid.
  void EmitPoint(Value* point) {
    auto& builder = kernel_.b();
    const auto next = [&](int64_t extent) {
      Value* coordinate = builder.CreateURem(point, kernel_.Int(extent));
      point = builder.CreateUDiv(point, kernel_.Int(extent));
      return coordinate;
    };
    const ScatterGrid& grid = scatter_.grid;
    Value* column_chunk = next(grid.column_chunks());
    Value* row_chunk = next(grid.row_chunks());
    for (size_t k = scatter_.dealt.size(); k-- > 0;) {
      const int axis = scatter_.dealt[k];
      emitter_.SetValue(Index(axis), next(scatter_.shape[axis]));
    }
    lanes_ = {kernel_.Int(0), kernel_.Int(1)};
    if (scatter_.lane_axis >= 0) {
      lanes_ = PartOf(grid.columns, column_chunk, grid.column_chunk);
    }
    rows_ = PartOf(grid.rows, row_chunk, grid.row_chunk);
    const DType dtype = scatter_.sum.value->dtype;
    const Expr row = Index(scatter_.sum.axis);
    kernel_.Loop(rows_.from, rows_.to, 1, [&](Value* i) {
      const ExprEmitter::Scope scope(emitter_);
      emitter_.SetValue(row, i);
      EmitRow([&] {
        Value* zero = EmitConstant(kernel_, 0, dtype);
        emitter_.Store(scatter_.output(), zero, dtype);
      });
    });
    emitter_.ClearValue(row);
    EmitRange(0);
  }

  struct Part {
    Value *from = nullptr, *to = nullptr;
  };
  // Of an axis that is cut into chunks.
  Part PartOf(int64_t extent, Value* number, int64_t chunk) {
    auto& builder = kernel_.b();
    if (chunk >= extent) return {kernel_.Int(0), kernel_.Int(extent)};
    Value* from = builder.CreateMul(number, kernel_.Int(chunk));
    Value* to = builder.CreateAdd(from, kernel_.Int(chunk));
    return {from, builder.CreateBinaryIntrinsic(llvm::Intrinsic::smin, to,
                                                kernel_.Int(extent))};
  }

  void EmitRange(size_t k) {
    if (k == scatter_.sum.ranges.size()) return EmitAddition();
    const Range& range = scatter_.sum.ranges[k];
    const Expr var = indices_[static_cast<size_t>(scatter_.shape.rank()) + k];
    kernel_.Loop(kernel_.Int(static_cast<int64_t>(range.begin->number)),
                 kernel_.Int(static_cast<int64_t>(range.end->number)), 1,
                 [&](Value* i) {
                   const ExprEmitter::Scope scope(emitter_);
                   emitter_.SetValue(var, i);
                   EmitRange(k + 1);
                 });
    emitter_.ClearValue(var);
  }

  void EmitAddition() {
    auto& builder = kernel_.b();
    Value* at = emitter_.EmitForm(position_);
    Value* in_part = builder.CreateSub(at, rows_.from);
    Value* extent = builder.CreateSub(rows_.to, rows_.from);
    const DType dtype = scatter_.sum.value->dtype;
    const Expr row = Index(scatter_.sum.axis);
    // Positions elsewhere are another task's, or nobody's.
    kernel_.If(builder.CreateICmpULT(in_part, extent), [&] {
      const ExprEmitter::Scope scope(emitter_);
      emitter_.SetValue(row, at);
      EmitRow([&] {
        emitter_.Store(scatter_.output(), emitter_.EmitForm(sum_), dtype);
      });
      emitter_.ClearValue(row);
    });
  }

  // `body` for all lanes of the point, vector by vector.
  void EmitRow(const std::function<void()>& body) {
    if (scatter_.lane_axis < 0) return body();
    auto& builder = kernel_.b();
    const int64_t lanes = scatter_.grid.lanes;
    Value* vectors = builder.CreateSDiv(
        builder.CreateSub(lanes_.to, lanes_.from), kernel_.Int(lanes));
    Value* end = builder.CreateAdd(
        lanes_.from, builder.CreateMul(vectors, kernel_.Int(lanes)));
    kernel_.Loop(lanes_.from, end, lanes, [&](Value* i) {
      const ExprEmitter::Scope scope(emitter_);
      emitter_.SetLaneBase(i);
      body();
    });
    emitter_.SetLaneBase(nullptr);
    kernel_.Loop(end, lanes_.to, 1, [&](Value* i) {
      emitter_.EnterScalar(i);
      body();
      emitter_.LeaveScalar();
    });
  }

  KernelFunction& kernel_;
  const ScatterKernel& scatter_;
  ExprEmitter emitter_;
  std::vector<Expr> indices_;
  Expr position_, sum_;
  Part lanes_, rows_;  // of the point, along the lane and the scattered axis
};

// Which axis has the lanes, if one can, and which are dealt whole.
void ChooseAxes(const Machine& machine, ScatterKernel& scatter) {
  const Shape& shape = scatter.shape;
  ScatterGrid& grid = scatter.grid;
  grid.rows = shape[scatter.sum.axis];
  grid.element_bytes = SizeOf(scatter.dtypes.back());
  const int last = shape.rank() - 1;
  const int64_t native = machine.vector_bytes / grid.element_bytes;
  if (last != scatter.sum.axis && shape[last] >= native &&
      !UsesVar(scatter.sum.position, last)) {
    scatter.lane_axis = last;
    grid.lanes = static_cast<int>(native);
    grid.columns = shape[last];
  }
  for (int axis = 0; axis <= last; ++axis) {
    if (axis == scatter.sum.axis || axis == scatter.lane_axis) continue;
    scatter.dealt.push_back(axis);
    grid.others *= shape[axis];
  }
  for (const Range& range : scatter.sum.ranges) {
    grid.positions *=
        static_cast<int64_t>(range.end->number - range.begin->number);
  }
}

}  // namespace

std::optional<FunctionPlan> PlanScatter(const Program& program,
                                        const Step& step, const Target& target,
                                        const Dealing& dealing) {
  if (step.outputs.size() != 1 || step.map()->stores.size() != 1) {
    return std::nullopt;
  }
  const Buffer& output = program.buffers[step.outputs[0]];
  const Shape& shape = output.type.shape;
  auto sum = MatchScatterSum(step.map()->stores[0], shape);
  const bool in_place = std::ranges::any_of(step.inputs, [&](int input) {
    return program.Root(input) == program.Root(step.outputs[0]);
  });
  if (!sum || in_place || !output.layout.row_major() ||
      output.type.dtype != sum->value->dtype) {
    return std::nullopt;
  }
  auto scatter = std::make_shared<ScatterKernel>();
  for (const std::vector<int>* list : {&step.inputs, &step.outputs}) {
    for (const int id : *list) {
      scatter->dtypes.push_back(program.buffers[id].type.dtype);
      scatter->layouts.push_back(program.buffers[id].layout);
    }
  }
  scatter->shape = shape;
  scatter->sum = std::move(*sum);
  ChooseAxes(target.machine, *scatter);
  dealing.deal_scatter(target, scatter->grid);
  FunctionPlan plan;
  plan.tasks = scatter->grid.tasks;
  plan.emit = [scatter](KernelFunction& kernel) {
    ScatterEmitter(kernel, *scatter).Run();
  };
  return plan;
}

}  // namespace mxc
