// SPDX-License-Identifier: Apache-2.0
// ExprEmitter: integers.
#include "codegen/llvm/arithmetic.h"
#include "codegen/llvm/expr_emitter.h"

namespace mxc {
namespace {

using llvm::Value;

// <0, factor, 2·factor, …>
llvm::Constant* Steps(llvm::Type* type, int64_t factor, int lanes) {
  llvm::SmallVector<llvm::Constant*> steps;
  for (int lane = 0; lane < lanes; ++lane) {
    steps.push_back(llvm::ConstantInt::getSigned(type, factor * lane));
  }
  return llvm::ConstantVector::get(steps);
}

}  // namespace

Value* ExprEmitter::EmitAffine(const Affine& a, int bits) {
  auto& builder = kernel_.b();
  llvm::Type* type = builder.getIntNTy(static_cast<unsigned>(bits));
  Value* scalar = kernel_.Int(0);
  Value* vector = nullptr;
  const auto add_vector = [&](Value* more) {
    vector = vector ? builder.CreateAdd(vector, more) : more;
  };
  for (const auto& [atom, coefficient] : a.terms) {
    const bool lane = atom->kind == ExprKind::kVar &&
                      atom->index == lane_var_ && lane_base_ != nullptr;
    Value* value = lane ? lane_base_ : EmitForm(atom);
    if (lane && lanes_ > 1) add_vector(Steps(type, coefficient, lanes_));
    if (!IsVector(value)) {
      scalar = builder.CreateAdd(
          scalar, builder.CreateMul(value, kernel_.Int(coefficient)));
      continue;
    }
    value = builder.CreateIntCast(value, value->getType()->getWithNewType(type),
                                  true);
    add_vector(builder.CreateMul(
        value, llvm::ConstantInt::getSigned(value->getType(), coefficient)));
  }
  scalar = builder.CreateAdd(scalar, kernel_.Int(a.constant));
  scalar = builder.CreateIntCast(scalar, type, true);
  if (vector == nullptr) return scalar;
  return builder.CreateAdd(Splat(kernel_, scalar, lanes_), vector);
}

Value* ExprEmitter::EmitAffineAt(const Affine& a, int lane) {
  // What all lanes share is emitted, and remembered, outside.
  for (const auto& term : a.terms) {
    if (!free_.Uses(term.atom, lane_var_)) EmitForm(term.atom);
  }
  EnterScalar(kernel_.b().CreateAdd(lane_base_, kernel_.Int(lane)));
  Value* value = EmitAffine(a);
  LeaveScalar();
  return value;
}

// Sums are affine; what is left are quotients, remainders, extrema.
Value* ExprEmitter::EmitIndexNode(const Expr& e) {
  const bool sum = e->binary == BinaryOp::kAdd || e->binary == BinaryOp::kSub ||
                   e->binary == BinaryOp::kMul;
  if (sum) {
    const Affine a = ToAffine(e, range_of_);
    const bool whole = a.terms.size() == 1 && a.constant == 0 &&
                       a.terms[0].coefficient == 1 && Equal(a.terms[0].atom, e);
    if (!whole) return EmitAffine(a);
  }
  auto& builder = kernel_.b();
  Value* x = EmitForm(e->args[0]);
  Value* y = EmitForm(e->args[1]);
  const int lanes = IsVector(x) || IsVector(y) ? lanes_ : 1;
  x = Splat(kernel_, x, lanes);
  y = Splat(kernel_, y, lanes);
  const bool division =
      e->binary == BinaryOp::kDiv || e->binary == BinaryOp::kMod;
  const auto bounds = Bounds(e->args[0], range_of_);
  const bool by_constant =
      e->args[1]->kind == ExprKind::kConst && e->args[1]->number > 0;
  if (division && by_constant && bounds && bounds->low >= 0) {
    return e->binary == BinaryOp::kDiv ? builder.CreateUDiv(x, y)
                                       : builder.CreateURem(x, y);
  }
  return EmitBinary(kernel_, e->binary, DType::kI64, x, y);
}

}  // namespace mxc
