// SPDX-License-Identifier: Apache-2.0
// PlaneWork: the cost of Winograd's and Strassen's algorithms. They transform
// data into `planes`, multiply each plane by the same plane of transformed
// weights, and transform the products into outputs. A plane's product is one of
// matrices: its rows are `tiles`, its columns output channels.
//
// Tiles are dealt in blocks, each times chunks of the groups of output vectors.
// Tasks in sequence share a block, whose transformed data stay in the thread's
// scratch: the scratch's note (runtime/abi/abi.h) says which block's they are.
#pragma once

#include <cstdint>

#include "codegen/cpu/contraction/nest.h"
#include "codegen/cpu/contraction/tiling.h"
#include "ir/program/program.h"
#include "ir/support/division.h"
#include "ir/target/target.h"

namespace mxc::contraction {

struct PlaneWork {
  DType dtype = DType::kF32;  // of data, weights and products
  int64_t planes = 1, lanes = 1;
  int64_t in = 1, out = 1;  // channels of a plane's product
  RegisterTile tile;
  double needed = 1;  // part of the products: planes leave tiles out
  // Cycles in which a vector of data, of outputs, is transformed, all planes.
  double data_cycles = 0, output_cycles = 0;

  int64_t panel_width() const { return lanes * tile.vectors; }
  int64_t in_blocks() const { return DivideUp(in, lanes); }
  int64_t out_vectors() const { return DivideUp(out, lanes); }
  int64_t groups() const { return DivideUp(out_vectors(), tile.vectors); }
  // Elements of a plane of so many tiles: of data, of products.
  int64_t data_plane(int64_t tiles) const;
  int64_t product_plane(int64_t tiles) const;
  // For a block of so many tiles, with one tile between its two transforms,
  // and a line for the note before the planes of data.
  int64_t scratch_bytes(int64_t tiles) const;
};

// Seconds on one thread: of the transforms of data, and of the rest.
struct PlaneEstimate {
  double data = 0, rest = 0;
};
PlaneEstimate EstimatePlanes(const CpuMachine& machine, const PlaneWork& work,
                             int64_t tiles, int64_t block_tiles,
                             int64_t blocks);

// Of all threads, on average over numbers of them, where the largest task is
// `uneven` times the average.
double SecondsOfThreads(const CpuMachine& machine,
                        const PlaneEstimate& estimate, int64_t blocks,
                        int64_t chunks, double uneven);
inline constexpr int64_t kMostChunks = 16;

// The products of one plane: its columns are the tiles of a block.
Nest PlaneNest(const PlaneWork& work, int64_t block_tiles);

// Of f[N, C/v, y, x, v], in elements; our bug if it is not laid out so.
Extents BlockedStrides(const Layout& layout, int64_t lanes);
// The output with its epilogue: it has output strides only.
Nest OutputNest(const Contraction& c, const Layout& output, int lanes,
                int64_t panel_vectors);

}  // namespace mxc::contraction
