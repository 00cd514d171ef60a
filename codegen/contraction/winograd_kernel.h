// SPDX-License-Identifier: Apache-2.0
// WinogradKernel: a convolution of stride 1 by Winograd's minimal filtering.
//
//   for task:                     chunk of output channels, block of tiles
//     data[plane] = Bᵀ d B        of all channels and tiles, in scratch
//     for group of vectors:
//       for plane, tile of tiles: MicroKernel; the products stay in scratch
//       output = epilogue(Aᵀ products A)
//
// Tiles at the end of the output are as small as what is left of it, and are
// missing from the planes that larger ones need. In a block's scratch such
// tiles lie at the ends, so that those of any plane lie side by side.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "codegen/contraction/epilogue.h"
#include "codegen/contraction/flat_memory.h"
#include "codegen/contraction/plane_products.h"
#include "codegen/contraction/winograd_shape.h"

namespace mxc::contraction {

class WinogradKernel : private FlatMemory {
 public:
  WinogradKernel(KernelFunction& kernel, const WinogradShape& shape);
  void Emit();

 private:
  using Vectors = std::vector<llvm::Value*>;
  // Of a tile of outputs; i64 values.
  struct Corner {
    llvm::Value *image, *row, *column;
  };
  struct Block {
    llvm::Value* first;                    // tile, of all images
    llvm::Value *images, *rows, *columns;  // how many
    Corner corner;                         // of the first tile's outputs
    // 1 if the block has the last, smaller tiles along an axis; else 0.
    llvm::Value *bottom, *right;
    llvm::Value *first_group, *last_group;
    // The block that follows: its first tile, and how many windows it has, 0 if
    // their data are there.
    llvm::Value *next, *next_windows;
  };
  // `line` and `entry`: from one line of vectors, from one vector of it to the
  // next.
  struct Lines {
    llvm::Value* base;
    int64_t line, entry;
  };
  // A matrix for each line of so many vectors.
  struct Transform {
    std::vector<double> matrix;
    int64_t columns;
  };
  // Tiles of equal size in a block; they lie side by side in scratch.
  struct TileKind {
    bool is_bottom, is_right;
    TileAxis::Tile down, across;
    PointRange rows, columns;  // of planes
  };
  void EmitTask(llvm::Value* task);
  llvm::Value* IndexOf(llvm::Value* task);
  Block BlockAt(llvm::Value* index);
  void SetNext(llvm::Value* task, llvm::Value* index, Block& block);
  llvm::Value* TilesOf(const Block& block);
  // The kinds' places in the block: where the tiles begin that are not at the
  // bottom, those at the right, and those at both; and their number.
  std::array<llvm::Value*, 4> PlacesOf(const Block& block);
  TileKind KindOf(bool is_bottom, bool is_right) const;
  using TileBody = std::function<void(const TileKind& kind,
                                      const Corner& corner, llvm::Value* tile)>;
  void EachTile(const Block& block, const TileBody& body);
  void EachTileOf(const TileKind& kind, const Block& block, llvm::Value* place,
                  const TileBody& body);
  void TransformData(const Block& block);
  void TransformTile(const TileKind& kind, llvm::Value* window,
                     llvm::Value* to);
  void TransformLines(const Transform& transform, int64_t count,
                      const Lines& from, const Lines& to);
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
  void FetchPixels(llvm::Value* first, int64_t count, bool to_write);
  void EmitOutputs(const Block& block, llvm::Value* vector,
                   llvm::Value* products, int64_t tail_lanes);
  void WriteTile(const TileKind& kind, const Corner& corner, const Lines& sums,
                 llvm::Value* vector, int64_t tail_lanes);
  void WriteMaxima(const TileKind& kind, const Corner& corner,
                   const Lines& sums, llvm::Value* vector, int64_t tail_lanes);
  void WriteRow(const Corner& corner, const Vectors& values,
                llvm::Value* vector, int64_t tail_lanes);
  void ZeroHalo(llvm::Value* block, llvm::Value* first_group,
                llvm::Value* last_group);

  Corner CornerOf(llvm::Value* tile);
  llvm::Value* WindowOf(const Corner& corner, llvm::Value* channels);
  llvm::Value* OutputOf(const Corner& corner, llvm::Value* vector);
  llvm::Value* Output();

  const WinogradShape& shape_;
  const Nest& nest_;  // of the output
  // Scratch: transformed data, products, a tile between its two transforms.
  llvm::Value *data_, *products_, *lines_;
  PlaneProducts multiply_;
  Epilogue epilogue_;
};

}  // namespace mxc::contraction
