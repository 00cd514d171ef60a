// SPDX-License-Identifier: Apache-2.0
// Products of a small constant matrix with vectors held in registers, as
// Winograd's transforms need them.
#pragma once

#include <span>
#include <vector>

#include "codegen/cpu/contraction/flat_memory.h"
#include "codegen/llvm/kernel_function.h"

namespace mxc::contraction {

// The matrix · x for a matrix of x.size() columns, by rows. Zeros are left out,
// ±1 are not multiplied by, and what two neighbouring rows or columns have in
// common up to the sign is computed once.
std::vector<llvm::Value*> Multiply(KernelFunction& kernel,
                                   std::span<const double> matrix,
                                   const std::vector<llvm::Value*>& x);

// matrix · x · matrixᵀ, for x of columns² values by rows; rows² values.
std::vector<llvm::Value*> MultiplyBothSides(KernelFunction& kernel,
                                            std::span<const double> matrix,
                                            int columns,
                                            std::vector<llvm::Value*> x);

// Lines of vectors in memory: `line` elements from one to the next, `entry` from
// one vector of it to the next.
struct VectorLines {
  const ElementMemory& memory;
  llvm::Value* base;
  int64_t line, entry;
};
// A matrix for each line of so many vectors.
struct LineTransform {
  std::vector<double> matrix;
  int64_t columns;
};
// to = the matrix · from, for `count` lines, one after the other: registers
// hold no more than one.
void TransformLines(KernelFunction& kernel, const LineTransform& transform,
                    int64_t count, const VectorLines& from,
                    const VectorLines& to);

}  // namespace mxc::contraction
