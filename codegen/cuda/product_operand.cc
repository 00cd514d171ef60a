// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/product_operand.h"

#include <algorithm>
#include <utility>

#include "codegen/cuda/product_shape.h"

namespace mxc {
namespace {

using llvm::Value;

constexpr int kVector = 4;  // f32 of 16 bytes
// Beyond a line of shared memory, so that the 8 lines and 4 words that a warp
// reads at once lie in 32 different banks.
constexpr int kDepthGap = 4, kLineGap = 8;

// How many elements lie side by side along the innermost variables, if the
// window leaves the data for all of them or for none.
int64_t RunOf(const Affine& offset, const Expr& inside,
              const std::vector<ProductVar>& vars) {
  int64_t run = 1;
  for (size_t k = vars.size(); k-- > 0;) {
    const auto& [var, extent] = vars[k];
    if (extent == 1) continue;
    const bool next = offset.CoefficientOf(var->index) == run &&
                      !offset.HidesVar(var->index) &&
                      !UsesVar(inside, var->index);
    if (!next) break;
    run *= extent;
  }
  return run;
}

// Whether runs begin at whole vectors.
bool RunsAreAligned(const Affine& offset, const std::vector<ProductVar>& vars,
                    int64_t run) {
  if (offset.constant % kVector != 0) return false;
  return std::ranges::all_of(offset.terms, [&](const Affine::Term& term) {
    int64_t inner = 1;
    for (size_t k = vars.size(); k-- > 0 && inner < run;) {
      if (Equal(vars[k].var, term.atom)) return true;  // a part of the run
      inner *= vars[k].extent;
    }
    return term.coefficient % kVector == 0;
  });
}

}  // namespace

ProductAccess AccessOf(const Affine& offset, const Expr& inside, bool aligned,
                       const std::vector<ProductVar>& lines,
                       const std::vector<ProductVar>& depth) {
  const auto in_vectors = [&](const std::vector<ProductVar>& vars) {
    const int64_t run = RunOf(offset, inside, vars);
    return aligned && run % kVector == 0 && RunsAreAligned(offset, vars, run);
  };
  if (in_vectors(depth)) return {true, kVector};
  if (in_vectors(lines)) return {false, kVector};
  const auto steps_by_one = [&](const std::vector<ProductVar>& vars) {
    for (size_t k = vars.size(); k-- > 0;) {
      if (vars[k].extent == 1) continue;
      return offset.CoefficientOf(vars[k].var->index) == 1;
    }
    return false;
  };
  return {steps_by_one(depth) || !steps_by_one(lines), 1};
}

ProductOperand::ProductOperand(DeviceFunction& kernel, ExprEmitter& emitter,
                               Source source, int tile_lines, int threads)
    : kernel_(kernel),
      emitter_(emitter),
      source_(std::move(source)),
      tile_lines_(tile_lines),
      threads_(threads) {}

int64_t ProductOperand::Lines() const {
  int64_t lines = 1;
  for (const ProductVar& var : source_.lines) lines *= var.extent;
  return lines;
}

int64_t ProductOperand::Depth() const {
  int64_t depth = 1;
  for (const ProductVar& var : source_.depth) depth *= var.extent;
  return depth;
}

int ProductOperand::SlotCount() const {
  return tile_lines_ * ProductTile::kDepth / source_.access.vector / threads_;
}

int ProductOperand::StageWords() const {
  return source_.access.along_depth
             ? tile_lines_ * (ProductTile::kDepth + kDepthGap)
             : ProductTile::kDepth * (tile_lines_ + kLineGap);
}

Value* ProductOperand::WordAt(Value* line, Value* depth) {
  auto& b = kernel_.b();
  if (source_.access.along_depth) {
    Value* pitch = kernel_.Word(ProductTile::kDepth + kDepthGap);
    return b.CreateAdd(b.CreateMul(line, pitch), depth);
  }
  Value* pitch = kernel_.Word(tile_lines_ + kLineGap);
  return b.CreateAdd(b.CreateMul(depth, pitch), line);
}

std::vector<Value*> ProductOperand::Apart(Value* number,
                                          const std::vector<ProductVar>& vars) {
  auto& b = kernel_.b();
  std::vector<Value*> values(vars.size());
  for (size_t k = vars.size(); k-- > 0;) {
    Value* extent = kernel_.Word(vars[k].extent);
    Value* value = k == 0 ? number : b.CreateURem(number, extent);
    if (k > 0) number = b.CreateUDiv(number, extent);
    values[k] = b.CreateZExt(value, b.getInt64Ty());
  }
  return values;
}

void ProductOperand::Begin(Value* first_line) {
  auto& b = kernel_.b();
  const auto [along_depth, vector] = source_.access;
  const int side = (along_depth ? ProductTile::kDepth : tile_lines_) / vector;
  for (int i = 0; i < SlotCount(); ++i) {
    Value* number = b.CreateAdd(kernel_.Thread(), kernel_.Word(i * threads_));
    Value* near = b.CreateMul(b.CreateURem(number, kernel_.Word(side)),
                              kernel_.Word(vector));
    Value* far = b.CreateUDiv(number, kernel_.Word(side));
    Slot slot;
    slot.line = along_depth ? far : near;
    slot.depth = along_depth ? near : far;
    Value* line = b.CreateAdd(first_line, slot.line);
    slot.is_line = b.CreateICmpULT(line, kernel_.Word(Lines()));
    slot.values = Apart(line, source_.lines);
    slots_.push_back(std::move(slot));
  }
}

void ProductOperand::Copy(Value* first_depth, Value* to) {
  auto& b = kernel_.b();
  const int vector = source_.access.vector;
  Value* from = kernel_.GlobalOperand(source_.operand);
  for (const Slot& slot : slots_) {
    const ExprEmitter::Scope scope(emitter_);
    for (size_t k = 0; k < source_.lines.size(); ++k) {
      emitter_.SetValue(source_.lines[k].var, slot.values[k]);
    }
    Value* depth = b.CreateAdd(first_depth, slot.depth);
    const std::vector<Value*> values = Apart(depth, source_.depth);
    for (size_t k = 0; k < source_.depth.size(); ++k) {
      emitter_.SetValue(source_.depth[k].var, values[k]);
    }
    Value* is_there = b.CreateAnd(
        slot.is_line, b.CreateICmpULT(depth, kernel_.Word(Depth())));
    is_there = b.CreateAnd(is_there, emitter_.EmitForm(source_.inside));
    Value* offset = b.CreateSelect(
        is_there, emitter_.EmitForm(source_.element->args[0]), kernel_.Int(0));
    Value* bytes =
        b.CreateSelect(is_there, kernel_.Word(4 * vector), kernel_.Word(0));
    Value* at = b.CreateGEP(b.getFloatTy(), from, offset);
    Value* word =
        b.CreateInBoundsGEP(b.getFloatTy(), to, WordAt(slot.line, slot.depth));
    if (vector == kVector) {
      kernel_.CopyAsync16({word, at, bytes});
    } else {
      kernel_.CopyAsync4({word, at, bytes});
    }
  }
}

}  // namespace mxc
