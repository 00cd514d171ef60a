// SPDX-License-Identifier: Apache-2.0
// WinogradSumsShape: all that is decided about the gradient of an r x r kernel
// by Winograd's minimal filtering before its code is written. The gradient is a
// correlation of data with the gradient of the outputs,
//   dW[m, c, w] = Σ_{n, y} x[n, c, y + w − pad] · dY[n, m, y],
// summed over tiles of m x m positions y: their transforms, n² planes of both
// operands, n = m + r - 1, are multiplied and summed over all tiles before the
// one transform back, F(r x r, m x m) in n² / r²m² of the multiplications.
#pragma once

#include <string_view>

#include "codegen/cpu/contraction/step_shape.h"
#include "ir/program/kernel_basis.h"
#include "ir/support/division.h"

namespace mxc::contraction {

// Returns whether the contraction is one that the algorithm computes: pixel
// sums (pixel_sums.h) of a 3x3 or 5x5 kernel with stride 1.
bool WinogradSumsFit(const Contraction& c);
// The border of zeros at the end of the data that tiles reach into.
Extents WinogradSumsHaloHigh(const Contraction& c, std::string_view algorithm);

// Tasks: parts of the images, each times chunks of the blocks of input channels
// times chunks of the groups of output vectors. A task holds the planes of its
// sums in scratch and adds blocks of `block_tiles` tiles (the last may have
// fewer).
struct WinogradSumsGrid {
  int64_t tile_rows = 1, tile_columns = 1;  // of one image
  int64_t tiles = 1;                        // of a part's images
  int64_t block_tiles = 1, blocks = 1;
  int64_t data_chunks = 1, out_chunks = 1;
  // The most of one chunk.
  int64_t chunk_blocks = 1, chunk_groups = 1;
  // Elements of a plane of transformed operands, and of sums.
  int64_t data_plane = 0, weight_plane = 0, sums_plane = 0;
  int64_t scratch_bytes = 0;
  double seconds = 0;  // estimated, on one thread
};
WinogradSumsGrid MakeWinogradSumsGrid(const CpuMachine& machine,
                                      const Contraction& c,
                                      const KernelChoice& choice);

struct WinogradSumsShape {
  // Of an activation, in elements; `base` is the first tile's.
  struct Strides {
    int64_t base = 0, part = 0, image = 0, block = 0, row = 0, column = 0;
  };
  KernelBasis basis = KernelBasis::kPlain;
  int64_t tile = 1, kernel = 1;  // m, r
  int64_t window() const { return WindowOf(basis); }
  int64_t planes() const { return window() * window(); }
  WinogradSumsGrid grid;
  int64_t parts = 1, channels = 1, height = 1, width = 1;  // in; of dY
  Strides data, weight;
  int64_t data_blocks() const { return DivideUp(channels, step.nest.lanes); }
  int64_t tasks() const { return parts * grid.data_chunks * grid.out_chunks; }
  // One plane of a block and a group: columns are input channels, steps tiles.
  Nest products;
  // The output with its epilogue. The nest has output strides only.
  StepShape step;
};
WinogradSumsShape ShapeWinogradSums(const Program& program, const Step& step,
                                    const Target& target);

}  // namespace mxc::contraction
