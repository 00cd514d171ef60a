// SPDX-License-Identifier: Apache-2.0
// Nest: a contraction as loops over flat memory. Convolution on blocked or
// row-major data, its gradients, depthwise convolution and matrix product
// differ in nothing but the numbers in here; the micro-kernels know only a
// Nest.
//
//   for outer, plane, pixel, vector of output channels:
//     acc = 0
//     for image, step, channel of the step:  acc += data[…] · weight[…]
//     output[…] = epilogue(acc)
//
// Some contractions are several nests, each of which writes a part of the
// output. All offsets and strides count elements.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/cpu/cpu_machine.h"
#include "ir/program/program.h"
#include "ir/program/steps/contraction.h"
#include "ir/support/division.h"

namespace mxc::contraction {

// Elements of a cache line.
inline int64_t LineElements(DType dtype) { return kLineBytes / SizeOf(dtype); }

// Kernel columns up to this many are unrolled in a step.
inline constexpr int64_t kMaxUnroll = 16;

// What a weight vector (one output channel in each lane) is multiplied with.
enum class DataAccess {
  kBroadcast,  // one element of data in all lanes
  kDots,       // a few neighbouring ones, with as many weights in each lane
  kOwnGroup,   // in each lane, a channel of the group that it belongs to
  kOwnDots,    // in each lane, a few neighbouring positions of its own channel
  kTiles,      // a matrix unit: a tile of data, channels by pixels
};

// An output axis, or a part of one, on which data and output advance at
// constant strides. The output's index along it is first + scale · i.
struct PixelAxis {
  int64_t extent = 1;
  int64_t data_stride = 0, output_stride = 0;
  int var = -1;  // the output axis; -1: none (an extent of 1)
  int64_t scale = 1, first = 0;
};

// A loop around everything, along which the weights may change too.
struct OuterAxis {
  int64_t extent = 1;
  int64_t data_stride = 0, weight_stride = 0, output_stride = 0;
  int64_t channels = 0;  // by which the channel index grows at each iteration
  int var = -1;          // the output axis; -1 if channels ≠ 0
};

struct StepAxis {
  int64_t extent = 1;
  int64_t data_stride = 0, weight_stride = 0;
};

// Each step multiplies `unroll` elements of data, `stride` apart, with one row
// of weights each, `row_stride` apart, or (kOwnGroup) group_channels rows.
struct Steps {
  std::vector<StepAxis> axes;  // outermost first; may be empty: one step
  int64_t unroll = 1;
  int64_t stride = 1, row_stride = 0;
  // kOwnGroup, by a unit of pairs: from an element and its row of weights to
  // those that it is multiplied with at once, at another position of the channel.
  // No weight_stride: it is multiplied alone.
  StepAxis second = {.data_stride = 0, .weight_stride = 0};
  // kOwnDots: rows of the kernel that a step goes through.
  StepAxis rows = {};
  int64_t weight_rows = 1;  // rows of the weight panel that one step covers
  int64_t count() const;
  bool in_pairs() const { return second.weight_stride != 0; }
  // To each sum, in one step; in one iteration of axes[axis].
  int64_t additions() const {
    return (in_pairs() ? 2 : 1) * unroll * rows.extent;
  }
  int64_t AdditionsInside(size_t axis) const;
};

struct Nest {
  ContractionTypes types;
  int lanes = 1;  // sums of a vector
  DataAccess access = DataAccess::kBroadcast;
  ProductUnit unit = {};  // what multiplies, in dots; kOwnGroup, k = 2: it does
                          // pairs of the channel's positions
  int64_t group_channels = 1;  // kOwnGroup: channels of one group
  int64_t own_channel = -1;    // kOwnGroup: the one of them that is multiplied
                               // with, -1: all, each with weights of its own

  std::vector<OuterAxis> outer;
  // Loops inside of a task around the rows, outermost first.
  std::vector<PixelAxis> planes;
  PixelAxis rows, columns;
  bool deal_planes = false;  // tasks share planes[0], not the rows

  // The reduction: for each of `images` (an axis that is always cut), `main`,
  // then `tail` (the channels that do not fill a block, unroll 0: none), whose
  // data starts at tail_offset. main.axes[0] is the axis that K blocking cuts,
  // after step_block iterations; 0: to be chosen.
  StepAxis images;
  Steps main, tail = {.axes = {}, .unroll = 0};
  int64_t tail_offset = 0;
  int64_t step_block = 0;
  // An f32 sum of more products is one of sums of about so many each. Every
  // addition rounds what has been added so far: the error of n in a chain grows
  // with the root of n, of n in chains of c with that of c + n / c.
  int64_t chain_additions = 256;

  // Output channels of one iteration of `outer`, and how data (depthwise) and
  // output advance from one vector of channels to the next.
  int64_t channels = 1;
  int64_t data_vector_stride = 0, output_vector_stride = 0;
  int channel_var = 0;  // the output axis

  // Weights: panels of panel_vectors · lanes output channels, panel_stride
  // apart, each with panel_rows rows. `packed`: a panel lies in one piece.
  int64_t panel_vectors = 1, panel_rows = 1, panel_stride = 0;
  bool packed = true;
  // Whether each output of a panel has the entries of some channels in a row.
  // Rows of bytes that come before those of main.axes[0]'s iterations and hold
  // what the sums of each are multiplied with, less kInt4LevelZero; the others
  // then hold two weights of 4 bits in each byte (int4_blocks.h).
  bool int4 = false;
  // The row of data becomes planes of digits (digit_planes.h).
  bool digits = false;
  bool pairs_positions() const {
    return access == DataAccess::kOwnGroup && unit.k == 2;
  }
  bool in_dots() const {
    return access == DataAccess::kDots || access == DataAccess::kOwnDots ||
           access == DataAccess::kTiles;
  }
  int64_t panel_width() const { return panel_vectors * lanes; }
  // Cache lines of the weights that one step of `main` covers.
  int64_t step_lines() const {
    return main.weight_rows * panel_width() / LineElements(types.weight);
  }

  // Of a panel's row that lies apart from the others; of a packed one, 0.
  int64_t row_lines() const {
    return packed ? 0 : panel_width() / LineElements(types.weight);
  }
  // From the first line of a step's weights to another.
  int64_t LineOffset(int64_t line) const {
    const int64_t elements = LineElements(types.weight);
    if (row_lines() == 0) return line * elements;
    return line / row_lines() * main.row_stride + line % row_lines() * elements;
  }

  // Of the first element.
  int64_t data_base = 0, weight_base = 0, output_base = 0;
  // Of one iteration of `outer`, without borders.
  int64_t data_elements = 0;

  int64_t vectors() const { return DivideUp(channels, lanes); }
  int64_t tail_lanes() const { return channels % lanes; }  // 0: none
  int64_t pixels() const;                                  // of all planes
  // Bytes of one iteration of `outer`: data; all panels.
  double data_bytes() const {
    return static_cast<double>(SizeOf(types.data) * data_elements);
  }
  double weight_bytes() const {
    return static_cast<double>(SizeOf(types.weight) * panel_rows * vectors() *
                               lanes);
  }
  int64_t outer_count() const;
  int64_t flops() const;
};

// The nests of a step whose kernel is chosen and whose buffers have layouts:
// one, or one for each phase of the outputs (taps.h), or one for the blocks of
// channels and one for the rest. They agree in `outer` and in the channels.
std::vector<Nest> MakeNests(const CpuMachine& machine, const Program& program,
                            const Step& step);

}  // namespace mxc::contraction
