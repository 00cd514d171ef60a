// SPDX-License-Identifier: Apache-2.0
// WinogradSumsKernel: the gradient of a 3x3 or 5x5 kernel by Winograd's
// minimal filtering.
//
//   for task:               part of the images, chunk of in and of out channels
//     for block of tiles:
//       data[plane] = Bᵀ d B, weight[plane] = G g Gᵀ           in scratch
//       for plane, channels: sums[plane] += data · weight      MicroKernel
//     output = epilogue(Aᵀ sums A)
#pragma once

#include <functional>

#include "codegen/cpu/contraction/epilogue.h"
#include "codegen/cpu/contraction/flat_memory.h"
#include "codegen/cpu/contraction/micro_kernel.h"
#include "codegen/cpu/contraction/winograd_sums_shape.h"

namespace mxc::contraction {

class WinogradSumsKernel : private FlatMemory {
 public:
  WinogradSumsKernel(KernelFunction& kernel, const WinogradSumsShape& shape);
  void Emit();

 private:
  using Vectors = std::vector<llvm::Value*>;
  // What a task has; i64 values.
  struct Chunk {
    llvm::Value* part;
    llvm::Value *first_block, *last_block;  // of input channels
    llvm::Value *first_group, *last_group;  // of output vectors
  };
  // Of tiles.
  struct Block {
    llvm::Value *first, *count;
    llvm::Value* is_first;  // i1
  };
  struct Corner {
    llvm::Value *image, *row, *column;
  };
  void EmitTask(llvm::Value* task);
  void EmitBlock(const Chunk& chunk, llvm::Value* index);
  void TransformData(const Chunk& chunk, const Block& block);
  void TransformWeight(const Chunk& chunk, const Block& block);
  void TransformWeightTile(llvm::Value* image, const Corner& at,
                           llvm::Value* to);
  void ZeroPlanes(llvm::Value* to, int64_t plane_stride);
  void ForEachGroup(const Chunk& chunk,
                    const std::function<void(llvm::Value* group, int vectors,
                                             int64_t tail_lanes)>& body);
  void EmitProducts(const Chunk& chunk, const Block& block);
  void MultiplyBlock(const Block& block, llvm::Value* data, llvm::Value* weight,
                     llvm::Value* sums, int vectors);
  void EmitOutputs(const Chunk& chunk);
  void EmitOutput(const Chunk& chunk, llvm::Value* channel, llvm::Value* vector,
                  llvm::Value* sums, int64_t tail_lanes);
  // Places in scratch, of the chunk's block or group.
  llvm::Value* DataOf(const Chunk& chunk, llvm::Value* channels);
  llvm::Value* WeightOf(const Chunk& chunk, llvm::Value* group);
  llvm::Value* SumsOf(const Chunk& chunk, llvm::Value* channels,
                      llvm::Value* group);

  Corner CornerOf(llvm::Value* tile);
  llvm::Value* Origin(int operand, const WinogradSumsShape::Strides& strides,
                      const Chunk& chunk);

  const WinogradSumsShape& shape_;
  const Nest& nest_;  // of the output
  // Scratch: transformed operands, sums.
  llvm::Value *data_, *weight_, *sums_;
  Epilogue epilogue_;
};

}  // namespace mxc::contraction
