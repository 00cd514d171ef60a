// SPDX-License-Identifier: Apache-2.0
// WinogradKernel: a convolution of stride 1 by Winograd's minimal filtering.
//
//   for task:                     chunk of output channels, block of tiles
//     data[plane] = Bᵀ d B        of all channels and tiles, in scratch
//     for group of vectors:
//       for plane, tile of tiles: MicroKernel; the products stay in scratch
//       output = epilogue(Aᵀ products A)
#pragma once

#include <functional>
#include <vector>

#include "codegen/cpu/contraction/flat_memory.h"
#include "codegen/cpu/contraction/plane_products.h"
#include "codegen/cpu/contraction/winograd_outputs.h"
#include "codegen/cpu/contraction/winograd_shape.h"
#include "codegen/cpu/contraction/winograd_tiles.h"

namespace mxc::contraction {

class WinogradKernel : private FlatMemory {
 public:
  WinogradKernel(KernelFunction& kernel, const WinogradShape& shape);
  void Emit();

 private:
  struct Block : TileBlock {
    llvm::Value *first_group = nullptr, *last_group = nullptr;
    // The block that follows: its first tile, and how many windows it has, 0 if
    // their data are there.
    llvm::Value *next = nullptr, *next_windows = nullptr;
  };
  void EmitTask(llvm::Value* task);
  llvm::Value* IndexOf(llvm::Value* task);
  void SetNext(llvm::Value* task, llvm::Value* index, Block& block);
  void TransformData(const Block& block);
  void TransformTile(const TileKind& kind, llvm::Value* window,
                     llvm::Value* to);
  void EmitGroups(const Block& block);
  void EmitGroup(const Block& block, llvm::Value* group, int vectors,
                 int64_t tail_lanes);
  void EmitProducts(const Block& block, llvm::Value* group, int vectors);
  void EmitPlane(const Block& block, llvm::Value* group, int vectors,
                 llvm::Value* row, llvm::Value* column);
  llvm::Value* LeavesOut(const TileAxis& axis, llvm::Value* plane);
  void FetchAhead(const Block& block, llvm::Value* group, int vectors,
                  llvm::Value* plane);
  void EachOf(llvm::Value* turn, int64_t each, llvm::Value* count,
              const std::function<void(llvm::Value*)>& body);
  void FetchPixels(llvm::Value* first, int64_t count, DType dtype,
                   bool to_write);
  llvm::Value* WindowOf(const TileCorner& corner, llvm::Value* channels);

  const WinogradShape& shape_;
  const Nest& nest_;  // of the output
  const ElementMemory input_;
  // Scratch: transformed data, products, a tile between its two transforms.
  llvm::Value *data_, *products_, *lines_;
  BlockTiles tiles_;
  PlaneProducts multiply_;
  WinogradOutputs outputs_;
};

}  // namespace mxc::contraction
