// SPDX-License-Identifier: Apache-2.0
// BlockTiles: which tiles of outputs a block of a Winograd grid has, where they
// are in the tensors, and where in the scratch. Tiles at the end of the output
// are as small as what is left of it, and are missing from the planes that
// larger ones need: in a block's scratch such tiles lie at the ends, so that
// those of any plane lie side by side.
#pragma once

#include <array>
#include <functional>

#include "codegen/cpu/contraction/flat_memory.h"
#include "codegen/cpu/contraction/winograd_shape.h"

namespace mxc::contraction {

// Of a tile of outputs; i64 values.
struct TileCorner {
  llvm::Value *image, *row, *column;
};
struct TileBlock {
  llvm::Value* first;                    // tile, of all images
  llvm::Value *images, *rows, *columns;  // how many
  TileCorner corner;                     // of the first tile's outputs
  // 1 if the block has the last, smaller tiles along an axis; else 0.
  llvm::Value *bottom, *right;
};
// Tiles of equal size in a block; they lie side by side in scratch.
struct TileKind {
  bool is_bottom, is_right;
  TileAxis::Tile down, across;
  PointRange rows, columns;  // of planes
};

class BlockTiles : private FlatMemory {
 public:
  BlockTiles(KernelFunction& kernel, const WinogradShape& shape)
      : FlatMemory(kernel, shape.step.nest.types.sum, shape.step.nest.lanes),
        shape_(shape) {}

  TileBlock BlockAt(llvm::Value* index);
  llvm::Value* Count(const TileBlock& block);
  // The kinds' places in the block: where the tiles begin that are not at the
  // bottom, those at the right, and those at both; and their number.
  std::array<llvm::Value*, 4> PlacesOf(const TileBlock& block);
  // `tile`: its place in the block.
  using Body = std::function<void(const TileKind& kind,
                                  const TileCorner& corner, llvm::Value* tile)>;
  void Each(const TileBlock& block, const Body& body);
  // Of a tile's number, of all images.
  TileCorner CornerOf(llvm::Value* tile);

 private:
  TileKind KindOf(bool is_bottom, bool is_right) const;
  void EachOf(const TileKind& kind, const TileBlock& block, llvm::Value* place,
              const Body& body);

  const WinogradShape& shape_;
};

}  // namespace mxc::contraction
