// SPDX-License-Identifier: Apache-2.0
// StrassenKernel: a convolution of 1 x 1 kernels by Strassen's algorithm.
//
//   for task:                     chunk of output channels, block of pairs
//     data[plane] = Σ a · quarters of the data, of all channels and pairs
//     for group of vectors (of half the output channels):
//       for plane, tile of pairs: MicroKernel; the products stay in scratch
//       quarters of the output = epilogue(Σ c · products)
#pragma once

#include "codegen/contraction/epilogue.h"
#include "codegen/contraction/flat_memory.h"
#include "codegen/contraction/plane_products.h"
#include "codegen/contraction/strassen_shape.h"

namespace mxc::contraction {

class StrassenKernel : private FlatMemory {
 public:
  StrassenKernel(KernelFunction& kernel, const StrassenShape& shape);
  void Emit();

 private:
  struct Block {
    llvm::Value *first, *count;  // of its pairs
    llvm::Value* is_full;        // i1
    llvm::Value *first_group, *last_group;
  };
  // Of an output; i64 values.
  struct Position {
    llvm::Value *image, *row, *column;
  };
  void EmitTask(llvm::Value* task);
  void SumData(const Block& block);
  void EmitGroup(const Block& block, llvm::Value* group);
  void EmitOutputs(const Block& block, llvm::Value* group);
  void Write(const Position& at, llvm::Value* vector, llvm::Value* value);
  void ZeroHalo(llvm::Value* block, llvm::Value* first_group,
                llvm::Value* last_group);

  Position PositionOf(llvm::Value* pair, bool second);
  // Whether the pair has a second position; null: always.
  llvm::Value* HasSecond(llvm::Value* pair);
  llvm::Value* DataOf(const Position& at);
  llvm::Value* Output();

  const StrassenShape& shape_;
  const Nest& nest_;               // of the output
  llvm::Value *data_, *products_;  // scratch
  PlaneProducts multiply_;
  Epilogue epilogue_;
};

}  // namespace mxc::contraction
