// SPDX-License-Identifier: Apache-2.0
// WinogradKernel: a 3x3, 4x4 or 5x5 convolution by Winograd's minimal filtering.
//
//   for task:                     chunk of output channels, block of tiles
//     data[plane] = Bᵀ d B        of all channels and tiles, in scratch
//     for group of vectors:
//       for plane, tile of tiles: MicroKernel; the products stay in scratch
//       output = epilogue(Aᵀ products A)
#pragma once

#include "codegen/contraction/epilogue.h"
#include "codegen/contraction/flat_memory.h"
#include "codegen/contraction/micro_kernel.h"
#include "codegen/contraction/winograd_shape.h"

namespace mxc::contraction {

class WinogradKernel : private FlatMemory {
 public:
  WinogradKernel(KernelFunction& kernel, const WinogradShape& shape);
  void Emit();

 private:
  using Vectors = std::vector<llvm::Value*>;
  struct Block {
    llvm::Value *first, *count;  // of its tiles
    llvm::Value* is_full;        // i1
  };
  // Of a tile of outputs; i64 values.
  struct Corner {
    llvm::Value *image, *row, *column;
  };
  void EmitTask(llvm::Value* task);
  void TransformData(const Block& block);
  void TransformTile(llvm::Value* window, llvm::Value* to);
  void EmitGroups(const Block& block, llvm::Value* first, llvm::Value* last);
  void EmitGroup(const Block& block, llvm::Value* group, int vectors,
                 int64_t tail_lanes);
  void EmitProducts(const Block& block, llvm::Value* group, int vectors);
  void MultiplyPlane(int64_t tiles, int vectors, llvm::Value* data,
                     llvm::Value* weight, llvm::Value* products);
  void EmitOutputs(const Block& block, llvm::Value* vector,
                   llvm::Value* products, int64_t tail_lanes);
  void WriteTile(const Corner& corner, llvm::Value* vector, int64_t tail_lanes);
  void WriteRow(const Corner& corner, llvm::Value* sums, int64_t width,
                llvm::Value* vector, int64_t tail_lanes);
  void ZeroHalo(llvm::Value* block, llvm::Value* first_group,
                llvm::Value* last_group);

  Corner CornerOf(llvm::Value* tile);
  llvm::Value* Output();

  const WinogradShape& shape_;
  const Nest& nest_;  // of the output
  // Scratch: transformed data, products, one tile of outputs.
  llvm::Value *data_, *products_, *outputs_;
  Epilogue epilogue_;
};

}  // namespace mxc::contraction
