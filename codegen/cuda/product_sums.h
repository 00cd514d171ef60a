// SPDX-License-Identifier: Apache-2.0
// The sums of a block's tile of a product (product_shape.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "codegen/cuda/device_function.h"
#include "codegen/cuda/product_operand.h"
#include "codegen/cuda/product_shape.h"

namespace mxc {

// Who multiplies what has come into shared memory differs: WarpSums,
// WarpgroupSums.
class ProductSums {
 public:
  virtual ~ProductSums() = default;

  // Of a block: stages of both operands, whose place the sums take afterwards.
  static int64_t SharedBytes(const ProductTile& tile,
                             const ContractionTypes& types);

  // Computes the sums, in the registers of the warps.
  void Run();
  // Puts them into shared memory, columns or rows side by side.
  void Put(bool along_columns);
  // `vector` of them from there; i32.
  llvm::Value* At(llvm::Value* row, llvm::Value* column, int vector);

 protected:
  using Values = std::vector<llvm::Value*>;

  // A warp has 16 x 8 sums of each row tile and column tile, and of those a lane
  // four (mma of primitives.def).
  static constexpr int kRows = 16, kColumns = 8, kSumsOfTile = 4;
  struct WarpTiles {
    int rows = 0, columns = 0;   // how many tiles
    llvm::Value* row = nullptr;  // where the first one is; i32
    llvm::Value* column = nullptr;
  };
  // The operands know their lines.
  ProductSums(DeviceFunction& kernel, const ProductTile& tile,
              ProductOperand& data, ProductOperand& weight, int64_t depth);

  // What each thread does before the barrier behind which all may multiply what
  // it has copied.
  virtual void ShowCopies() {}
  // The sums with the products of a stage, which may still be computed when this
  // returns, but not when it returns the next time.
  virtual Values Multiply(llvm::Value* stage, Values sums) = 0;
  // The sums when all products are there.
  virtual Values Finish(Values sums) { return sums; }

  // Where a stage of the operand begins; `stage` is its number, i32.
  llvm::Value* StageAt(llvm::Value* stage, const ProductOperand& operand);

  DeviceFunction& kernel_;
  const ProductTile tile_;
  ProductOperand &data_, &weight_;
  WarpTiles tiles_;

 private:
  struct OnTheWay {
    ProductOperand::OnTheWay data, weight;
  };
  // Starts to copy what step `step` multiplies into a stage, as a group of its
  // own. Beyond the depth it copies zeros.
  OnTheWay CopyStage(llvm::Value* step, llvm::Value* stage);
  void Settle(const OnTheWay& elements, llvm::Value* stage);
  // number + more, modulo the stages; i32.
  llvm::Value* StageAfter(llvm::Value* number, int more);
  llvm::Value* PlaceOf(llvm::Value* row, llvm::Value* column);

  const int64_t depth_;
  Values sums_;  // of the lane, row tile by row tile
  bool along_columns_ = false;
};

std::unique_ptr<ProductSums> MakeProductSums(
    DeviceFunction& kernel, const ProductTile& tile, ProductOperand& data,
    ProductOperand& weight, int64_t depth, const std::string& algorithm);

}  // namespace mxc
