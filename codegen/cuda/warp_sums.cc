// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/warp_sums.h"

#include <utility>

#include "codegen/llvm/half_float.h"

namespace mxc {
namespace {

using llvm::Value;

// What one instruction multiplies of the depth.
constexpr int kWords = ProductOperand::kBlockWords;
// What one more in the last place of tf32 adds to the bits of an f32.
constexpr int64_t kTf32Step = 0x2000;

}  // namespace

WarpSums::WarpSums(DeviceFunction& kernel, const ProductTile& tile,
                   ProductOperand& data, ProductOperand& weight, int64_t depth,
                   std::string algorithm)
    : ProductSums(kernel, tile, data, weight, depth),
      algorithm_(std::move(algorithm)) {
  static_assert(ProductOperand::kBlockLines == kRows);
  auto& b = kernel_.b();
  Value* warp = b.CreateUDiv(kernel_.Thread(), kernel_.Word(kWarp));
  Value* across = kernel_.Word(tile.columns / ProductTile::kWarpColumns);
  Value* row =
      b.CreateMul(b.CreateUDiv(warp, across), kernel_.Word(tile.warp_rows));
  Value* column = b.CreateMul(b.CreateURem(warp, across),
                              kernel_.Word(ProductTile::kWarpColumns));
  tiles_ = {tile.warp_rows / kRows, ProductTile::kWarpColumns / kColumns, row,
            column};
}

WarpSums::Split WarpSums::ReadBlock(ProductOperand& operand, Value* stage,
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

void WarpSums::ReadTf32(Value* x, Split& split) {
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

Value* WarpSums::Product(const Split& left, const Split& right,
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

WarpSums::Values WarpSums::Multiply(Value* stage, Values sums) {
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
    for (int n = 0; n < tiles_.columns; n += 2) {
      const Split both =
          ReadBlock(weight_, stage, plus(tiles_.column, n * kColumns), k);
      for (int i = 0; i < 2; ++i) {
        columns.push_back({of_tile(both.large, i), of_tile(both.small, i)});
      }
    }
    for (int m = 0; m < tiles_.rows; ++m) {
      const Split left =
          ReadBlock(data_, stage, plus(tiles_.row, m * kRows), k);
      for (int n = 0; n < tiles_.columns; ++n) {
        const auto first =
            sums.begin() + (m * tiles_.columns + n) * kSumsOfTile;
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

}  // namespace mxc
