// SPDX-License-Identifier: Apache-2.0
// WinogradShape: all that is decided about a convolution by Winograd's minimal
// filtering before its code is written. F(m x m, r x r) computes tiles of
// m x m outputs from windows of n x n data, n = m + r - 1: their transforms are
// multiplied entry by entry, which over all channels are n² products of
// matrices, one for each `plane`. A kernel of 1 x r or r x 1 has windows of n
// in a line, and is transformed along that axis only.
#pragma once

#include "codegen/cpu/contraction/step_shape.h"
#include "codegen/cpu/contraction/winograd_grid.h"
#include "ir/program/kernel_basis.h"
#include "ir/support/division.h"

namespace mxc::contraction {

// Returns whether the convolution is one that Winograd's algorithm computes.
bool WinogradFits(const Contraction& c);
// The border of zeros at the end that windows reach into.
Extents WinogradHaloHigh(const Contraction& c);

struct WinogradShape {
  KernelBasis basis = KernelBasis::kPlain;
  WinogradGrid grid;
  int64_t batch = 1, channels = 1;  // in
  // Windows whose maxima are stored; 1 x 1: every output.
  Extents maxima;
  // Of the data, in elements; `data_base` is the first tile's window.
  int64_t data_base = 0, data_image = 0, data_block = 0, data_row = 0,
          data_column = 0;
  int64_t planes() const {
    return grid.rows.each.window * grid.columns.each.window;
  }
  // Those that a tile along the axis is in.
  PointRange PointsOf(const TileAxis& axis, const TileAxis::Tile& tile) const {
    return axis.each.window == 1 ? PointRange{0, 1}
                                 : mxc::PointsOf(basis, tile.window);
  }
  int64_t data_blocks() const { return DivideUp(channels, step.nest.lanes); }
  // One plane: its columns are the tiles of a block.
  Nest products;
  // The output with its epilogue. The nest has output strides only.
  StepShape step;
};
WinogradShape ShapeWinograd(const Program& program, const Step& step,
                            const Target& target);

}  // namespace mxc::contraction
