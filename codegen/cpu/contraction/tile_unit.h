// SPDX-License-Identifier: Apache-2.0
// TileUnit: sums of a register tile by a matrix unit (Intel AMX) instead of
// vectors. Eight registers hold tiles of up to 16 rows of 64 bytes:
//
//   sums[a][v] [pixels of a, 16]  +=  data[a] [pixels of a, 64 bytes of channels]
//                                   · weight[v] [16 words, 16 outputs, 4 bytes]
//
// for two tiles of data, a, and two of weights, v; a word has a pair of bf16 or
// four 8-bit integers. Products are exact. Sums of bf16 are f32, and denormals
// count as zero (Intel's SDM, TDPBF16PS); those of integers are i32.
#pragma once

#include <functional>

#include "codegen/cpu/contraction/nest.h"
#include "codegen/cpu/contraction/tiling.h"
#include "codegen/llvm/kernel_function.h"

namespace mxc::contraction {

// Returns whether an instruction of tiles (tile_units.def) does the unit.
bool IsTileUnit(const ProductUnit& unit);
// The unit of a contraction for which the catalog offered tiles.
const ProductUnit& TileUnitOf(const CpuMachine& machine,
                              const ContractionTypes& types);
// Pixels of one register, and how many registers of data there are.
inline constexpr int64_t kTilePixels = 16, kDataTiles = 2;

// Cuts the columns into tiles for the unit: two rows of up to 16 columns, or up
// to 32 columns of one row.
std::vector<TileRun> SplitForTiles(int64_t rows, int64_t columns);

// Sets the unit up for tiles of that width; costs hundreds of cycles.
void ConfigureTiles(KernelFunction& kernel, int64_t width);
// After the last use in a kernel.
void ReleaseTiles(KernelFunction& kernel);

class TileUnit {
 public:
  // Of `rows` by `width` pixels and up to two vectors of outputs.
  TileUnit(KernelFunction& kernel, const Nest& nest, int64_t width,
           int64_t rows, int vectors);

  void Zero();
  // Adds as many channels of all pixels as the unit takes, whose first one's
  // data and weights lie there.
  void Add(llvm::Value* data, llvm::Value* weight);
  // One vector for each (pixel, vector), pixels outermost.
  std::vector<llvm::Value*> Sums();

 private:
  struct Pixels {
    int64_t first = 0, count = 0, offset = 0;  // in data
  };
  llvm::Value* At(llvm::Value* base, int64_t elements);
  llvm::Value* Tile(int64_t number);
  void Emit(unsigned intrinsic, std::vector<llvm::Value*> arguments);

  KernelFunction& kernel_;
  const Nest& nest_;
  const int64_t pixels_;
  const int vectors_;
  std::vector<Pixels> data_;  // of each tile of data
};

}  // namespace mxc::contraction
