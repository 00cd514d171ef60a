// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/warpgroup_sums.h"

namespace mxc {
namespace {

using llvm::Value;

// What one instruction multiplies of the depth.
constexpr int kDepth = 16;

}  // namespace

WarpgroupSums::WarpgroupSums(DeviceFunction& kernel, const ProductTile& tile,
                             ProductOperand& data, ProductOperand& weight,
                             int64_t depth)
    : ProductSums(kernel, tile, data, weight, depth) {
  auto& b = kernel_.b();
  Value* warp = b.CreateUDiv(kernel_.Thread(), kernel_.Word(kWarp));
  row_ =
      b.CreateMul(b.CreateUDiv(warp, kernel_.Word(ProductTile::kWarpsOfGroup)),
                  kernel_.Word(ProductTile::kWarpgroupRows));
  // The warps of a group have its rows one after the other.
  tiles_ = {1, tile.columns / kColumns, b.CreateMul(warp, kernel_.Word(kRows)),
            kernel_.Word(0)};
}

void WarpgroupSums::Run() {
  auto& b = kernel_.b();
  CopyAhead();
  Values carried = Zeros();
  carried.push_back(kernel_.Word(0));  // the stage whose turn it is
  carried = kernel_.Loop(
      kernel_.Int(0), kernel_.Int(Steps()), 1, carried,
      [&](Value* i, const Values& before) {
        Value* stage = before.back();
        kernel_.WaitForCopies({kernel_.Word(ProductTile::kAhead - 1)});
        kernel_.FenceShared();
        // All copies of the stage are there, and of the stage that was two
        // before all products: the next copies may go into it. Those of the
        // stage before may still be on their way.
        kernel_.Barrier();
        Value* step = b.CreateTrunc(i, b.getInt32Ty());
        Value* last = StageAfter(stage, ProductTile::kAhead);
        const OnTheWay elements = CopyStage(
            b.CreateAdd(step, kernel_.Word(ProductTile::kAhead)), last);
        Values after = Multiply(stage, {before.begin(), before.end() - 1});
        after = kernel_.WaitForProducts(after, /*groups=*/1);
        Settle(elements, last);
        after.push_back(StageAfter(stage, 1));
        return after;
      });
  carried.pop_back();
  sums_ = kernel_.WaitForProducts(carried, /*groups=*/0);
}

// PTX ISA, "Matrix Descriptor Format": sixteenths of the address, of the bytes to
// the next depth and to the next lines, in 14 bits each; no swizzle.
Value* WarpgroupSums::Descriptor(ProductOperand& operand, Value* stage,
                                 Value* line) {
  constexpr int64_t kUnit = 16;
  auto& b = kernel_.b();
  const StageLayout& layout = operand.stage();
  Value* begin = kernel_.SharedAddress({StageAt(stage, operand)});
  const int64_t bytes_of_line = layout.BytesToNextLines() / StageLayout::kCore;
  Value* at =
      b.CreateAdd(begin, b.CreateMul(line, kernel_.Word(bytes_of_line)));
  const int64_t steps = layout.BytesToNextDepth() / kUnit << 16 |
                        layout.BytesToNextLines() / kUnit << 32;
  return b.CreateOr(kernel_.Wide(b.CreateUDiv(at, kernel_.Word(kUnit))),
                    kernel_.Int(steps));
}

ProductSums::Values WarpgroupSums::Multiply(Value* stage, const Values& sums) {
  constexpr int64_t kUnit = 16;
  auto& b = kernel_.b();
  ProductOperand* sides[] = {&data_, &weight_};
  Value* lines[] = {row_, kernel_.Word(0)};
  Value* descriptors[2];
  for (int side = 0; side < 2; ++side) {
    descriptors[side] = Descriptor(*sides[side], stage, lines[side]);
  }
  kernel_.BeginProducts();
  Values after = sums;
  for (int k = 0; k < tile_.depth; k += kDepth) {
    DeviceFunction::WarpgroupProduct product;
    product.f16 = data_.dtype() == DType::kF16;
    for (int side = 0; side < 2; ++side) {
      const StageLayout& layout = sides[side]->stage();
      const int64_t cores = k / StageLayout::kCore;
      product.descriptors[side] =
          b.CreateAdd(descriptors[side],
                      kernel_.Int(cores * layout.BytesToNextDepth() / kUnit));
      product.turned[side] = !layout.along_depth;
    }
    after = kernel_.Multiply(product, after);
  }
  kernel_.CommitProducts();
  return after;
}

}  // namespace mxc
