// SPDX-License-Identifier: Apache-2.0
// PlaneGrid: how algorithms are dealt that transform data into `planes`,
// multiply each with the same plane of transformed weights, a product of
// matrices, and transform the products into outputs. Rows of the products are
// `tiles`, such as Winograd's, columns are output channels.
#pragma once

#include <cstdint>

#include "codegen/contraction/nest.h"
#include "codegen/contraction/tiling.h"
#include "ir/target/target.h"

namespace mxc::contraction {

// What there is to do.
struct PlaneWork {
  int64_t planes = 1, lanes = 1;
  int64_t in = 1, out = 1;  // channels of a plane's product
  RegisterTile tile;
  int64_t tiles = 1;  // of all images
  // Where a block is whole images: how many tiles these have, and the part of
  // the products that is needed.
  int64_t image_tiles = 1;
  double needed = 1;
  // Cycles in which one vector of an entry of a plane is transformed.
  double transform_cycles = 0;

  int64_t panel_width() const { return lanes * tile.vectors; }
  int64_t in_blocks() const { return (in + lanes - 1) / lanes; }
  int64_t out_vectors() const { return (out + lanes - 1) / lanes; }
  int64_t groups() const {
    return (out_vectors() + tile.vectors - 1) / tile.vectors;
  }
  // Elements of a plane of so many tiles.
  int64_t data_plane(int64_t tiles) const;
  int64_t product_plane(int64_t tiles) const;
  int64_t scratch_bytes(int64_t tiles) const;
};

// Blocks of `block_tiles` tiles (the last may have fewer), each times chunks of
// the groups of output vectors. Tasks in sequence share a block, so that a
// thread transforms its data once.
struct PlaneGrid {
  int64_t tiles = 1;  // of all images
  int64_t block_tiles = 1, blocks = 1;
  int64_t channel_chunks = 1;
  // Elements of a plane of transformed data, and of products.
  int64_t data_plane = 0, product_plane = 0;
  int64_t scratch_bytes = 0;
  double seconds = 0;  // estimated, on one thread
};
PlaneGrid MakePlaneGrid(const Target& target, const PlaneWork& work);

// The products of one plane: its columns are the tiles of a block; rows (of
// `row_tiles` tiles) where a part of them is left out.
Nest PlaneNest(const PlaneWork& work, int64_t block_tiles, int64_t row_tiles);

}  // namespace mxc::contraction
