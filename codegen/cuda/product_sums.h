// SPDX-License-Identifier: Apache-2.0
// The sums of a block's tile of a product (product_shape.h).
#pragma once

#include <cstdint>
#include <string>

#include "codegen/cuda/device_function.h"
#include "codegen/cuda/product_operand.h"
#include "codegen/cuda/product_shape.h"

namespace mxc {

class ProductSums {
 public:
  // The operands know their lines.
  ProductSums(DeviceFunction& kernel, const ProductTile& tile,
              ProductOperand& data, ProductOperand& weight, int64_t depth,
              std::string algorithm);

  // Of a block: stages of both operands, whose place the sums take afterwards.
  static int64_t SharedBytes(const ProductTile& tile,
                             const ContractionTypes& types);

  // Computes the sums, in the registers of the warps.
  void Run();
  // Puts them into shared memory, columns or rows side by side.
  void Put(bool along_columns);
  // `vector` of them from there; i32.
  llvm::Value* At(llvm::Value* row, llvm::Value* column, int vector);

 private:
  using Values = std::vector<llvm::Value*>;
  // f32 = large + small, as words of tf32; rounded to that, or two elements of
  // 16 bits in a word, large alone.
  struct Split {
    Values large, small;
  };
  struct OnTheWay {
    ProductOperand::OnTheWay data, weight;
  };

  llvm::Value* StageAt(llvm::Value* stage, const ProductOperand& operand);
  OnTheWay CopyStage(llvm::Value* step, llvm::Value* stage);
  void Settle(const OnTheWay& elements, llvm::Value* stage);
  Values Multiplied(llvm::Value* stage, Values sums);
  llvm::Value* Product(const Split& left, const Split& right,
                       const Values& sums);
  Split ReadBlock(ProductOperand& operand, llvm::Value* stage,
                  llvm::Value* line, int word);
  bool MultipliesPairs() const { return tile_.depth > ProductTile::kWords; }
  void ReadTf32(llvm::Value* x, Split& split);
  llvm::Value* PlaceOf(llvm::Value* row, llvm::Value* column);

  DeviceFunction& kernel_;
  const ProductTile tile_;
  const int row_tiles_;  // of a warp, one instruction each
  ProductOperand &data_, &weight_;
  const int64_t depth_;
  const std::string algorithm_;
  Values sums_;
  bool along_columns_ = false;
  // Of the thread: its warp's tile, and its place in the warp. i32.
  llvm::Value *warp_row_ = nullptr, *warp_column_ = nullptr;
  llvm::Value *group_ = nullptr, *pair_ = nullptr;
};

}  // namespace mxc
