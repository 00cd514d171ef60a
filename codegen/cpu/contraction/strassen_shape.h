// SPDX-License-Identifier: Apache-2.0
// StrassenShape: all that is decided about a convolution of 1 x 1 kernels by
// Strassen's algorithm before its code is written. Positions, input and output
// channels are halved; the sums of the quarters of the data are multiplied with
// those of the weights (ir/program/quarter_sums.h), 7 products of matrices, one
// for each plane, instead of 8. A row of a product is a `pair` of neighbouring
// positions, of all images one after the other, row by row; where their number
// is odd, the last pair has only the first. In scratch, the rows of two planes
// of data lie in turn, as those of the data do themselves.
#pragma once

#include "codegen/cpu/contraction/plane_work.h"
#include "codegen/cpu/contraction/step_shape.h"

namespace mxc::contraction {

// Returns whether the convolution is one that halves in all three ways.
bool StrassenFits(const Contraction& c, int64_t lanes);
// The register tile of its products.
RegisterTile StrassenTile(const CpuMachine& machine, const Contraction& c,
                          int64_t lanes);
// What the sums of quarters take.
double StrassenSumSeconds(const CpuMachine& machine, const Contraction& c,
                          int64_t lanes);
// Blocks of pairs (the last may have fewer), each times chunks of the groups of
// output vectors.
struct StrassenGrid {
  int64_t pairs = 1;  // of all images
  int64_t block_pairs = 1, blocks = 1;
  int64_t channel_chunks = 1;
  // Elements of a plane of sums of data, and of products.
  int64_t data_plane = 0, product_plane = 0;
  int64_t scratch_bytes = 0;
};
StrassenGrid MakeStrassenGrid(const CpuMachine& machine, const Contraction& c,
                              const KernelChoice& choice);

struct StrassenShape {
  StrassenGrid grid;                            // its tiles are pairs
  int64_t batch = 1, positions = 1, width = 1;  // of an image's output
  int64_t channels = 1, vectors = 1;            // of half the channels: in, out
  // Of the data, in elements, from one position of the output to the next.
  int64_t data_base = 0, data_image = 0, data_block = 0, data_row = 0,
          data_column = 0;
  bool is_flat = false;  // data: from each position to the next as far
  // Products of a quarter of the data itself read it where it is.
  bool reads_data = false;
  Nest products;  // one plane
  // The output with its epilogue: its nest has output strides only, and columns
  // of all positions where these lie as far apart in whatever is read.
  StepShape step;
};
StrassenShape ShapeStrassen(const Program& program, const Step& step,
                            const Target& target);

}  // namespace mxc::contraction
