// SPDX-License-Identifier: Apache-2.0
// OutputHalo: zeroes the border around the spatial axes of a step's output.
// Producers write whole buffers.
#pragma once

#include "codegen/cpu/contraction/step_shape.h"
#include "codegen/llvm/kernel_function.h"

namespace mxc::contraction {

class OutputHalo {
 public:
  OutputHalo(KernelFunction& kernel, const StepShape& shape)
      : kernel_(kernel), shape_(shape) {}

  // Of the given images and vectors of channels, i64 values; `base` is the
  // first byte of the first image and vector.
  struct Part {
    llvm::Value *first_image, *last_image, *first_vector, *last_vector;
  };
  void Zero(llvm::Value* base, const Part& part);

 private:
  void ZeroBorder(llvm::Value* base, size_t dim);
  void ZeroPositions(llvm::Value* base, size_t dim, int64_t count);
  void ZeroFill(llvm::Value* base, int64_t elements);
  llvm::Value* Advance(llvm::Value* base, llvm::Value* index, int64_t stride);

  KernelFunction& kernel_;
  const StepShape& shape_;
};

}  // namespace mxc::contraction
