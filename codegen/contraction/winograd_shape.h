// SPDX-License-Identifier: Apache-2.0
// WinogradShape: all that is decided about a convolution by Winograd's minimal
// filtering before its code is written. F(m x m, r x r) computes tiles of
// m x m outputs from windows of n x n data, n = m + r - 1: their transforms are
// multiplied entry by entry, which over all channels are n² products of
// matrices, one for each `plane`. A kernel of 1 x r or r x 1 has windows of n
// in a line, and is transformed along that axis only.
#pragma once

#include <string_view>

#include "codegen/contraction/step_shape.h"
#include "ir/program/kernel_basis.h"

namespace mxc::contraction {

// Whether the convolution is one that Winograd's algorithm computes.
bool WinogradFits(const Contraction& c);
// The border of zeros at the end that tiles reach into.
Extents WinogradHaloHigh(const Contraction& c, std::string_view algorithm);

// How tiles and output channels are dealt: blocks of `block_tiles` tiles (the
// last may have fewer), each times chunks of the groups of output vectors.
// Tasks in sequence share a block, so that a thread transforms its data once.
struct WinogradGrid {
  int64_t tile_rows = 1, tile_columns = 1;  // of one image
  int64_t tiles = 1;                        // of all images
  int64_t block_tiles = 1, blocks = 1;
  int64_t channel_chunks = 1;
  // Blocks are whole images, whose last row (column) of tiles hangs over the
  // end: planes that are of their last outputs alone leave it out.
  bool cuts_rows = false, cuts_columns = false;
  // Elements of a plane of transformed data, and of products.
  int64_t data_plane = 0, product_plane = 0;
  int64_t scratch_bytes = 0;
  double seconds = 0;  // estimated, on one thread
};
WinogradGrid MakeWinogradGrid(const Target& target, const Contraction& c,
                              const KernelChoice& choice);

struct WinogradShape {
  KernelBasis basis = KernelBasis::kPlain;
  Extents outputs, window;                          // m and n, by axis
  int64_t side() const { return WindowOf(basis); }  // n
  int64_t planes() const { return window[0] * window[1]; }
  WinogradGrid grid;
  int64_t batch = 1, channels = 1, height = 1, width = 1;  // in, out
  // Of the data, in elements; `data_base` is the first tile's window.
  int64_t data_base = 0, data_image = 0, data_block = 0, data_row = 0,
          data_column = 0;
  int64_t data_blocks() const {
    return (channels + step.nest.lanes - 1) / step.nest.lanes;
  }
  // One plane: its columns are the tiles of a block.
  Nest products;
  // The output with its epilogue. The nest has output strides only.
  StepShape step;
};
WinogradShape ShapeWinograd(const Program& program, const Step& step,
                            const Target& target);

}  // namespace mxc::contraction
