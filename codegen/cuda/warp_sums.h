// SPDX-License-Identifier: Apache-2.0
// Sums that each warp computes by itself, of what its lanes read (mma).
#pragma once

#include <string>

#include "codegen/cuda/product_sums.h"

namespace mxc {

class WarpSums : public ProductSums {
 public:
  WarpSums(DeviceFunction& kernel, const ProductTile& tile,
           ProductOperand& data, ProductOperand& weight, int64_t depth,
           std::string algorithm);

 private:
  // f32 = large + small, as words of tf32; rounded to that, or two elements of
  // 16 bits in a word, large alone.
  struct Split {
    Values large, small;
  };

  Values Multiply(llvm::Value* stage, Values sums) override;
  llvm::Value* Product(const Split& left, const Split& right,
                       const Values& sums);
  Split ReadBlock(ProductOperand& operand, llvm::Value* stage,
                  llvm::Value* line, int word);
  bool MultipliesPairs() const { return tile_.depth > ProductTile::kWords; }
  void ReadTf32(llvm::Value* x, Split& split);

  const std::string algorithm_;
};

}  // namespace mxc
