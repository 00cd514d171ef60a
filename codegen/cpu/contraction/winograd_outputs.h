// SPDX-License-Identifier: Apache-2.0
// WinogradOutputs: what follows the products of a convolution by Winograd's
// algorithm: their sums are transformed back, finished by the epilogue, and
// written, or the maxima of their windows are.
#pragma once

#include <vector>

#include "codegen/cpu/contraction/epilogue.h"
#include "codegen/cpu/contraction/flat_memory.h"
#include "codegen/cpu/contraction/tile_transform.h"
#include "codegen/cpu/contraction/winograd_shape.h"
#include "codegen/cpu/contraction/winograd_tiles.h"

namespace mxc::contraction {

class WinogradOutputs : private FlatMemory {
 public:
  // `lines`: scratch for a tile between its two transforms.
  WinogradOutputs(KernelFunction& kernel, const WinogradShape& shape,
                  llvm::Value* lines);

  // Of all of a block's tiles, for a vector of channels, of which tail_lanes
  // are there (0: all); `products` are the vector's in the first plane.
  void Emit(const TileBlock& block, llvm::Value* vector, llvm::Value* products,
            int64_t tail_lanes);
  // The first block's tasks do it for all images.
  void ZeroHalo(llvm::Value* block, llvm::Value* first_group,
                llvm::Value* last_group);

  // Where the output of a tile's corner is; so many rows below.
  llvm::Value* OutputOf(const TileCorner& corner, llvm::Value* vector);
  llvm::Value* Below(llvm::Value* output, llvm::Value* rows);

 private:
  using Vectors = std::vector<llvm::Value*>;
  Vectors OutputRow(const TileKind& kind, const VectorLines& sums,
                    llvm::Value* row);
  void WriteTile(const TileKind& kind, const TileCorner& corner,
                 const VectorLines& sums, llvm::Value* vector,
                 int64_t tail_lanes);
  void WriteMaxima(const TileKind& kind, const TileCorner& corner,
                   const VectorLines& sums, llvm::Value* vector,
                   int64_t tail_lanes);
  void WriteRow(const TileCorner& corner, const Vectors& values,
                llvm::Value* vector, int64_t tail_lanes);
  llvm::Value* Output();

  const WinogradShape& shape_;
  const Nest& nest_;  // of the output
  const ElementMemory output_;
  llvm::Value* const lines_;
  BlockTiles tiles_;
  Epilogue epilogue_;
};

}  // namespace mxc::contraction
