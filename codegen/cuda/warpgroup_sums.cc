// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/warpgroup_sums.h"

namespace mxc {
namespace {

using llvm::Value;

// What one instruction multiplies of the depth.
constexpr int kDepth = 16;
// Of bytes in descriptors.
constexpr int64_t kUnit = 16;

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

void WarpgroupSums::ShowCopies() { kernel_.FenceShared(); }

ProductSums::Values WarpgroupSums::Finish(Values sums) {
  return kernel_.WaitForProducts(sums, /*groups=*/0);
}

// PTX ISA, "Matrix Descriptor Format": sixteenths of the address and of two
// strides, in 14 bits each, and the swizzle of 128 bytes. Along the depth the
// second stride is that of 8 lines; along the lines the first is that of 64 lines
// and the second that of 8 of the depth.
Value* WarpgroupSums::Descriptor(ProductOperand& operand, Value* stage,
                                 Value* line) {
  auto& b = kernel_.b();
  const StageLayout& layout = operand.stage();
  Value* begin = kernel_.SharedAddress({StageAt(stage, operand)});
  Value* at = b.CreateAdd(
      begin, b.CreateMul(line, kernel_.Word(layout.BytesOfLines(1))));
  constexpr int64_t kSwizzle = int64_t{1} << 62;
  const int64_t first = layout.BytesOfLines(StageLayout::kRow);
  const int64_t strides =
      first / kUnit << 16 | StageLayout::kPatternBytes / kUnit << 32;
  return b.CreateOr(kernel_.Wide(b.CreateUDiv(at, kernel_.Word(kUnit))),
                    kernel_.Int(strides | kSwizzle));
}

// As a group of its own; the products of the stage before are waited for.
ProductSums::Values WarpgroupSums::Multiply(Value* stage, Values sums) {
  auto& b = kernel_.b();
  ProductOperand* sides[] = {&data_, &weight_};
  Value* lines[] = {row_, kernel_.Word(0)};
  Value* descriptors[2];
  for (int side = 0; side < 2; ++side) {
    descriptors[side] = Descriptor(*sides[side], stage, lines[side]);
  }
  kernel_.BeginProducts();
  for (int k = 0; k < tile_.depth; k += kDepth) {
    DeviceFunction::WarpgroupProduct product;
    product.f16 = data_.dtype() == DType::kF16;
    for (int side = 0; side < 2; ++side) {
      const StageLayout& layout = sides[side]->stage();
      product.descriptors[side] = b.CreateAdd(
          descriptors[side], kernel_.Int(layout.BytesOfDepth(k) / kUnit));
      product.turned[side] = !layout.along_depth;
    }
    sums = kernel_.Multiply(product, sums);
  }
  kernel_.CommitProducts();
  return kernel_.WaitForProducts(sums, /*groups=*/1);
}

}  // namespace mxc
