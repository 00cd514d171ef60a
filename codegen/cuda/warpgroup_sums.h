// SPDX-License-Identifier: Apache-2.0
// Sums that each warpgroup computes of what lies in shared memory (wgmma), while
// the next operands are on their way there.
#pragma once

#include "codegen/cuda/product_sums.h"

namespace mxc {

class WarpgroupSums : public ProductSums {
 public:
  WarpgroupSums(DeviceFunction& kernel, const ProductTile& tile,
                ProductOperand& data, ProductOperand& weight, int64_t depth);

 private:
  void ShowCopies() override;
  Values Multiply(llvm::Value* stage, Values sums) override;
  Values Finish(Values sums) override;
  // Of the operand's cores from a line on: what wgmma calls a matrix descriptor.
  llvm::Value* Descriptor(ProductOperand& operand, llvm::Value* stage,
                          llvm::Value* line);

  llvm::Value* row_ = nullptr;  // of the warpgroup, the first one; i32
};

}  // namespace mxc
