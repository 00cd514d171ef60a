// SPDX-License-Identifier: Apache-2.0
// Reductions as loops around accumulators, those of a sweep that run over the
// same ranges in one loop. The order in which values are combined is fixed by
// the expressions and the width of vectors alone.
#pragma once

#include <optional>
#include <vector>

#include "codegen/llvm/expr_emitter.h"

namespace mxc {

class ReductionEmitter {
 public:
  explicit ReductionEmitter(ExprEmitter& emitter)
      : emitter_(emitter), kernel_(emitter.kernel_) {}

  llvm::Value* Emit(const Expr& reduce);

 private:
  using Values = std::vector<llvm::Value*>;  // one for each reduction
  // Accumulators for the vectors, and for the lanes of a scalar tail.
  struct Sums {
    Values main;
    Values tail;  // empty where there is none
  };
  using Step = std::function<Values(llvm::Value* i, const Values& sums)>;

  void AddSiblings(bool varies);
  bool SameRanges(const Expr& other) const;
  llvm::Value* Finish(const Values& values);
  Values EmitVarying();
  bool IsAddedInLanes(const Expr& reduce) const;
  Values EmitVaryingInLanes();
  Values EmitUniform();
  std::optional<size_t> VectorRange();
  Sums OverRange(size_t k, Sums sums);
  Sums OverVectors(Sums sums);
  Sums OverTail(Sums sums, llvm::Value* from, llvm::Value* to);
  Values OverStrip(llvm::Value* from, llvm::Value* to, int64_t step,
                   int accumulators, const Values& sums, const Step& body);
  int Accumulators() const;
  int AccumulatorsOf(std::optional<int64_t> trips, int lanes) const;
  void HoistBodies();
  int Nodes();
  // One more value into each sum.
  Values Combined(const Values& sums, const Values& more);
  Values Bodies(int lanes);
  Values Identities(int lanes);
  void Bind(const Range& range, llvm::Value* value, Interval interval);
  Interval IntervalOfRange(const Range& range);
  std::optional<int64_t> Trips(const Range& range) const;

  ExprEmitter& emitter_;
  KernelFunction& kernel_;
  std::vector<Expr> reduces_;  // the first is what was asked for
  std::vector<Range> ranges_;  // outermost loop first
  bool vectorized_ = false;    // the last one runs over lanes
};

}  // namespace mxc
