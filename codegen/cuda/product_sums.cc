// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/product_sums.h"

#include <algorithm>
#include <utility>

#include "codegen/cuda/warp_sums.h"
#include "codegen/cuda/warpgroup_sums.h"
#include "ir/program/steps/contraction.h"
#include "ir/support/division.h"

namespace mxc {
namespace {

using llvm::Value;

// Beyond a line of sums: those of a warp go to different banks.
constexpr int kSumGap = 4;

}  // namespace

ProductSums::ProductSums(DeviceFunction& kernel, const ProductTile& tile,
                         ProductOperand& data, ProductOperand& weight,
                         int64_t depth)
    : kernel_(kernel),
      tile_(tile),
      data_(data),
      weight_(weight),
      depth_(depth) {}

int64_t ProductSums::SharedBytes(const ProductTile& tile,
                                 const ContractionTypes& types) {
  const auto words = [&](int lines, DType dtype) {
    return ProductOperand::MostStageWords(
        {lines, tile.depth, tile.threads(), tile.warpgroups},
        static_cast<int>(SizeOf(dtype)));
  };
  const int64_t stages = tile.stages() * (words(tile.rows, types.data) +
                                          words(tile.columns, types.weight));
  const int64_t sums = std::max(tile.rows * int64_t{tile.columns + kSumGap},
                                tile.columns * int64_t{tile.rows + kSumGap});
  return int64_t{4} * std::max(stages, sums);
}

void ProductSums::Run() {
  constexpr int kAhead = ProductTile::kAhead;
  auto& b = kernel_.b();
  kernel_.Loop(kernel_.Int(0), kernel_.Int(kAhead), 1, [&](Value* i) {
    Value* step = b.CreateTrunc(i, b.getInt32Ty());
    Settle(CopyStage(step, step), step);
  });
  Values carried(
      static_cast<size_t>(tiles_.rows * tiles_.columns * kSumsOfTile),
      llvm::ConstantFP::get(b.getFloatTy(), 0));
  carried.push_back(kernel_.Word(0));  // the stage whose turn it is
  const int64_t steps = DivideUp(depth_, int64_t{tile_.depth});
  carried = kernel_.Loop(
      kernel_.Int(0), kernel_.Int(steps), 1, carried,
      [&](Value* i, const Values& before) {
        Value* stage = before.back();
        kernel_.WaitForCopies({kernel_.Word(kAhead - 1)});
        ShowCopies();
        // All copies of the stage are there, and the stage that the next ones go
        // into has been read.
        kernel_.Barrier();
        Value* step = b.CreateTrunc(i, b.getInt32Ty());
        Value* last = StageAfter(stage, kAhead);
        const OnTheWay elements =
            CopyStage(b.CreateAdd(step, kernel_.Word(kAhead)), last);
        Values after = Multiply(stage, {before.begin(), before.end() - 1});
        Settle(elements, last);
        after.push_back(StageAfter(stage, 1));
        return after;
      });
  carried.pop_back();
  sums_ = Finish(std::move(carried));
}

Value* ProductSums::StageAfter(Value* number, int more) {
  auto& b = kernel_.b();
  Value* next = b.CreateAdd(number, kernel_.Word(more));
  Value* around = b.CreateSub(next, kernel_.Word(tile_.stages()));
  Value* is_past = b.CreateICmpUGE(next, kernel_.Word(tile_.stages()));
  return b.CreateSelect(is_past, around, next);
}

ProductSums::OnTheWay ProductSums::CopyStage(Value* step, Value* stage) {
  auto& b = kernel_.b();
  Value* depth = b.CreateMul(step, kernel_.Word(tile_.depth));
  OnTheWay elements = {data_.Copy(depth, StageAt(stage, data_)),
                       weight_.Copy(depth, StageAt(stage, weight_))};
  kernel_.CommitCopies();
  return elements;
}

void ProductSums::Settle(const OnTheWay& elements, Value* stage) {
  data_.Settle(elements.data, StageAt(stage, data_));
  weight_.Settle(elements.weight, StageAt(stage, weight_));
}

// The stages of data lie before those of weights.
Value* ProductSums::StageAt(Value* stage, const ProductOperand& operand) {
  auto& b = kernel_.b();
  Value* words = b.CreateMul(stage, kernel_.Word(operand.stage().Words()));
  if (&operand == &weight_) {
    words = b.CreateAdd(words,
                        kernel_.Word(tile_.stages() * data_.stage().Words()));
  }
  return b.CreateInBoundsGEP(b.getFloatTy(), kernel_.Shared(), words);
}

Value* ProductSums::PlaceOf(Value* row, Value* column) {
  auto& b = kernel_.b();
  if (!along_columns_) std::swap(row, column);
  Value* pitch =
      kernel_.Word((along_columns_ ? tile_.columns : tile_.rows) + kSumGap);
  return b.CreateInBoundsGEP(b.getFloatTy(), kernel_.Shared(),
                             b.CreateAdd(b.CreateMul(row, pitch), column));
}

void ProductSums::Put(bool along_columns) {
  auto& b = kernel_.b();
  along_columns_ = along_columns;
  kernel_.WaitForCopies({kernel_.Word(0)});
  kernel_.Barrier();
  Value* lane = kernel_.Lane();
  Value* group = b.CreateUDiv(lane, kernel_.Word(4));
  Value* pair = b.CreateAnd(lane, kernel_.Word(3));
  Value* first_row = b.CreateAdd(tiles_.row, group);
  Value* first_column =
      b.CreateAdd(tiles_.column, b.CreateMul(pair, kernel_.Word(2)));
  for (int m = 0; m < tiles_.rows; ++m) {
    for (int n = 0; n < tiles_.columns; ++n) {
      for (int i = 0; i < kSumsOfTile; ++i) {
        Value* row =
            b.CreateAdd(first_row, kernel_.Word(m * kRows + i / 2 * kRows / 2));
        Value* column =
            b.CreateAdd(first_column, kernel_.Word(n * kColumns + i % 2));
        b.CreateStore(sums_[(m * tiles_.columns + n) * kSumsOfTile + i],
                      PlaceOf(row, column));
      }
    }
  }
  kernel_.Barrier();
}

Value* ProductSums::At(Value* row, Value* column, int vector) {
  auto& b = kernel_.b();
  llvm::Type* type = kernel_.VectorOf(b.getFloatTy(), vector);
  return b.CreateAlignedLoad(type, PlaceOf(row, column),
                             llvm::Align(std::min<uint64_t>(16, 4 * vector)));
}

std::unique_ptr<ProductSums> MakeProductSums(
    DeviceFunction& kernel, const ProductTile& tile, ProductOperand& data,
    ProductOperand& weight, int64_t depth, const std::string& algorithm) {
  if (tile.warpgroups) {
    return std::make_unique<WarpgroupSums>(kernel, tile, data, weight, depth);
  }
  return std::make_unique<WarpSums>(kernel, tile, data, weight, depth,
                                    algorithm);
}

}  // namespace mxc
