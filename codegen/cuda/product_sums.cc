// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/product_sums.h"

#include <algorithm>
#include <utility>

#include "codegen/llvm/half_float.h"
#include "ir/support/division.h"

namespace mxc {
namespace {

using llvm::Value;

// Of one instruction: rows, columns, words of depth.
constexpr int kRows = ProductOperand::kBlockLines, kColumns = 8;
constexpr int kWords = ProductOperand::kBlockWords;
constexpr int kColumnTiles = ProductTile::kWarpColumns / kColumns;
constexpr int kSumsOfTile = 4;
// What one more in the last place of tf32 adds to the bits of an f32.
constexpr int64_t kTf32Step = 0x2000;
// Beyond a line of sums: those of a warp go to different banks.
constexpr int kSumGap = 4;

}  // namespace

ProductSums::ProductSums(DeviceFunction& kernel, const ProductTile& tile,
                         ProductOperand& data, ProductOperand& weight,
                         int64_t depth, std::string algorithm)
    : kernel_(kernel),
      tile_(tile),
      row_tiles_(tile.warp_rows / kRows),
      data_(data),
      weight_(weight),
      depth_(depth),
      algorithm_(std::move(algorithm)) {
  auto& b = kernel_.b();
  Value* lane = b.CreateAnd(kernel_.Thread(), kernel_.Word(kWarp - 1));
  Value* warp = b.CreateUDiv(kernel_.Thread(), kernel_.Word(kWarp));
  Value* across = kernel_.Word(tile_.warps_along_columns());
  warp_row_ =
      b.CreateMul(b.CreateUDiv(warp, across), kernel_.Word(tile_.warp_rows));
  warp_column_ = b.CreateMul(b.CreateURem(warp, across),
                             kernel_.Word(ProductTile::kWarpColumns));
  group_ = b.CreateUDiv(lane, kernel_.Word(4));
  pair_ = b.CreateAnd(lane, kernel_.Word(3));
}

int64_t ProductSums::SharedBytes(const ProductTile& tile,
                                 const ContractionTypes& types) {
  const auto words = [&](int lines, DType dtype) {
    return ProductOperand::MostStageWords({lines, tile.depth, tile.threads()},
                                          static_cast<int>(SizeOf(dtype)));
  };
  const int64_t stages =
      ProductTile::kStages *
      (words(tile.rows, types.data) + words(tile.columns, types.weight));
  const int64_t sums = std::max(tile.rows * int64_t{tile.columns + kSumGap},
                                tile.columns * int64_t{tile.rows + kSumGap});
  return int64_t{4} * std::max(stages, sums);
}

void ProductSums::Run() {
  auto& b = kernel_.b();
  const int64_t steps = DivideUp(depth_, int64_t{tile_.depth});
  constexpr int kAhead = ProductTile::kStages - 1;
  kernel_.Loop(kernel_.Int(0), kernel_.Int(kAhead), 1, [&](Value* i) {
    Value* step = b.CreateTrunc(i, b.getInt32Ty());
    Settle(CopyStage(step, step), step);
  });
  Values carried(static_cast<size_t>(row_tiles_ * kColumnTiles * kSumsOfTile),
                 llvm::ConstantFP::get(b.getFloatTy(), 0));
  carried.push_back(kernel_.Word(0));  // the stage whose turn it is
  carried = kernel_.Loop(
      kernel_.Int(0), kernel_.Int(steps), 1, carried,
      [&](Value* i, const Values& before) {
        Value* stage = before.back();
        kernel_.WaitForCopies({kernel_.Word(kAhead - 1)});
        // All copies of the stage are there, and the stage before has been
        // read: the next copies may go into it.
        kernel_.Barrier();
        Value* step = b.CreateTrunc(i, b.getInt32Ty());
        Value* first = kernel_.Word(0);
        Value* is_first = b.CreateICmpEQ(stage, first);
        Value* last = b.CreateSelect(is_first, kernel_.Word(kAhead),
                                     b.CreateSub(stage, kernel_.Word(1)));
        const OnTheWay elements =
            CopyStage(b.CreateAdd(step, kernel_.Word(kAhead)), last);
        Values after = Multiplied(stage, {before.begin(), before.end() - 1});
        Settle(elements, last);
        Value* is_last = b.CreateICmpEQ(stage, kernel_.Word(kAhead));
        after.push_back(b.CreateSelect(is_last, first,
                                       b.CreateAdd(stage, kernel_.Word(1))));
        return after;
      });
  carried.pop_back();
  sums_ = std::move(carried);
}

// Beyond the depth it copies zeros.
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
  Value* words = b.CreateMul(stage, kernel_.Word(operand.StageWords()));
  if (&operand == &weight_) {
    words = b.CreateAdd(
        words, kernel_.Word(ProductTile::kStages * data_.StageWords()));
  }
  return b.CreateInBoundsGEP(b.getFloatTy(), kernel_.Shared(), words);
}

ProductSums::Split ProductSums::ReadBlock(ProductOperand& operand, Value* stage,
                                          Value* line, int word) {
  Split split;
  for (Value* x : operand.ReadBlock(StageAt(stage, operand), line,
                                    kernel_.Word(word), MultipliesPairs())) {
    if (MultipliesPairs()) {
      split.large.push_back(x);
      continue;
    }
    // Both types of 16 bits are exact in tf32.
    if (operand.dtype() == DType::kBF16) x = BrainToFloat(kernel_, x);
    if (operand.dtype() == DType::kF16) x = HalfToFloat(kernel_, x);
    ReadTf32(x, split);
  }
  return split;
}

void ProductSums::ReadTf32(Value* x, Split& split) {
  auto& b = kernel_.b();
  if (algorithm_ == kMmaTf32Algorithm) {
    split.large.push_back(kernel_.RoundToTf32({x}));
    return;
  }
  // tf32 has the upper 19 bits; what is left of an f32 is rounded to them.
  // Of an infinity the large part is the largest number, so that the small
  // part is infinite rather than not a number, and no 0 multiplies it.
  Value* large =
      b.CreateAnd(b.CreateBitCast(x, b.getInt32Ty()), kernel_.Word(-kTf32Step));
  Value* infinite =
      b.CreateFCmpOEQ(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x),
                      llvm::ConstantFP::getInfinity(b.getFloatTy()));
  Value* below = b.CreateSub(large, kernel_.Word(kTf32Step));
  large = b.CreateSelect(infinite, below, large);
  Value* rest = b.CreateFSub(x, b.CreateBitCast(large, b.getFloatTy()));
  split.large.push_back(large);
  split.small.push_back(b.CreateAdd(b.CreateBitCast(rest, b.getInt32Ty()),
                                    kernel_.Word(kTf32Step / 2)));
}

Value* ProductSums::Product(const Split& left, const Split& right,
                            const Values& sums) {
  Values arguments = left.large;
  for (const Values* more : {&left.small, &right.large, &right.small, &sums}) {
    arguments.insert(arguments.end(), more->begin(), more->end());
  }
  if (algorithm_ == kMmaBf16Algorithm) return kernel_.MmaBf16(arguments);
  if (algorithm_ == kMmaF16Algorithm) return kernel_.MmaF16(arguments);
  if (algorithm_ == kMmaTf32Algorithm) return kernel_.MmaTf32(arguments);
  return kernel_.MmaF32(arguments);
}

ProductSums::Values ProductSums::Multiplied(Value* stage, Values sums) {
  auto& b = kernel_.b();
  const auto plus = [&](Value* a, int more) {
    return b.CreateAdd(a, kernel_.Word(more));
  };
  // Two tiles of columns are a block of lines.
  const auto of_tile = [](const Values& words, int n) -> Values {
    if (words.empty()) return {};
    return {words[static_cast<size_t>(n % 2)],
            words[static_cast<size_t>(n % 2 + 2)]};
  };
  for (int k = 0; k < ProductTile::kWords; k += kWords) {
    std::vector<Split> columns;
    for (int n = 0; n < kColumnTiles; n += 2) {
      const Split both =
          ReadBlock(weight_, stage, plus(warp_column_, n * kColumns), k);
      for (int i = 0; i < 2; ++i) {
        columns.push_back({of_tile(both.large, i), of_tile(both.small, i)});
      }
    }
    for (int m = 0; m < row_tiles_; ++m) {
      const Split left = ReadBlock(data_, stage, plus(warp_row_, m * kRows), k);
      for (int n = 0; n < kColumnTiles; ++n) {
        const auto first = sums.begin() + (m * kColumnTiles + n) * kSumsOfTile;
        Value* result =
            Product(left, columns[n], Values(first, first + kSumsOfTile));
        for (unsigned i = 0; i < kSumsOfTile; ++i) {
          first[i] = b.CreateExtractValue(result, i);
        }
      }
    }
  }
  return sums;
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
  for (int m = 0; m < row_tiles_; ++m) {
    for (int n = 0; n < kColumnTiles; ++n) {
      for (int i = 0; i < kSumsOfTile; ++i) {
        Value* row = b.CreateAdd(b.CreateAdd(warp_row_, group_),
                                 kernel_.Word(m * kRows + i / 2 * kRows / 2));
        Value* column = b.CreateAdd(
            b.CreateAdd(warp_column_, b.CreateMul(pair_, kernel_.Word(2))),
            kernel_.Word(n * kColumns + i % 2));
        b.CreateStore(sums_[(m * kColumnTiles + n) * kSumsOfTile + i],
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

}  // namespace mxc
