// SPDX-License-Identifier: Apache-2.0
// ExprEmitter: kernel IR expressions as LLVM IR, one lane or a vector of lanes
// at a time.
//
//   ExprEmitter emitter(kernel, operands, /*lanes=*/8);
//   Expr n = emitter.Bind(n_value, {0, batch - 1});       // a scalar i64
//   Expr block = emitter.Bind(block_value, {0, 7});
//   Expr lane = emitter.BindLanes(kernel.Int(0), {0, 7}); // 0 + <0, 1, … 7>
//   emitter.SetIndices({n, block * 8 + lane, y, x});
//   emitter.SetAcc(accumulator);                          // <8 x float>
//   llvm::Value* value = emitter.EmitLanes(epilogue);
//   emitter.Store(output, value, DType::kF32);
//
// Operands are addressed through their Layouts: the element offset is brought
// into the form Σ coefficient · variable, and the lane variable's coefficient
// decides between one vector load (1), a broadcast scalar (0) and a gather.
//
// A value that is the same in all lanes is a scalar. What has been emitted is
// reused until the Scope in which it was emitted ends.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "codegen/llvm/kernel_function.h"
#include "codegen/schedule/address_form.h"
#include "codegen/schedule/affine.h"
#include "codegen/schedule/free_variables.h"
#include "codegen/schedule/loop_nest.h"
#include "ir/program/expr.h"
#include "ir/program/layout.h"

namespace mxc {

// An operand of the step: where it lies and how.
struct EmitOperand {
  llvm::Value* base = nullptr;  // ptr
  DType dtype = DType::kF32;
  Layout layout;
  // For LLVM: accesses to this memory, and what they never overlap; may be
  // null.
  llvm::MDNode* alias_scope = nullptr;
  llvm::MDNode* no_alias = nullptr;
};

class ExprEmitter {
 public:
  // Powers of two: the width of vectors, and of those in which long sums are
  // added, be the vectors narrower or along another axis (1: as it comes).
  ExprEmitter(KernelFunction& kernel, std::vector<EmitOperand> operands,
              int lanes, int sum_lanes = 1);

  KernelFunction& kernel() { return kernel_; }
  int lanes() const { return lanes_; }
  const EmitOperand& operand(int i) const {
    return operands_[static_cast<size_t>(i)];
  }

  // --- variables
  // A new variable known to lie in `range`; it gets a value later, inside the
  // loop over it. What does not use it can be hoisted out of that loop.
  Expr Declare(Interval range);
  Expr Declare() { return Var(next_var_++); }  // that may be anything
  // The same for a variable that a schedule has numbered, below
  // kFirstLoopVar + kScheduledVars.
  void Declare(const Expr& var, Interval range);
  static constexpr int kScheduledVars = 1 << 16;
  void SetValue(const Expr& var, llvm::Value* value);  // i64
  // After the loop.
  void ClearValue(const Expr& var) { values_.erase(var->index); }
  // The one variable that differs from lane to lane: base + <0, 1, …>. A new
  // one replaces it. `whole_vectors`: the base is a multiple of the lanes.
  Expr DeclareLanes(Interval range);
  void DeclareLanes(const Expr& var, Interval range);
  void SetLaneBase(llvm::Value* base, bool whole_vectors = false);
  Expr Bind(llvm::Value* value, Interval range);
  Expr BindLanes(llvm::Value* base, Interval range);
  // From now on the variable is known to lie in a narrower range.
  void Narrow(const Expr& var, Interval range);
  const IntervalOf& ranges() const { return range_of_; }
  int lane_var() const { return lane_var_; }

  // What the index variables 0, 1, … of the expressions stand for, in terms of
  // declared variables.
  void SetIndices(std::vector<Expr> indices) { indices_ = std::move(indices); }
  // The value of Acc in the expressions that follow: <lanes x type> or scalar.
  void SetAcc(llvm::Value* acc);
  // Lanes beyond the end of the tensor are false: operands are neither read nor
  // written there. Null: all lanes are inside. Open a Scope around it.
  void SetTail(llvm::Value* mask);
  // Lanes of from + <0, 1, …> below `to`.
  llvm::Value* TailMask(llvm::Value* from, llvm::Value* to);
  // Between these, the lane variable has one value and lanes() is 1.
  void EnterScalar(llvm::Value* lane_value);
  void LeaveScalar();

  // --- expressions over index variables
  llvm::Value* Emit(const Expr& e) { return EmitForm(FormOf(e)); }
  llvm::Value* EmitLanes(const Expr& e) { return EmitFormLanes(FormOf(e)); }
  // Converts a value of type `dtype` to the operand's and writes it at the
  // present indices.
  void Store(int operand, llvm::Value* value, DType dtype);

  // --- the same in address form (address_form.h)
  Expr FormOf(const Expr& e);
  llvm::Value* EmitForm(const Expr& form);
  llvm::Value* EmitFormLanes(const Expr& form);
  // The value that the form has in what follows, as if it had been emitted.
  void Know(const Expr& form, llvm::Value* value) {
    scopes_.back().emplace(form, value);
  }
  // What a Load is made of: the elements as they lie in memory, and its value,
  // given those.
  llvm::Value* ReadElements(const Expr& load);
  llvm::Value* ValueOf(const Expr& load, llvm::Value* elements);
  // Emits now whatever the form needs of values that can be known here.
  void Hoist(const Expr& form);
  // Names the forms that are emitted next, for one index: a sweep (SweepsOf).
  // Their reductions over equal ranges share a loop.
  void BeginSweep(const std::vector<Expr>& forms);
  // Reductions that write their terms, too, wherever they are emitted.
  void Keep(const std::vector<KeptTerms>& kept) { kept_ = kept; }
  void StoreAt(int operand, const Affine& offset, llvm::Value* value,
               DType dtype);
  // All operands can be read and written under a mask by instructions, as many
  // elements at once.
  bool HasMaskedTails(int lanes) const;

  // Values emitted inside a scope are not used after it; open one around every
  // loop body or branch in which something is emitted.
  class Scope {
   public:
    explicit Scope(ExprEmitter& emitter) : emitter_(emitter) {
      emitter.scopes_.emplace_back();
    }
    ~Scope() { emitter_.scopes_.pop_back(); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    ExprEmitter& emitter_;
  };

 private:
  friend class ReductionEmitter;

  struct HashOf {
    size_t operator()(const Expr& e) const { return e->hash; }
  };
  struct AreEqual {
    bool operator()(const Expr& a, const Expr& b) const { return Equal(a, b); }
  };
  using Memo = std::unordered_map<Expr, llvm::Value*, HashOf, AreEqual>;

  // Which lanes an operand access is for. Scalar code has an i1.
  struct Mask {
    llvm::Value* value = nullptr;  // null: all
    bool tail = false;             // false lanes are outside of the tensor
  };

  llvm::Value* Remembered(const Expr& e) const;
  llvm::Value* EmitNode(const Expr& e);
  llvm::Value* EmitVar(const Expr& e);
  llvm::Value* EmitCastNode(const Expr& e);
  llvm::Value* EmitBinaryNode(const Expr& e);
  llvm::Value* EmitComparison(const Expr& e);
  llvm::Value* EmitSelect(const Expr& e);
  llvm::Value* EmitSide(const Expr& side, bool lift);
  llvm::Value* EmitUnderMask(const Expr& e, llvm::Value* condition);
  llvm::Value* EmitEachLane(const Expr& e);
  struct Hoisting {
    std::vector<int> inner;  // variables bound around the node
    std::unordered_map<const ExprNode*, bool> seen;  // … as certain
  };
  void HoistFrom(const Expr& e, bool certain, Hoisting& hoisting);

  // Integers (emit_index.cc). `bits` is 32 where the value is known to fit.
  llvm::Value* EmitAffine(const Affine& a, int bits = 64);
  llvm::Value* EmitIndexNode(const Expr& e);
  // The value for one lane.
  llvm::Value* EmitAffineAt(const Affine& a, int lane);

  // Operands (emit_memory.cc).
  llvm::Value* EmitLoad(const Expr& e);
  llvm::Value* LoadContiguous(const EmitOperand& operand, const Affine& offset);
  llvm::Value* LoadStridedByTwo(const EmitOperand& operand,
                                const Affine& offset);
  llvm::Value* LoadRuns(const EmitOperand& operand, const Expr& offset,
                        llvm::Value* mask);
  llvm::Value* LoadGather(const EmitOperand& operand, const Affine& offset,
                          llvm::Value* mask);
  llvm::Value* LoadEachLane(const EmitOperand& operand, const Affine& offset,
                            llvm::Value* mask);
  llvm::Value* Address(const EmitOperand& operand, llvm::Value* offset);
  llvm::Align VectorAlignOf(const EmitOperand& operand,
                            const Affine& offset) const;
  // Says what the access to the operand may overlap.
  llvm::Value* Tagged(const EmitOperand& operand, llvm::Instruction* access);
  llvm::Value* LaneOf(llvm::Value* vector, int lane);
  bool InBounds(int operand, const Affine& offset) const;
  // Returns whether every Load inside is in bounds for all values of the
  // variables.
  bool IsSafe(const Expr& e);
  bool IsSafe(const Expr& e, std::unordered_set<const ExprNode*>& seen);

  bool Varies(const Expr& e);  // from lane to lane
  bool HasOneSign(const Affine& a) const;
  bool StepsByWholeVectors(const Affine& a) const;
  // Returns whether the vector at that offset begins at a multiple of the
  // lanes.
  bool BeginsWholeVectors(const Affine& a) const;
  bool Known(const Expr& e, const std::vector<int>& inner);

  KernelFunction& kernel_;
  std::vector<EmitOperand> operands_;
  std::vector<Layout> layouts_;
  int lanes_;
  std::vector<Expr> indices_;
  int next_var_ = kFirstLoopVar + kScheduledVars;
  std::unordered_map<int, llvm::Value*> values_;
  std::map<int, Interval> ranges_;
  IntervalOf range_of_;
  int lane_var_ = -1;
  llvm::Value* lane_base_ = nullptr;  // null: not inside the loop yet
  bool whole_vectors_ = false;        // that is a multiple of the lanes
  llvm::Value* acc_ = nullptr;
  Mask mask_;
  std::vector<Memo> scopes_;
  std::vector<Expr> reductions_;  // that a sweep evaluates for certain
  std::vector<KeptTerms> kept_;
  // Vectors of outer scopes are of no use below this one: lanes are emitted
  // one by one.
  size_t scalar_from_ = 0;
  struct Lanes {
    int var, lanes;
    llvm::Value* base;
    size_t scalar_from;
  };
  std::vector<Lanes> outside_scalar_;  // what LeaveScalar goes back to
  const int nest_lanes_, sum_lanes_;
  FreeVariables free_;
};

}  // namespace mxc
