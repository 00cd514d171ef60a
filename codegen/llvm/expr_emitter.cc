// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/expr_emitter.h"

#include <algorithm>

#include "codegen/llvm/arithmetic.h"
#include "codegen/llvm/reduction_emitter.h"
#include "ir/program/float_bounds.h"
#include "ir/support/check.h"

namespace mxc {
namespace {

using llvm::Value;

// Sides of a select that are evaluated rather than branched around.
constexpr int kCheapNodes = 12;

bool IsZero(const Expr& e) { return IsConst(e, 0); }

// The reductions that lie in no other, but for those of one side only of a
// choice; of the padding of a block the values do not matter.
void CollectReductions(const Expr& e, std::unordered_set<const ExprNode*>& seen,
                       std::vector<Expr>& found) {
  if (!seen.insert(e.get()).second) return;
  if (e->kind == ExprKind::kReduce) {
    found.push_back(e);
    return;
  }
  const bool choice = e->kind == ExprKind::kSelect;
  const bool guard = choice && e->args[2]->kind == ExprKind::kConst;
  for (size_t i = 0; i < e->args.size(); ++i) {
    if (!choice || i == 0 || (guard && i == 1)) {
      CollectReductions(e->args[i], seen, found);
    }
  }
}

}  // namespace

ExprEmitter::ExprEmitter(KernelFunction& kernel,
                         std::vector<EmitOperand> operands, int lanes,
                         int sum_lanes)
    : kernel_(kernel),
      operands_(std::move(operands)),
      lanes_(lanes),
      scopes_(1),
      nest_lanes_(lanes),
      sum_lanes_(sum_lanes) {
  MXC_CHECK(lanes > 0 && (lanes & (lanes - 1)) == 0, "{} lanes", lanes);
  for (const EmitOperand& operand : operands_) {
    layouts_.push_back(operand.layout);
  }
  range_of_ = [this](int var) -> std::optional<Interval> {
    const auto it = ranges_.find(var);
    if (it == ranges_.end()) return std::nullopt;
    return it->second;
  };
}

Expr ExprEmitter::Declare(Interval range) {
  const int var = next_var_++;
  ranges_[var] = range;
  return Var(var);
}

void ExprEmitter::Declare(const Expr& var, Interval range) {
  MXC_CHECK(var->index < kFirstLoopVar + kScheduledVars);
  ranges_[var->index] = range;
}

void ExprEmitter::SetValue(const Expr& var, Value* value) {
  values_[var->index] = value;
}

Expr ExprEmitter::DeclareLanes(Interval range) {
  const Expr var = Declare(range);
  lane_var_ = var->index;
  lane_base_ = nullptr;
  return var;
}

void ExprEmitter::DeclareLanes(const Expr& var, Interval range) {
  Declare(var, range);
  lane_var_ = var->index;
  lane_base_ = nullptr;
}

void ExprEmitter::SetLaneBase(Value* base, bool whole_vectors) {
  lane_base_ = base;
  whole_vectors_ = whole_vectors;
}

Expr ExprEmitter::Bind(Value* value, Interval range) {
  const Expr var = Declare(range);
  SetValue(var, value);
  return var;
}

Expr ExprEmitter::BindLanes(Value* base, Interval range) {
  const Expr var = DeclareLanes(range);
  SetLaneBase(base);
  return var;
}

void ExprEmitter::Narrow(const Expr& var, Interval range) {
  ranges_[var->index] = range;
}

void ExprEmitter::SetAcc(Value* acc) {
  acc_ = acc;
  for (Memo& memo : scopes_) {
    std::erase_if(memo, [&](const auto& entry) {
      return free_.Of(entry.first).uses_acc;
    });
  }
}

void ExprEmitter::SetTail(Value* mask) { mask_ = {mask, mask != nullptr}; }

Value* ExprEmitter::TailMask(Value* from, Value* to) {
  auto& builder = kernel_.b();
  Value* left =
      builder.CreateTrunc(builder.CreateSub(to, from), builder.getInt32Ty());
  llvm::SmallVector<llvm::Constant*> lanes;
  for (int lane = 0; lane < lanes_; ++lane) {
    lanes.push_back(builder.getInt32(static_cast<uint32_t>(lane)));
  }
  return builder.CreateICmpSLT(llvm::ConstantVector::get(lanes),
                               Splat(kernel_, left, lanes_));
}

void ExprEmitter::EnterScalar(Value* lane_value) {
  outside_scalar_.push_back({lane_var_, lanes_, lane_base_, scalar_from_});
  scopes_.emplace_back();
  scalar_from_ = scopes_.size() - 1;
  values_[lane_var_] = lane_value;
  lane_var_ = -1;
  lane_base_ = nullptr;
  lanes_ = 1;
}

void ExprEmitter::LeaveScalar() {
  const Lanes outside = outside_scalar_.back();
  outside_scalar_.pop_back();
  scopes_.pop_back();
  values_.erase(outside.var);
  lane_var_ = outside.var;
  lane_base_ = outside.base;
  lanes_ = outside.lanes;
  scalar_from_ = outside.scalar_from;
}

Expr ExprEmitter::FormOf(const Expr& e) {
  return ToAddressForm(e, {layouts_, indices_, range_of_, lane_var_});
}

Value* ExprEmitter::EmitFormLanes(const Expr& form) {
  return Splat(kernel_, EmitForm(form), lanes_);
}

Value* ExprEmitter::Remembered(const Expr& e) const {
  for (size_t i = scopes_.size(); i-- > 0;) {
    const auto it = scopes_[i].find(e);
    if (it == scopes_[i].end()) continue;
    if (i < scalar_from_ && IsVector(it->second)) continue;
    return it->second;
  }
  return nullptr;
}

Value* ExprEmitter::EmitForm(const Expr& form) {
  if (form->kind == ExprKind::kConst) {
    return EmitConstant(kernel_, form->number, form->dtype);
  }
  if (form->kind == ExprKind::kVar) return EmitVar(form);
  if (form->kind == ExprKind::kAcc) {
    MXC_CHECK(acc_ != nullptr);
    return acc_;
  }
  if (Value* value = Remembered(form)) return value;
  Value* value = EmitNode(form);
  scopes_.back().emplace(form, value);
  return value;
}

Value* ExprEmitter::EmitNode(const Expr& e) {
  switch (e->kind) {
    case ExprKind::kLoad:
      return EmitLoad(e);
    case ExprKind::kUnary:
      return EmitUnary(kernel_, e->unary, e->args[0]->dtype,
                       EmitForm(e->args[0]));
    case ExprKind::kBinary:
      return EmitBinaryNode(e);
    case ExprKind::kSelect:
      return EmitSelect(e);
    case ExprKind::kCast:
      return EmitCastNode(e);
    case ExprKind::kReduce:
      return ReductionEmitter(*this).Emit(e);
    default:
      break;
  }
  MXC_CHECK(false, "{}", Print(e));
  return nullptr;
}

Value* ExprEmitter::EmitCastNode(const Expr& e) {
  const Expr& from = e->args[0];
  const bool is_cut = IsFloat(from->dtype) && !IsFloat(e->dtype) &&
                      e->dtype != DType::kBool && e->dtype != DType::kU64;
  if (!is_cut || !FitsInteger(from, e->dtype)) {
    return EmitCast(kernel_, EmitForm(from), from->dtype, e->dtype);
  }
  const bool rounds =
      from->kind == ExprKind::kUnary && from->unary == UnaryOp::kRoundEven;
  if (!rounds) return EmitCutInteger(kernel_, EmitForm(from), e->dtype);
  return EmitRoundedInteger(kernel_, EmitForm(from->args[0]), e->dtype);
}

Value* ExprEmitter::EmitVar(const Expr& e) {
  if (e->index == lane_var_ && lane_base_ != nullptr) {
    Affine lane;
    lane.Add(e, 1);
    return EmitAffine(lane);
  }
  const auto it = values_.find(e->index);
  MXC_CHECK(it != values_.end(), "variable {} has no value", e->index);
  return it->second;
}

Value* ExprEmitter::EmitBinaryNode(const Expr& e) {
  const DType dtype = e->args[0]->dtype;
  if (e->dtype == DType::kI64) return EmitIndexNode(e);
  if (dtype == DType::kI64 && IsZero(e->args[0])) return EmitComparison(e);
  Value* a = EmitForm(e->args[0]);
  Value* b = EmitForm(e->args[1]);
  const int lanes = IsVector(a) || IsVector(b) ? lanes_ : 1;
  return EmitBinary(kernel_, e->binary, dtype, Splat(kernel_, a, lanes),
                    Splat(kernel_, b, lanes));
}

// Returns whether the vector's first lane, or its last one where lanes count
// down, is at a multiple of the lanes: then none of them, or all, are below
// zero.
bool ExprEmitter::HasOneSign(const Affine& a) const {
  if (!whole_vectors_ || lane_base_ == nullptr || lanes_ == 1) return false;
  const int64_t step = a.CoefficientOf(lane_var_);
  if ((step != 1 && step != -1) || a.HidesVar(lane_var_)) return false;
  const int64_t least = step == 1 ? a.constant : a.constant - (lanes_ - 1);
  return least % lanes_ == 0 && StepsByWholeVectors(a);
}

// Apart from the lane variable.
bool ExprEmitter::StepsByWholeVectors(const Affine& a) const {
  return std::ranges::all_of(a.terms, [&](const Affine::Term& term) {
    return Equal(term.atom, Var(lane_var_)) || term.coefficient % lanes_ == 0;
  });
}

bool ExprEmitter::BeginsWholeVectors(const Affine& a) const {
  return whole_vectors_ && lane_base_ != nullptr && lanes_ > 1 &&
         a.CoefficientOf(lane_var_) == 1 && !a.HidesVar(lane_var_) &&
         a.constant % lanes_ == 0 && StepsByWholeVectors(a);
}

// 0 op affine, in 32 bits where that is enough: a vector of i64 is twice as
// long as one of f32.
Value* ExprEmitter::EmitComparison(const Expr& e) {
  const Affine a = ToAffine(e->args[1], range_of_);
  const auto bounds = Bounds(a, range_of_);
  constexpr int64_t kLimit = (int64_t{1} << 31) - 1;
  const bool narrow = bounds && bounds->low >= -kLimit && bounds->high < kLimit;
  const int lanes = lanes_;
  if (e->binary == BinaryOp::kLessEqual && HasOneSign(a)) lanes_ = 1;
  const bool words = Varies(e) || kernel_.instructions().of_words;
  Value* value = EmitAffine(a, narrow && words ? 32 : 64);
  lanes_ = lanes;
  Value* zero = llvm::Constant::getNullValue(value->getType());
  return EmitBinary(kernel_, e->binary, DType::kI64, zero, value);
}

bool ExprEmitter::Varies(const Expr& e) {
  if (lanes_ == 1) return false;
  if (lane_var_ >= 0 && free_.Uses(e, lane_var_)) return true;
  return acc_ != nullptr && IsVector(acc_) && free_.Of(e).uses_acc;
}

Value* ExprEmitter::EmitSelect(const Expr& e) {
  Value* condition = EmitForm(e->args[0]);
  auto& builder = kernel_.b();
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition)) {
    return EmitForm(e->args[known->isOne() ? 1 : 2]);
  }
  const auto is_cheap = [&](const Expr& side) {
    const auto& facts = free_.Of(side);
    return !facts.reduces && facts.nodes <= kCheapNodes && IsSafe(side);
  };
  if (!IsVector(condition) && !(is_cheap(e->args[1]) && is_cheap(e->args[2]))) {
    const bool lift = Varies(e->args[1]) || Varies(e->args[2]);
    return kernel_.Choose(
        condition, [&] { return EmitSide(e->args[1], lift); },
        [&] { return EmitSide(e->args[2], lift); });
  }
  Value* then = EmitUnderMask(e->args[1], condition);
  Value* otherwise = EmitUnderMask(e->args[2], builder.CreateNot(condition));
  const bool vector =
      IsVector(condition) || IsVector(then) || IsVector(otherwise);
  const int lanes = vector ? lanes_ : 1;
  return builder.CreateSelect(condition, Splat(kernel_, then, lanes),
                              Splat(kernel_, otherwise, lanes));
}

// One side of a branch.
Value* ExprEmitter::EmitSide(const Expr& side, bool lift) {
  const Scope scope(*this);
  Value* value = EmitForm(side);
  return lift ? Splat(kernel_, value, lanes_) : value;
}

// Where the condition is false, operands are not read out of bounds and the
// value means nothing.
Value* ExprEmitter::EmitUnderMask(const Expr& e, Value* condition) {
  if (IsSafe(e)) return EmitForm(e);
  const Scope scope(*this);
  const Mask outer = mask_;
  auto& builder = kernel_.b();
  if (outer.value != nullptr) {
    const int lanes = IsVector(condition) || IsVector(outer.value) ? lanes_ : 1;
    condition = builder.CreateAnd(Splat(kernel_, condition, lanes),
                                  Splat(kernel_, outer.value, lanes));
  }
  mask_ = {condition, outer.tail};
  Value* value = EmitForm(e);
  mask_ = outer;
  return value;
}

// What no vector form exists for.
Value* ExprEmitter::EmitEachLane(const Expr& e) {
  auto& builder = kernel_.b();
  Value* base = lane_base_;
  const Mask outer = mask_;
  Value* vector = llvm::PoisonValue::get(
      kernel_.VectorOf(kernel_.ValueType(e->dtype), lanes_));
  const int lanes = lanes_;
  for (int lane = 0; lane < lanes; ++lane) {
    if (outer.value != nullptr) mask_.value = LaneOf(outer.value, lane);
    EnterScalar(builder.CreateAdd(base, kernel_.Int(lane)));
    Value* value = EmitForm(e);
    LeaveScalar();
    vector =
        builder.CreateInsertElement(vector, value, static_cast<uint64_t>(lane));
  }
  mask_ = outer;
  return vector;
}

bool ExprEmitter::Known(const Expr& e, const std::vector<int>& inner) {
  const auto& facts = free_.Of(e);
  if (facts.uses_acc && acc_ == nullptr) return false;
  return std::ranges::all_of(facts.vars, [&](int var) {
    if (std::ranges::find(inner, var) != inner.end()) return false;
    if (var == lane_var_) return lane_base_ != nullptr;
    return values_.contains(var);
  });
}

void ExprEmitter::BeginSweep(const std::vector<Expr>& forms) {
  std::unordered_set<const ExprNode*> seen;
  reductions_.clear();
  for (const Expr& form : forms) CollectReductions(form, seen, reductions_);
}

void ExprEmitter::Hoist(const Expr& form) {
  Hoisting hoisting;
  HoistFrom(form, /*certain=*/true, hoisting);
}

// `certain`: the node is evaluated whatever the variables not known here are.
void ExprEmitter::HoistFrom(const Expr& e, bool certain, Hoisting& hoisting) {
  if (e->kind == ExprKind::kConst || e->kind == ExprKind::kVar) return;
  const auto [seen, first] = hoisting.seen.emplace(e.get(), certain);
  if (!first && (seen->second || !certain)) return;
  seen->second = certain;
  std::vector<int>& inner = hoisting.inner;
  const bool index = e->dtype == DType::kI64 && e->kind == ExprKind::kBinary;
  if (!index && Known(e, inner)) {
    if (certain || IsSafe(e)) EmitForm(e);
    return;
  }
  const size_t outer = inner.size();
  bool runs = certain;
  for (const Range& range : e->ranges) {
    HoistFrom(range.begin, certain, hoisting);
    HoistFrom(range.end, certain, hoisting);
    inner.push_back(range.var);
    const auto trips = Bounds(range.end - range.begin, range_of_);
    runs &= trips && trips->low > 0;
  }
  for (size_t i = 0; i < e->args.size(); ++i) {
    const bool side = e->kind == ExprKind::kSelect && i > 0;
    HoistFrom(e->args[i], runs && !side, hoisting);
  }
  inner.resize(outer);
}

}  // namespace mxc
