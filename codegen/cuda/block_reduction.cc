// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/block_reduction.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "codegen/cuda/thread_kernel.h"
#include "codegen/llvm/arithmetic.h"
#include "ir/support/division.h"

namespace mxc {
namespace {

using llvm::Value;
using Values = std::vector<Value*>;

class BlockReductionEmitter {
 public:
  BlockReductionEmitter(DeviceFunction& kernel, const BlockReduction& block)
      : kernel_(kernel),
        block_(block),
        shape_(block.shape),
        nest_(block.nest()),
        emitter_(kernel, OperandsOf(kernel, *block.map), block.shape.lanes) {}

  void Run() {
    AlignOperands(kernel_, block_.alignments);
    kernel_.SetBlock(shape_.threads());
    FindPlace();
    BindPoint();
    for (const ReductionPhase& phase : shape_.phases) EmitPhase(phase);
    kernel_.If(valid_, [&] { EmitValues(); });
  }

 private:
  llvm::IRBuilder<>& b() { return kernel_.b(); }
  bool has_lanes() const { return shape_.lanes > 1; }
  const LoopDim& lane() const {
    return nest_.dims[static_cast<size_t>(nest_.lane_dim)];
  }

  // Threads of one warp read what lies side by side.
  void FindPlace() {
    Value* thread = kernel_.Thread();
    Value* fast = kernel_.Word(shape_.rows ? shape_.threads_of_point
                                           : shape_.points_of_block);
    Value* inner = b().CreateURem(thread, fast);
    Value* outer = b().CreateUDiv(thread, fast);
    rank_ = shape_.rows ? inner : outer;
    slot_ = shape_.rows ? outer : inner;
    Value* points = kernel_.Word(shape_.points_of_block);
    point_ = b().CreateAdd(b().CreateMul(kernel_.Block(), points), slot_);
    valid_ = b().getTrue();
    if (shape_.points % shape_.points_of_block == 0) return;
    // Threads beyond the last result compute that.
    Value* last = kernel_.Word(shape_.points - 1);
    valid_ = b().CreateICmpULE(point_, last);
    point_ = b().CreateSelect(valid_, point_, last);
  }

  // Takes `number` apart; the last one gets what is left.
  Value* Next(Value*& number, int64_t extent, bool last = false) {
    return last ? number : kernel_.Next(number, extent);
  }

  void BindPoint() {
    for (const LoopDim& dim : nest_.dims) {
      emitter_.Declare(Var(dim.var), {0, dim.extent - 1});
    }
    Value* number = point_;
    if (!shape_.rows) {
      Value* vector = Next(number, lane().extent / shape_.lanes);
      BindLanes(Var(lane().var), {0, lane().extent - 1},
                b().CreateMul(kernel_.Wide(vector), kernel_.Int(shape_.lanes)));
    }
    for (size_t k = nest_.dims.size(); k-- > 0;) {
      if (static_cast<int>(k) == nest_.lane_dim) continue;
      const LoopDim& dim = nest_.dims[k];
      emitter_.SetValue(Var(dim.var), kernel_.Wide(Next(number, dim.extent)));
    }
  }

  void BindLanes(const Expr& var, Interval interval, Value* base) {
    if (has_lanes()) {
      emitter_.DeclareLanes(var, interval);
      emitter_.SetLaneBase(base, /*whole_vectors=*/true);
    } else {
      emitter_.Declare(var, interval);
      emitter_.SetValue(var, base);
    }
  }

  void EmitPhase(const ReductionPhase& phase) {
    Values sums = OverTerms(phase);
    for (size_t i = 0; i < sums.size(); ++i) {
      const Expr& reduce = phase.reduces[i];
      if (!shape_.warps_share()) continue;
      if (shape_.rows && has_lanes()) {
        sums[i] =
            EmitHorizontal(kernel_, reduce->reduce, reduce->dtype, sums[i]);
      }
      const int last = shape_.rows ? 1 : shape_.points_of_block;
      for (int mask = kWarp / 2; mask >= last; mask /= 2) {
        sums[i] = Combined(reduce, sums[i], kernel_.FromLaneXor(sums[i], mask));
      }
    }
    if (block_.words_of_point() > 1) sums = OverBlock(phase, sums);
    for (size_t i = 0; i < sums.size(); ++i) {
      emitter_.Know(phase.reduces[i], sums[i]);
    }
  }

  Value* Combined(const Expr& reduce, Value* a, Value* b) {
    return EmitCombine(kernel_, reduce->reduce, reduce->dtype, a, b);
  }

  Value* Identity(const Expr& reduce) {
    const Expr identity = IdentityOf(reduce->reduce, reduce->dtype);
    // −0 + x is x for every x.
    const bool sum = reduce->reduce == ReduceOp::kSum && IsFloat(reduce->dtype);
    const Element number = sum ? Element{-0.0} : identity->number;
    return Splat(kernel_, EmitConstant(kernel_, number, identity->dtype),
                 shape_.lanes);
  }

  // The terms rank, rank + threads, …
  Values OverTerms(const ReductionPhase& phase) {
    const ExprEmitter::Scope scope(emitter_);
    const bool vectors = shape_.rows && has_lanes();
    for (const Range& range : phase.ranges) {
      emitter_.Declare(Var(range.var), IntervalOfRange(range));
    }
    if (vectors) {
      const Range& last = phase.ranges.back();
      emitter_.DeclareLanes(Var(last.var), IntervalOfRange(last));
    }
    Values sums;
    for (const Expr& reduce : phase.reduces) {
      emitter_.Hoist(reduce->args[0]);
      sums.push_back(Identity(reduce));
    }
    const int64_t items = phase.terms / (vectors ? shape_.lanes : 1);
    sums = kernel_.Loop(
        kernel_.Wide(rank_), kernel_.Int(items), shape_.threads_of_point, sums,
        [&](Value* i, const Values& before) {
          const ExprEmitter::Scope each(emitter_);
          BindTerm(phase, b().CreateTrunc(i, b().getInt32Ty()), vectors);
          return WithTerms(phase, before);
        });
    for (const Range& range : phase.ranges) {
      emitter_.ClearValue(Var(range.var));
    }
    return sums;
  }

  static Interval IntervalOfRange(const Range& range) {
    return {static_cast<int64_t>(range.begin->number),
            static_cast<int64_t>(range.end->number) - 1};
  }

  void BindTerm(const ReductionPhase& phase, Value* number, bool vectors) {
    for (size_t k = phase.ranges.size(); k-- > 0;) {
      const Range& range = phase.ranges[k];
      const Interval interval = IntervalOfRange(range);
      const bool by_lane = vectors && k + 1 == phase.ranges.size();
      const int64_t step = by_lane ? shape_.lanes : 1;
      Value* at = kernel_.Wide(
          Next(number, (interval.high - interval.low + 1) / step, k == 0));
      at = b().CreateAdd(b().CreateMul(at, kernel_.Int(step)),
                         kernel_.Int(interval.low));
      if (by_lane) {
        emitter_.SetLaneBase(at, interval.low % shape_.lanes == 0);
      } else {
        emitter_.SetValue(Var(range.var), at);
      }
    }
  }

  Values WithTerms(const ReductionPhase& phase, const Values& before) {
    Values after;
    for (size_t i = 0; i < before.size(); ++i) {
      const Expr& reduce = phase.reduces[i];
      const Expr& body = reduce->args[0];
      Value* term = Splat(kernel_, emitter_.EmitForm(body), shape_.lanes);
      for (const KeptTerms& kept : nest_.kept) {
        if (!Equal(kept.reduce, reduce)) continue;
        emitter_.StoreAt(kept.output, kept.offset, term, body->dtype);
      }
      after.push_back(Combined(reduce, before[i], term));
    }
    return after;
  }

  // Adds what the threads, or warps, of a point have, in their order.
  Values OverBlock(const ReductionPhase& phase, const Values& sums) {
    const int words = block_.words_of_point();
    Value* writer = rank_;
    Value* writes = b().getTrue();
    if (shape_.warps_share()) {
      Value* number = shape_.rows ? rank_ : kernel_.Thread();
      const int writers = shape_.rows ? 1 : shape_.points_of_block;
      writer = b().CreateUDiv(number, kernel_.Word(kWarp));
      Value* in_warp = b().CreateURem(number, kernel_.Word(kWarp));
      writes = b().CreateICmpULT(in_warp, kernel_.Word(writers));
    }
    std::vector<int64_t> begins;
    for (const Expr& reduce : phase.reduces) {
      begins.push_back(shared_used_);
      shared_used_ += block_.bytes_of(reduce);
    }
    kernel_.If(writes, [&] {
      for (size_t i = 0; i < sums.size(); ++i) {
        b().CreateAlignedStore(sums[i], SharedAt(begins[i], writer, sums[i]),
                               AlignOf(sums[i]));
      }
    });
    kernel_.Barrier();
    Values totals;
    for (size_t i = 0; i < sums.size(); ++i) {
      const auto sum = [&](int word) -> Value* {
        return b().CreateAlignedLoad(
            sums[i]->getType(),
            SharedAt(begins[i], kernel_.Word(word), sums[i]), AlignOf(sums[i]));
      };
      totals.push_back(sum(0));
      for (int w = 1; w < words; ++w) {
        totals[i] = Combined(phase.reduces[i], totals[i], sum(w));
      }
    }
    return totals;
  }

  // Shared memory begins where the widest access needs it, of 16 bytes.
  static llvm::Align AlignOf(const Value* like) {
    constexpr uint64_t kWidest = 16;
    const uint64_t bits = like->getType()->getPrimitiveSizeInBits();
    return llvm::Align(std::min(kWidest, bits / 8));
  }

  // Where thread or warp `writer` of this thread's point puts a value like it.
  Value* SharedAt(int64_t begin, Value* writer, const Value* like) {
    Value* number = b().CreateAdd(
        b().CreateMul(writer, kernel_.Word(shape_.points_of_block)), slot_);
    Value* memory = b().CreateConstInBoundsGEP1_64(
        b().getInt8Ty(), kernel_.Shared(), static_cast<uint64_t>(begin));
    return b().CreateInBoundsGEP(like->getType(), memory, number);
  }

  void EmitValues() {
    const ExprEmitter::Scope scope(emitter_);
    if (shape_.rows && nest_.lane_dim >= 0) return EmitRow();
    kernel_.If(b().CreateICmpEQ(rank_, kernel_.Word(0)), [&] {
      const ExprEmitter::Scope inner(emitter_);
      const bool alone = shape_.rows && has_lanes();
      if (alone) {
        // No range's variable any more: a shorter reduction may have the same.
        emitter_.DeclareLanes(Interval{0, 0});
        emitter_.EnterScalar(kernel_.Int(0));
      }
      EmitElement();
      if (alone) emitter_.LeaveScalar();
    });
  }

  void EmitRow() {
    const Interval interval = {0, lane().extent - 1};
    const Expr var = Var(lane().var);
    if (has_lanes()) emitter_.DeclareLanes(var, interval);
    kernel_.Loop(b().CreateMul(kernel_.Wide(rank_), kernel_.Int(shape_.lanes)),
                 kernel_.Int(lane().extent),
                 int64_t{shape_.lanes} * shape_.threads_of_point,
                 [&](Value* i) {
                   const ExprEmitter::Scope each(emitter_);
                   BindLanes(var, interval, i);
                   EmitElement();
                 });
  }

  // An output may lie where an input does: all is read before any is written.
  void EmitElement() {
    Values values;
    for (const Expr& value : nest_.values) {
      values.push_back(emitter_.EmitForm(value));
    }
    for (size_t i = 0; i < values.size(); ++i) {
      emitter_.StoreAt(nest_.outputs[i], nest_.Offset(), values[i],
                       nest_.values[i]->dtype);
    }
  }

  DeviceFunction& kernel_;
  const BlockReduction& block_;
  const ReductionShape& shape_;
  const LoopNest& nest_;
  ExprEmitter emitter_;
  // i32: which of the threads of its result this one is, which of the block's
  // results that is, and its number.
  Value *rank_ = nullptr, *slot_ = nullptr, *point_ = nullptr;
  Value* valid_ = nullptr;
  int64_t shared_used_ = 0;
};

// Of the memory that so many blocks read, each phase of a reduction once.
double SecondsOf(const BlockReduction& block, int64_t blocks,
                 const GpuMachine& machine) {
  double bytes = 0;
  for (const NestOperand& operand : block.map->operands) {
    bytes +=
        static_cast<double>(operand.layout.elements() * SizeOf(operand.dtype));
  }
  return bytes * static_cast<double>(block.shape.phases.size()) /
         (static_cast<double>(std::min(blocks, machine.multiprocessors)) *
          machine.multiprocessor_bytes_per_second());
}

}  // namespace

// Threads that put a sum of theirs into shared memory, for each result.
int BlockReduction::words_of_point() const {
  if (shape.rows) return shape.threads_of_point / kWarp;
  return shape.warps_share() ? shape.threads() / kWarp : shape.threads_of_point;
}

int64_t BlockReduction::bytes_of(const Expr& reduce) const {
  const int lanes = shape.rows ? 1 : shape.lanes;
  return int64_t{lanes} * SizeOf(reduce->dtype) * words_of_point() *
         shape.points_of_block;
}

int64_t BlockReduction::shared_bytes() const {
  if (words_of_point() == 1) return 0;
  int64_t bytes = 0;
  for (const ReductionPhase& phase : shape.phases) {
    for (const Expr& reduce : phase.reduces) bytes += bytes_of(reduce);
  }
  return bytes;
}

void EmitBlockReduction(DeviceFunction& kernel, const BlockReduction& block) {
  BlockReductionEmitter(kernel, block).Run();
}

std::optional<DevicePlan> PlanBlockReduction(
    std::shared_ptr<const MapNests> map, const Target& target,
    const std::string& alignments) {
  if (map->nests.size() != 1) return std::nullopt;
  const GpuMachine machine = GpuMachineOf(target);
  auto shape = ShapeOfReductions(map->nests[0], machine);
  if (!shape) return std::nullopt;
  const BlockReduction block = {std::move(map), std::move(*shape), alignments};
  DevicePlan plan;
  plan.tasks = DivideUp(block.shape.points, block.shape.points_of_block);
  plan.launch =
      LaunchOf(plan.tasks, block.shape.threads(), block.shared_bytes());
  plan.nanoseconds = SecondsOf(block, plan.tasks, machine) * 1e9;
  plan.emit = [block](DeviceFunction& kernel) {
    EmitBlockReduction(kernel, block);
  };
  return plan;
}

}  // namespace mxc
