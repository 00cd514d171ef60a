// SPDX-License-Identifier: Apache-2.0
// ExprEmitter: operands in memory.
#include <algorithm>
#include <bit>

#include "codegen/llvm/arithmetic.h"
#include "codegen/llvm/expr_emitter.h"
#include "codegen/llvm/session.h"
#include "codegen/schedule/lane_runs.h"
#include "ir/support/check.h"

namespace mxc {
namespace {

using llvm::Value;

llvm::Align AlignOf(const EmitOperand& operand) {
  return llvm::Align(static_cast<uint64_t>(SizeOf(operand.dtype)));
}

}  // namespace

// Of all lanes at once: where the base is known to be aligned for that, and each
// vector begins at a multiple of the lanes.
llvm::Align ExprEmitter::VectorAlignOf(const EmitOperand& operand,
                                       const Affine& offset) const {
  const llvm::Align least = AlignOf(operand);
  if (!BeginsWholeVectors(offset)) return least;
  const auto size = static_cast<uint64_t>(SizeOf(operand.dtype)) *
                    static_cast<uint64_t>(lanes_);
  const llvm::Align base =
      operand.base->stripPointerCasts()->getPointerAlignment(
          kernel_.module().getDataLayout());
  return std::max(least, std::min(base, llvm::Align(std::bit_floor(size))));
}

Value* ExprEmitter::Address(const EmitOperand& operand, Value* offset) {
  return kernel_.ElementAddress(operand.base, offset, SizeOf(operand.dtype));
}

Value* ExprEmitter::Tagged(const EmitOperand& operand,
                           llvm::Instruction* access) {
  access->setMetadata(llvm::LLVMContext::MD_alias_scope, operand.alias_scope);
  access->setMetadata(llvm::LLVMContext::MD_noalias, operand.no_alias);
  return access;
}

Value* ExprEmitter::LaneOf(Value* vector, int lane) {
  if (!IsVector(vector)) return vector;
  return kernel_.b().CreateExtractElement(vector, static_cast<uint64_t>(lane));
}

bool ExprEmitter::InBounds(int operand, const Affine& offset) const {
  const auto bounds = Bounds(offset, range_of_);
  return bounds && bounds->low >= 0 &&
         bounds->high < layouts_[static_cast<size_t>(operand)].reach();
}

bool ExprEmitter::IsSafe(const Expr& e) {
  std::unordered_set<const ExprNode*> seen;
  return IsSafe(e, seen);
}

// The first node that is not safe ends the search, so all that were seen are.
bool ExprEmitter::IsSafe(const Expr& e,
                         std::unordered_set<const ExprNode*>& seen) {
  if (!seen.insert(e.get()).second) return true;
  if (e->kind == ExprKind::kLoad) {
    if (!InBounds(e->index, ToAffine(e->args[0], range_of_))) return false;
  }
  std::vector<std::pair<int, std::optional<Interval>>> outer;
  bool safe = true;
  for (const Range& range : e->ranges) {
    safe = safe && IsSafe(range.begin, seen) && IsSafe(range.end, seen);
    const auto low = Bounds(range.begin, range_of_);
    const auto high = Bounds(range.end, range_of_);
    outer.emplace_back(range.var, range_of_(range.var));
    if (low && high) {
      ranges_[range.var] = {low->low, high->high - 1};
    } else {
      ranges_.erase(range.var);
    }
  }
  for (const Expr& arg : e->args) safe = safe && IsSafe(arg, seen);
  for (const auto& [var, range] : outer) {
    if (range) {
      ranges_[var] = *range;
    } else {
      ranges_.erase(var);
    }
  }
  return safe;
}

Value* ExprEmitter::EmitLoad(const Expr& e) {
  return ValueOf(e, ReadElements(e));
}

Value* ExprEmitter::ValueOf(const Expr& load, Value* elements) {
  const DType dtype = operand(load->index).dtype;
  return EmitCast(kernel_, FromMemory(kernel_, elements, dtype), dtype,
                  load->dtype);
}

Value* ExprEmitter::ReadElements(const Expr& e) {
  auto& builder = kernel_.b();
  const EmitOperand& operand = operands_[static_cast<size_t>(e->index)];
  const Affine offset = ToAffine(e->args[0], range_of_);
  const bool in_bounds = InBounds(e->index, offset);
  const bool hidden = offset.HidesVar(lane_var_);
  const int64_t stride = hidden ? 0 : offset.CoefficientOf(lane_var_);
  llvm::Type* type = kernel_.MemoryType(operand.dtype);
  // The offset may be simpler than what it was made from.
  if (!Varies(e) || (!hidden && stride == 0)) {
    Value* at = EmitAffine(offset);
    if (mask_.value != nullptr && !in_bounds) {
      Value* any = IsVector(mask_.value) ? builder.CreateOrReduce(mask_.value)
                                         : mask_.value;
      at = builder.CreateSelect(any, at, kernel_.Int(0));
    }
    return Tagged(operand, builder.CreateAlignedLoad(type, Address(operand, at),
                                                     AlignOf(operand)));
  }
  Value* mask = mask_.tail || !in_bounds ? mask_.value : nullptr;
  if (mask != nullptr) mask = Splat(kernel_, mask, lanes_);
  if (stride == 1 && mask == nullptr) return LoadContiguous(operand, offset);
  if (stride == 1 && kernel_.HasMaskedAccess(type, lanes_)) {
    llvm::Type* vector = kernel_.VectorOf(type, lanes_);
    return Tagged(
        operand,
        builder.CreateMaskedLoad(
            vector, Address(operand, EmitAffineAt(offset, 0)), AlignOf(operand),
            mask, llvm::Constant::getNullValue(vector)));
  }
  if (stride == 2 && mask == nullptr && lanes_ > 2) {
    return LoadStridedByTwo(operand, offset);
  }
  if (Value* value = LoadRuns(operand, e->args[0], mask)) return value;
  if (lanes_ > 4 && kernel_.HasGather(type, lanes_)) {
    return LoadGather(operand, offset, mask);
  }
  return LoadEachLane(operand, offset, mask);
}

Value* ExprEmitter::LoadContiguous(const EmitOperand& operand,
                                   const Affine& offset) {
  llvm::Type* type =
      kernel_.VectorOf(kernel_.MemoryType(operand.dtype), lanes_);
  return Tagged(operand, kernel_.b().CreateAlignedLoad(
                             type, Address(operand, EmitAffineAt(offset, 0)),
                             VectorAlignOf(operand, offset)));
}

// Two vectors, the second ending on the last element, and a shuffle.
Value* ExprEmitter::LoadStridedByTwo(const EmitOperand& operand,
                                     const Affine& offset) {
  auto& builder = kernel_.b();
  Affine second = offset;
  second.constant += lanes_ - 1;
  Value* low = LoadContiguous(operand, offset);
  Value* high = LoadContiguous(operand, second);
  llvm::SmallVector<int> lanes;
  for (int lane = 0; lane < lanes_; ++lane) {
    const int element = 2 * lane;
    lanes.push_back(element < lanes_ ? element : element + 1);
  }
  return builder.CreateShuffleVector(low, high, lanes);
}

// Each run of neighbouring lanes by a load of its own; null where there are
// none, or runs are cut by a mask.
Value* ExprEmitter::LoadRuns(const EmitOperand& operand, const Expr& offset,
                             Value* mask) {
  auto& builder = kernel_.b();
  const auto* base = llvm::dyn_cast_or_null<llvm::ConstantInt>(lane_base_);
  const auto* known = llvm::dyn_cast_or_null<llvm::Constant>(mask);
  if (base == nullptr || !base->isZero() || (mask && !known)) return nullptr;
  const auto runs = LaneRunsOf(offset, lane_var_, lanes_, range_of_);
  if (!runs || runs->run < 2) return nullptr;
  const int run = runs->run;
  const auto reads = [&](int lane) {
    return known == nullptr ||
           known->getAggregateElement(static_cast<unsigned>(lane))
               ->isOneValue();
  };
  for (int lane = 0; lane < lanes_; ++lane) {
    if (reads(lane) != reads(lane / run * run)) return nullptr;
  }
  // Runs below a register's quarter are elements of a vector of their own.
  const int64_t bits = 8 * SizeOf(operand.dtype) * run;
  llvm::Type* element = kernel_.MemoryType(operand.dtype);
  llvm::Type* whole = kernel_.VectorOf(element, lanes_);
  const bool is_element = bits <= 64 && run < lanes_;
  llvm::Type* part = !is_element ? kernel_.VectorOf(element, run)
                     : bits == 64
                         ? builder.getDoubleTy()
                         : builder.getIntNTy(static_cast<unsigned>(bits));
  Value* vector = llvm::Constant::getNullValue(
      is_element ? kernel_.VectorOf(part, lanes_ / run) : whole);
  Value* first = Address(operand, EmitAffine(runs->first));
  for (int lane = 0; lane < lanes_; lane += run) {
    if (!reads(lane)) continue;
    const int64_t step = runs->steps[static_cast<size_t>(lane)];
    Value* loaded =
        Tagged(operand, builder.CreateAlignedLoad(
                            part,
                            kernel_.ElementAddress(first, kernel_.Int(step),
                                                   SizeOf(operand.dtype)),
                            AlignOf(operand)));
    vector = is_element ? builder.CreateInsertElement(
                              vector, loaded, static_cast<uint64_t>(lane / run))
                        : builder.CreateInsertVector(whole, vector, loaded,
                                                     kernel_.Int(lane));
  }
  return builder.CreateBitCast(vector, whole);
}

Value* ExprEmitter::LoadGather(const EmitOperand& operand, const Affine& offset,
                               Value* mask) {
  auto& builder = kernel_.b();
  llvm::Type* type = kernel_.MemoryType(operand.dtype);
  Value* base = operand.base;
  Affine rest = offset;
  if (!offset.HidesVar(lane_var_)) {
    // One scalar address and constant steps, which fit into 32 bits.
    base = Address(operand, EmitAffineAt(offset, 0));
    rest = {};
    rest.Add(Var(lane_var_), offset.CoefficientOf(lane_var_));
    Value* outer = lane_base_;
    lane_base_ = kernel_.Int(0);
    Value* steps = EmitAffine(rest);
    lane_base_ = outer;
    Value* at = builder.CreateGEP(type, base, steps);
    return Tagged(operand,
                  builder.CreateMaskedGather(kernel_.VectorOf(type, lanes_), at,
                                             AlignOf(operand), mask));
  }
  Value* at =
      builder.CreateGEP(type, base, Splat(kernel_, EmitAffine(offset), lanes_));
  return Tagged(operand,
                builder.CreateMaskedGather(kernel_.VectorOf(type, lanes_), at,
                                           AlignOf(operand), mask));
}

Value* ExprEmitter::LoadEachLane(const EmitOperand& operand,
                                 const Affine& offset, Value* mask) {
  auto& builder = kernel_.b();
  llvm::Type* type = kernel_.MemoryType(operand.dtype);
  Value* vector = llvm::PoisonValue::get(kernel_.VectorOf(type, lanes_));
  const bool affine = !offset.HidesVar(lane_var_);
  Value* offsets = affine ? nullptr : EmitAffine(offset);
  for (int lane = 0; lane < lanes_; ++lane) {
    Value* at = affine ? EmitAffineAt(offset, lane) : LaneOf(offsets, lane);
    if (mask != nullptr) {
      at = builder.CreateSelect(LaneOf(mask, lane), at, kernel_.Int(0));
    }
    Value* value =
        Tagged(operand, builder.CreateAlignedLoad(type, Address(operand, at),
                                                  AlignOf(operand)));
    vector =
        builder.CreateInsertElement(vector, value, static_cast<uint64_t>(lane));
  }
  return vector;
}

void ExprEmitter::Store(int operand, Value* value, DType dtype) {
  const Affine offset =
      OffsetOf(layouts_[static_cast<size_t>(operand)], indices_, range_of_);
  StoreAt(operand, offset, value, dtype);
}

void ExprEmitter::StoreAt(int index, const Affine& offset, Value* value,
                          DType dtype) {
  auto& builder = kernel_.b();
  const EmitOperand& operand = operands_[static_cast<size_t>(index)];
  value = EmitCast(kernel_, value, dtype, operand.dtype);
  value = ToMemory(kernel_, value, operand.dtype);
  if (lanes_ == 1 || lane_var_ < 0) {
    Tagged(operand,
           builder.CreateAlignedStore(
               value, Address(operand, EmitAffine(offset)), AlignOf(operand)));
    return;
  }
  value = Splat(kernel_, value, lanes_);
  const bool contiguous =
      !offset.HidesVar(lane_var_) && offset.CoefficientOf(lane_var_) == 1;
  if (contiguous && mask_.value == nullptr) {
    Tagged(operand, builder.CreateAlignedStore(
                        value, Address(operand, EmitAffineAt(offset, 0)),
                        VectorAlignOf(operand, offset)));
    return;
  }
  if (contiguous) {
    Tagged(operand, builder.CreateMaskedStore(
                        value, Address(operand, EmitAffineAt(offset, 0)),
                        AlignOf(operand), mask_.value));
    return;
  }
  for (int lane = 0; lane < lanes_; ++lane) {
    const auto store = [&] {
      Tagged(operand, builder.CreateAlignedStore(
                          LaneOf(value, lane),
                          Address(operand, EmitAffineAt(offset, lane)),
                          AlignOf(operand)));
    };
    if (mask_.value == nullptr) {
      store();
    } else {
      kernel_.If(LaneOf(mask_.value, lane), store);
    }
  }
}

// Decides in which order a sum's last elements are added.
bool ExprEmitter::HasMaskedTails(int lanes) const {
  const Target& target = kernel_.target();
  return std::ranges::all_of(operands_, [&](const EmitOperand& operand) {
    return target.keeps_own_order()
               ? kernel_.HasMaskedAccess(kernel_.MemoryType(operand.dtype),
                                         lanes)
               : OrderHasMaskedAccess(target, operand.dtype, lanes);
  });
}

}  // namespace mxc
