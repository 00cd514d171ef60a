// SPDX-License-Identifier: Apache-2.0
// WinogradKernel: a convolution of stride 1 by Winograd's minimal filtering.
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
    llvm::Value *first_group, *last_group;
    // The block that follows: its first tile, and how many windows it has, 0 if
    // their data are there.
    llvm::Value *next, *next_windows;
  };
  // Of a tile of outputs; i64 values.
  struct Corner {
    llvm::Value *image, *row, *column;
  };
  // `line` and `entry`: from one line of vectors, from one vector of it to the
  // next.
  struct Lines {
    llvm::Value* base;
    int64_t line, entry;
  };
  // Of one plane: where its parts begin.
  struct Factors {
    llvm::Value *data, *weight, *products;
  };
  // The tiles of each image that a plane is needed for.
  struct Needed {
    int64_t rows, columns;
  };
  void EmitTask(llvm::Value* task);
  llvm::Value* BlockOf(llvm::Value* task);
  void SetNext(llvm::Value* task, llvm::Value* index, Block& block);
  void TransformData(const Block& block);
  void TransformTile(llvm::Value* window, llvm::Value* to);
  void TransformLines(std::span<const double> matrix, int64_t count,
                      const Lines& from, const Lines& to);
  void EmitGroups(const Block& block);
  void EmitGroup(const Block& block, llvm::Value* group, int vectors,
                 int64_t tail_lanes);
  void EmitProducts(const Block& block, llvm::Value* group, int vectors);
  void EmitPlane(const Block& block, llvm::Value* group, int vectors,
                 llvm::Value* plane, const Needed& needed);
  void MultiplyPlane(int64_t tiles, const Needed& needed, int vectors,
                     const Factors& factors);
  void MultiplyRectangle(int64_t rows, int64_t columns, int vectors,
                         const Factors& factors);
  void MultiplyTile(const TileShape& shape, llvm::Value* first,
                    llvm::Value* line, int64_t lines, const Factors& factors);
  void FetchAhead(const Block& block, llvm::Value* group, int vectors,
                  llvm::Value* plane);
  void EachOf(llvm::Value* turn, int64_t each, llvm::Value* count,
              const std::function<void(llvm::Value*)>& body);
  void FetchPixels(llvm::Value* first, int64_t count, bool to_write);
  void EmitOutputs(const Block& block, llvm::Value* vector,
                   llvm::Value* products, int64_t tail_lanes);
  void WriteTile(const Corner& corner, const Lines& sums, llvm::Value* vector,
                 int64_t tail_lanes);
  void WriteRow(const Corner& corner, const Vectors& values,
                llvm::Value* vector, int64_t tail_lanes);
  void ZeroHalo(llvm::Value* block, llvm::Value* first_group,
                llvm::Value* last_group);

  Corner CornerOf(llvm::Value* tile);
  llvm::Value* WindowOf(llvm::Value* tile, llvm::Value* channels);
  llvm::Value* OutputOf(const Corner& corner, llvm::Value* vector);
  llvm::Value* Output();

  const WinogradShape& shape_;
  const Nest& nest_;  // of the output
  // Scratch: transformed data, products, a tile between its two transforms.
  llvm::Value *data_, *products_, *lines_;
  Epilogue epilogue_;
};

}  // namespace mxc::contraction
