// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/product_operand.h"

#include <algorithm>
#include <utility>

#include "codegen/cuda/product_shape.h"

namespace mxc {
namespace {

using llvm::Value;

StageLayout StageOf(const ProductOperand::Tile& tile, int element_bytes,
                    bool along_depth) {
  return {tile.lines, tile.depth, element_bytes, along_depth, tile.cores};
}

}  // namespace

ProductOperand::ProductOperand(DeviceFunction& kernel, ExprEmitter& emitter,
                               Source source, const Tile& tile)
    : kernel_(kernel),
      emitter_(emitter),
      source_(std::move(source)),
      tile_(tile),
      stage_(StageOf(tile, element_bytes(), source_.access.along_depth)) {}

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
  return tile_.lines * tile_.depth / source_.access.vector / tile_.threads;
}

llvm::Type* ProductOperand::ElementType() {
  auto& b = kernel_.b();
  return dtype() == DType::kF32 ? b.getFloatTy() : b.getInt16Ty();
}

int64_t ProductOperand::MostStageWords(const Tile& tile, int element_bytes) {
  return std::max(StageOf(tile, element_bytes, true).Words(),
                  StageOf(tile, element_bytes, false).Words());
}

Value* ProductOperand::PlaceAt(Value* stage, Value* line, Value* depth) {
  return kernel_.b().CreateInBoundsGEP(ElementType(), stage,
                                       stage_.Place(kernel_, line, depth));
}

// Where 16 bytes of a line are words of the depth, or 16 bytes of the depth are
// pairs of lines, the warp loads matrices of them at once.
llvm::SmallVector<Value*, 4> ProductOperand::ReadBlock(Value* stage,
                                                       Value* line, Value* word,
                                                       bool pairs) {
  auto& b = kernel_.b();
  const bool words = pairs || dtype() == DType::kF32;
  const bool turned = !source_.access.along_depth;
  Value* lane = kernel_.Lane();
  llvm::SmallVector<Value*, 4> found;
  if (!words || (turned && !pairs)) {
    for (const int more_words : {0, kBlockWords / 2}) {
      for (const int more_lines : {0, kBlockLines / 2}) {
        Value* group = b.CreateUDiv(lane, kernel_.Word(4));
        Value* pair = b.CreateAnd(lane, kernel_.Word(3));
        Value* at = PlaceAt(
            stage,
            b.CreateAdd(line, b.CreateAdd(group, kernel_.Word(more_lines))),
            b.CreateAdd(word, b.CreateAdd(pair, kernel_.Word(more_words))));
        found.push_back(b.CreateLoad(ElementType(), at));
      }
    }
    return found;
  }
  // Of the lane's row: the matrices of both halves of the lines come first.
  constexpr int kRows = 8;
  const int depth_of_word = pairs ? 2 : 1;
  Value* row = b.CreateAnd(lane, kernel_.Word(kRows - 1));
  Value* second_lines = b.CreateAnd(lane, kernel_.Word(kRows));
  Value* second_words = b.CreateUDiv(lane, kernel_.Word(2 * kRows));
  Value* depth = b.CreateAdd(
      b.CreateMul(word, kernel_.Word(depth_of_word)),
      b.CreateMul(second_words, kernel_.Word(depth_of_word * kBlockWords / 2)));
  line = b.CreateAdd(line, second_lines);
  (turned ? depth : line) = b.CreateAdd(turned ? depth : line, row);
  Value* at = PlaceAt(stage, line, depth);
  Value* matrices =
      turned ? kernel_.LoadTurnedMatrices({at}) : kernel_.LoadMatrices({at});
  for (unsigned i = 0; i < 4; ++i) {
    Value* x = b.CreateExtractValue(matrices, i);
    found.push_back(pairs ? x : b.CreateBitCast(x, b.getFloatTy()));
  }
  return found;
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
  const int side = (along_depth ? tile_.depth : tile_.lines) / vector;
  for (int i = 0; i < SlotCount(); ++i) {
    Value* number =
        b.CreateAdd(kernel_.Thread(), kernel_.Word(i * tile_.threads));
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

ProductOperand::OnTheWay ProductOperand::Copy(Value* first_depth, Value* to) {
  auto& b = kernel_.b();
  const int size = source_.access.vector * element_bytes();
  OnTheWay elements;
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
    Value* at = b.CreateGEP(ElementType(), from, offset);
    if (size < kSmallCopy) {
      Value* element = b.CreateLoad(ElementType(), at);
      elements.push_back(b.CreateSelect(is_there, element, b.getInt16(0)));
      continue;
    }
    Value* bytes =
        b.CreateSelect(is_there, kernel_.Word(size), kernel_.Word(0));
    Value* place = PlaceAt(to, slot.line, slot.depth);
    if (size == kWideCopy) {
      kernel_.CopyAsync16({place, at, bytes});
    } else if (size > kSmallCopy) {
      kernel_.CopyAsync8({place, at, bytes});
    } else {
      kernel_.CopyAsync4({place, at, bytes});
    }
  }
  return elements;
}

void ProductOperand::Settle(const OnTheWay& elements, Value* to) {
  for (size_t i = 0; i < elements.size(); ++i) {
    const Slot& slot = slots_[i];
    kernel_.b().CreateStore(elements[i], PlaceAt(to, slot.line, slot.depth));
  }
}

}  // namespace mxc
