// SPDX-License-Identifier: Apache-2.0
// WinogradGrid: how the outputs of a convolution are cut into Winograd's tiles,
// and these into tasks.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/cpu/cpu_machine.h"
#include "ir/program/kernel_choice.h"
#include "ir/program/program.h"
#include "ir/support/division.h"
#include "ir/target/target.h"

namespace mxc::contraction {

// An axis of the output. The last tile may have fewer outputs; its window is
// smaller then, and it is in fewer planes.
struct TileAxis {
  struct Tile {
    int64_t outputs = 1, window = 1;
  };
  int64_t tiles = 1;
  Tile each, last;

  bool is_cut() const { return last.outputs < each.outputs; }
};

// Blocks of tiles, each times chunks of the groups of output vectors. Tasks in
// sequence share a block, so that a thread transforms its data once.
struct WinogradGrid {
  TileAxis rows, columns;
  int64_t tiles = 1;  // of all images
  // A block has a part of the images, of an image's rows of tiles or of a row:
  // one of the axes is cut; further in the block has all, further out one.
  struct Cut {
    int64_t extent = 1, size = 1;

    int64_t parts() const { return DivideUp(extent, size); }
    int64_t last() const { return extent - (parts() - 1) * size; }
  };
  Cut images, tile_rows, tile_columns;
  int64_t block_tiles = 1;  // at most
  int64_t channel_chunks = 1;
  // Elements of a plane of transformed data, and of products.
  int64_t data_plane = 0, product_plane = 0;
  int64_t scratch_bytes = 0;
  double seconds = 0;  // estimated, on one thread

  int64_t blocks() const {
    return images.parts() * tile_rows.parts() * tile_columns.parts();
  }
  // How many of a block's tiles a plane may be of: all that occurs but 0.
  std::vector<int64_t> PlaneTiles() const;
};

WinogradGrid MakeWinogradGrid(const CpuMachine& machine, const Contraction& c,
                              const KernelChoice& choice);

}  // namespace mxc::contraction
