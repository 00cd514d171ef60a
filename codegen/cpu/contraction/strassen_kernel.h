// SPDX-License-Identifier: Apache-2.0
// StrassenKernel: a convolution of 1 x 1 kernels by Strassen's algorithm.
//
//   for task:                     chunk of output channels, block of pairs
//     data[plane] = Σ a · quarters of the data, of all channels and pairs
//     for group of vectors (of half the output channels), tile of pairs:
//       for plane:                MicroKernel, from a sum of earlier products;
//                                 what it comes to waits in scratch
//       quarters of the output = epilogue(sums of products)
#pragma once

#include <vector>

#include "codegen/cpu/contraction/epilogue.h"
#include "codegen/cpu/contraction/flat_memory.h"
#include "codegen/cpu/contraction/plane_products.h"
#include "codegen/cpu/contraction/strassen_shape.h"

namespace mxc::contraction {

class StrassenKernel : private FlatMemory {
 public:
  StrassenKernel(KernelFunction& kernel, const StrassenShape& shape);
  void Emit();

 private:
  using Vectors = std::vector<llvm::Value*>;
  using Tiles = PlaneProducts::RegisterTiles;
  struct Block {
    llvm::Value *first, *count;  // of its pairs
    llvm::Value* is_full;        // i1
    llvm::Value *first_group, *last_group;
  };
  // i64 values.
  struct Position {
    llvm::Value *image, *row, *column;
  };
  void EmitTask(llvm::Value* task);
  void SumData(const Block& block);
  void EmitGroup(const Block& block, llvm::Value* group);
  void EmitTile(MicroKernel::Source source, llvm::Value* plane,
                const Tiles& tiles);
  MicroKernel::Source SourceOf(const Block& block, llvm::Value* plane);
  void EmitOutputs(const Block& block, llvm::Value* group);
  void Write(const Position& at, llvm::Value* vector, llvm::Value* value);
  void ZeroHalo(llvm::Value* block, llvm::Value* first_group,
                llvm::Value* last_group);

  llvm::Value* PositionNumber(llvm::Value* pair, bool second);
  // Whether the pair has a second position; null: always.
  llvm::Value* HasSecond(llvm::Value* pair);
  // `is_flat`: columns are numbered over all of an image.
  Position PositionAt(llvm::Value* number, bool is_flat);
  llvm::Value* DataOf(llvm::Value* position);
  // The quarter that a plane of data is and products read where it is; -1: it
  // is in scratch.
  int QuarterRead(int64_t plane) const;
  // Scratch.
  llvm::Value* ProductsOf(int64_t plane);
  llvm::Value* Output();

  const StrassenShape& shape_;
  const Nest& nest_;  // of the output
  const ElementMemory input_, output_;
  llvm::Value *data_, *products_;  // scratch
  PlaneProducts multiply_;
  Epilogue epilogue_;
};

}  // namespace mxc::contraction
