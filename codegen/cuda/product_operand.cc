// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/product_operand.h"

#include <algorithm>
#include <map>
#include <utility>

#include "codegen/cuda/product_shape.h"

namespace mxc {
namespace {

using llvm::Value;

StageLayout StageOf(const ProductOperand::Tile& tile, int element_bytes,
                    bool along_depth) {
  return {tile.lines, tile.depth, element_bytes, along_depth, tile.swizzled};
}

}  // namespace

ProductOperand::ProductOperand(DeviceFunction& kernel, ExprEmitter& emitter,
                               Source source, const Tile& tile)
    : kernel_(kernel),
      emitter_(emitter),
      source_(std::move(source)),
      tile_(tile),
      stage_(StageOf(tile, element_bytes(), source_.access.along_depth)),
      window_(FindWindow()),
      offset_(SplitOffset()) {}

int64_t ProductOperand::LineCount() const {
  int64_t lines = 1;
  for (const ProductVar& var : source_.lines) lines *= var.extent;
  return lines;
}

int64_t ProductOperand::DepthCount() const {
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

ProductOperand::Window ProductOperand::FindWindow() const {
  constexpr int64_t kMostPositions = 32, kMostTests = 64;
  const auto is_of_window = [&](const ProductVar& var) {
    return UsesVar(source_.inside, var.var->index);
  };
  const auto last = std::ranges::find_if_not(source_.depth, is_of_window);
  Window window{static_cast<size_t>(last - source_.depth.begin()), 1};
  for (size_t k = 0; k < window.vars; ++k) {
    window.positions *= source_.depth[k].extent;
  }
  const bool outermost = std::none_of(last, source_.depth.end(), is_of_window);
  const bool few = window.positions <= kMostPositions &&
                   window.positions * SlotCount() <= kMostTests;
  return outermost && few ? window : Window{};
}

ProductOperand::Offset ProductOperand::SplitOffset() const {
  const auto uses = [](const Expr& e, const std::vector<ProductVar>& vars) {
    return std::ranges::any_of(vars, [&](const ProductVar& var) {
      return UsesVar(e, var.var->index);
    });
  };
  const Affine whole = ToAffine(source_.element->args[0], emitter_.ranges());
  Affine lines, depth, both;
  depth.constant = whole.constant;
  for (const Affine::Term& term : whole.terms) {
    const bool of_depth = uses(term.atom, source_.depth);
    const bool of_lines = uses(term.atom, source_.lines);
    Affine& part = !of_depth ? lines : of_lines ? both : depth;
    part.Add(term.atom, term.coefficient);
  }
  return {ToExpr(lines), ToExpr(depth),
          both.is_constant() ? Expr() : ToExpr(both)};
}

void ProductOperand::Set(const std::vector<ProductVar>& vars,
                         const std::vector<Value*>& values) {
  for (size_t k = 0; k < vars.size(); ++k) {
    emitter_.SetValue(vars[k].var, values[k]);
  }
}

// Once for each line, so that an element is found by one bit.
Value* ProductOperand::PositionsOf(const Slot& slot) {
  auto& b = kernel_.b();
  Value* all = kernel_.Word(0);
  for (int64_t position = 0; position < window_.positions; ++position) {
    const ExprEmitter::Scope scope(emitter_);
    Set(source_.lines, slot.values);
    int64_t rest = position;
    for (size_t k = window_.vars; k-- > 0;) {
      const auto& [var, extent] = source_.depth[k];
      emitter_.SetValue(var, kernel_.Int(rest % extent));
      rest /= extent;
    }
    Value* inside =
        b.CreateZExt(emitter_.EmitForm(source_.inside), b.getInt32Ty());
    all = b.CreateOr(all, b.CreateShl(inside, kernel_.Word(position)));
  }
  return b.CreateSelect(slot.is_line, all, kernel_.Word(0));
}

void ProductOperand::Begin(Value* first_line) {
  auto& b = kernel_.b();
  const auto [along_depth, vector] = source_.access;
  const int side = (along_depth ? tile_.depth : tile_.lines) / vector;
  Value* first_near = nullptr;
  for (int i = 0; i < SlotCount(); ++i) {
    Value* number =
        b.CreateAdd(kernel_.Thread(), kernel_.Word(i * tile_.threads));
    Value* near = b.CreateMul(b.CreateURem(number, kernel_.Word(side)),
                              kernel_.Word(vector));
    if (first_near == nullptr) first_near = near;
    // Slots that are whole sides apart are equally near.
    if (tile_.threads % side == 0) near = first_near;
    Value* far = b.CreateUDiv(number, kernel_.Word(side));
    Slot slot;
    slot.line = along_depth ? far : near;
    slot.depth = along_depth ? near : far;
    Value* line = b.CreateAdd(first_line, slot.line);
    slot.is_line = b.CreateICmpULT(line, kernel_.Word(LineCount()));
    slot.values = Apart(line, source_.lines);
    if (window_.positions > 0) slot.positions = PositionsOf(slot);
    const ExprEmitter::Scope scope(emitter_);
    Set(source_.lines, slot.values);
    slot.begin =
        b.CreateGEP(ElementType(), kernel_.GlobalOperand(source_.operand),
                    emitter_.EmitForm(offset_.lines));
    slots_.push_back(std::move(slot));
  }
}

ProductOperand::Depth ProductOperand::DepthAt(Value* number) {
  auto& b = kernel_.b();
  const ExprEmitter::Scope scope(emitter_);
  Depth depth;
  depth.values = Apart(number, source_.depth);
  Set(source_.depth, depth.values);
  depth.offset = emitter_.EmitForm(offset_.depth);
  depth.is_depth = b.CreateICmpULT(number, kernel_.Word(DepthCount()));
  if (window_.positions == 0) return depth;
  Value* position =
      b.CreateUDiv(number, kernel_.Word(DepthCount() / window_.positions));
  if (window_.positions == 1) position = kernel_.Word(0);
  position = b.CreateSelect(depth.is_depth, position, kernel_.Word(0));
  depth.position = b.CreateSelect(
      depth.is_depth, b.CreateShl(kernel_.Word(1), position), kernel_.Word(0));
  return depth;
}

// Where the variables have the values of both.
Value* ProductOperand::IsThere(const Slot& slot, const Depth& depth) {
  auto& b = kernel_.b();
  if (slot.positions != nullptr) {
    return b.CreateICmpNE(b.CreateAnd(slot.positions, depth.position),
                          kernel_.Word(0));
  }
  return b.CreateAnd(b.CreateAnd(slot.is_line, depth.is_depth),
                     emitter_.EmitForm(source_.inside));
}

ProductOperand::OnTheWay ProductOperand::Copy(Value* first_depth, Value* to) {
  auto& b = kernel_.b();
  const int size = source_.access.vector * element_bytes();
  OnTheWay elements;
  std::map<Value*, Depth> depths;
  for (const Slot& slot : slots_) {
    const auto [found, is_new] = depths.try_emplace(slot.depth);
    Depth& depth = found->second;
    if (is_new) depth = DepthAt(b.CreateAdd(first_depth, slot.depth));
    const ExprEmitter::Scope scope(emitter_);
    Set(source_.lines, slot.values);
    Set(source_.depth, depth.values);
    Value* is_there = IsThere(slot, depth);
    Value* at = b.CreateGEP(ElementType(), slot.begin, depth.offset);
    if (offset_.both) {
      at = b.CreateGEP(ElementType(), at, emitter_.EmitForm(offset_.both));
    }
    if (size < kSmallCopy) {
      at = b.CreateSelect(is_there, at, kernel_.GlobalOperand(source_.operand));
      Value* element = b.CreateLoad(ElementType(), at);
      elements.push_back(b.CreateSelect(is_there, element, b.getInt16(0)));
      continue;
    }
    // Of no bytes, the address does not matter.
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
