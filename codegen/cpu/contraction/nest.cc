// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/contraction/nest.h"

#include <algorithm>
#include <numeric>

#include "codegen/cpu/contraction/algorithm.h"
#include "codegen/cpu/contraction/dot_unit.h"
#include "codegen/cpu/contraction/merge_pixels.h"
#include "codegen/cpu/contraction/operand.h"
#include "codegen/cpu/contraction/pixel_sums.h"
#include "codegen/cpu/contraction/taps.h"
#include "codegen/cpu/contraction/tile_choice.h"
#include "codegen/cpu/contraction/tile_unit.h"
#include "ir/program/int4_blocks.h"
#include "ir/support/check.h"
#include "ir/support/division.h"

namespace mxc::contraction {
namespace {

// Channels that one step multiplies when the reduction is a plain loop.
constexpr int64_t kUnroll = 8;

// Vectors of a depthwise kernel's columns that registers hold beside sums.
constexpr int64_t kMostTapRows = 12;

struct Spatial {
  Taps taps;
  int64_t kernel = 1;
  int64_t data_step = 0;    // per position of the input
  int64_t output_step = 0;  // per position of the output
  int var = -1;
};

std::vector<Spatial> SpatialAxes(const Contraction& c,
                                 const std::vector<Taps>& phase,
                                 const Operand& data, const Operand& output) {
  std::vector<Spatial> axes;
  for (size_t i = 0; i < c.kernel.size(); ++i) {
    const int out_axis = output.AxisOf({SpatialRole(i)});
    axes.push_back({phase[i], c.kernel[i],
                    data.Stride(data.AxisOf({SpatialRole(i)})),
                    output.Stride(out_axis), out_axis});
  }
  return axes;
}

// What the kernel reads outside of the data must be there: it has no bounds
// checks.
void CheckHalo(const Contraction& c, const Operand& data,
               const std::string& step) {
  for (size_t i = 0; i < c.kernel.size(); ++i) {
    const int axis = data.AxisOf({SpatialRole(i)});
    MXC_CHECK(data.layout().halo_low[axis] >= HaloLow(c, i) &&
                  data.layout().halo_high[axis] >= HaloHigh(c, i),
              "{}: the halo of spatial axis {}", step, i);
  }
}

// The kernel's axes as loops: weights hold `rows` rows for each position.
// Returns the first position's weights.
int64_t Window(const std::vector<Spatial>& spatial, int64_t rows,
               int64_t panel_width, std::vector<StepAxis>& window) {
  int64_t first = 0, stride = rows * panel_width;
  window.assign(spatial.size(), {});
  for (size_t i = spatial.size(); i-- > 0;) {
    const Taps& taps = spatial[i].taps;
    window[i] = {taps.count, taps.data_per_tap * spatial[i].data_step,
                 taps.weight_step * stride};
    first += taps.first_weight * stride;
    stride *= spatial[i].kernel;
  }
  return first;
}

int64_t Positions(const std::vector<Spatial>& spatial) {
  int64_t count = 1;
  for (const Spatial& s : spatial) count *= s.kernel;
  return count;
}

// Loops over (channel block, kernel position) with the block's channels
// unrolled; channels beyond the last full block become the tail.
void SetBlockedSteps(const Contraction& c, const std::vector<Spatial>& spatial,
                     int64_t block, int64_t block_stride, Nest& nest) {
  const bool tiles = nest.access == DataAccess::kTiles;
  const int64_t unroll = tiles ? nest.unit.k : std::min(block, kUnroll);
  // What fills up a unit's last channels has weights of zero.
  const bool dots = nest.access == DataAccess::kDots;
  const int64_t in = dots ? RoundUp(c.in, nest.unit.k) : c.in;
  const int64_t blocks = in / block;
  const int64_t width = nest.panel_width();
  std::vector<StepAxis> window;
  nest.weight_base += Window(spatial, block, width, window);
  nest.main.axes = {{blocks, block_stride, Positions(spatial) * block * width}};
  nest.main.axes.insert(nest.main.axes.end(), window.begin(), window.end());
  nest.main.axes.push_back({block / unroll, unroll, unroll * width});
  nest.main.unroll = nest.main.weight_rows = unroll;
  nest.main.row_stride = nest.tail.row_stride = width;
  nest.tail.axes = window;
  nest.tail.unroll = in % block;
  nest.tail.weight_rows = block;
  nest.tail_offset = blocks * block_stride;
  nest.panel_rows = DivideUp(c.in, block) * block * Positions(spatial);
}

// Row-major data: loops over (channel, kernel rows), with the innermost kernel
// axis of more than one position unrolled; the channels themselves if there is
// none. Rows of weights are `row` apart.
void SetRowMajorSteps(const Contraction& c, const std::vector<Spatial>& spatial,
                      int64_t channel_stride, int64_t row, Nest& nest) {
  std::vector<StepAxis> window;
  nest.weight_base += Window(spatial, 1, row, window);
  std::vector<StepAxis> axes = {
      {c.in, channel_stride, Positions(spatial) * row}};
  for (const StepAxis& axis : window) {
    if (axis.extent != 1) axes.push_back(axis);
  }
  nest.panel_rows = c.in * Positions(spatial);
  const StepAxis inner = axes.back();
  axes.pop_back();
  nest.main.stride = nest.tail.stride = inner.data_stride;
  nest.main.row_stride = nest.tail.row_stride = inner.weight_stride;
  if (axes.empty()) {
    const int64_t unroll =
        std::min(inner.extent,
                 nest.access == DataAccess::kTiles ? nest.unit.k : kUnroll);
    nest.main.axes = {{inner.extent / unroll, unroll * inner.data_stride,
                       unroll * inner.weight_stride}};
    nest.main.unroll = nest.main.weight_rows = unroll;
    nest.tail.unroll = nest.tail.weight_rows = inner.extent % unroll;
    nest.tail_offset = inner.extent / unroll * unroll * inner.data_stride;
  } else {
    const bool whole = inner.extent <= kMaxUnroll && inner.extent > 0;
    nest.main.unroll = whole ? inner.extent : 1;
    if (!whole) axes.push_back(inner);
    nest.main.axes = axes;
    nest.main.weight_rows = nest.main.unroll;
  }
}

// Blocks of 4-bit weights: loops over (group, inputs), some of them unrolled.
void SetInt4Steps(const Contraction& c, int64_t channel_stride, Nest& nest) {
  const int64_t group = c.int4_group, row = nest.panel_width();
  const int64_t unroll = std::gcd(group, kUnroll);
  nest.int4 = true;
  nest.panel_rows = WeightRows(c);
  nest.weight_base += row;
  nest.main.axes = {
      {c.in / group, group * channel_stride, Int4BlockBytes(group) * row},
      {group / unroll, unroll * channel_stride, unroll / 2 * row}};
  nest.main.unroll = unroll;
  nest.main.weight_rows = unroll / 2;
  nest.main.stride = channel_stride;
  nest.main.row_stride = row;
}

// Depthwise and small groups: the kernel's columns and the channels of one
// group are unrolled.
void SetGroupedSteps(const Contraction& c, const std::vector<Spatial>& spatial,
                     Nest& nest) {
  nest.access = DataAccess::kOwnGroup;
  nest.group_channels = c.in;
  nest.panel_rows = c.in * Positions(spatial);
  std::vector<StepAxis> axes;
  nest.weight_base += Window(spatial, c.in, nest.panel_width(), axes);
  const StepAxis inner = axes.back();
  if (inner.extent > 0 && inner.extent * c.in <= 2 * kMaxUnroll) {
    nest.main.unroll = inner.extent;
    nest.main.stride = inner.data_stride;
    nest.main.row_stride = inner.weight_stride;
    axes.pop_back();
  }
  nest.main.weight_rows = nest.main.unroll * c.in;
  nest.main.axes = axes;
}

// Depthwise, by a unit of pairs: two rows of the kernel at once, which read the
// same elements as one after the other. Of an odd number the last is the tail.
void PairRows(const CpuMachine& machine, Nest& nest) {
  if (nest.group_channels != 1 || nest.main.axes.size() != 1) return;
  StepAxis& rows = nest.main.axes[0];
  const auto unit =
      std::ranges::find_if(machine.products, [&](const ProductUnit& each) {
        const ContractionTypes& types = nest.types;
        return each.k == 2 && IsDotUnit(each, nest.lanes) &&
               each.Takes(types.data, types.weight, types.sum);
      });
  if (unit == machine.products.end() || !IsFloat(nest.types.sum)) return;
  if (rows.extent < 2) return;
  nest.unit = *unit;
  nest.tail = nest.main;
  nest.tail.axes.clear();
  if (rows.extent % 2 == 0) nest.tail.unroll = 0;
  nest.tail_offset = rows.extent / 2 * 2 * rows.data_stride;
  nest.main.second = {1, rows.data_stride, rows.weight_stride};
  nest.main.weight_rows *= 2;
  rows = {rows.extent / 2, 2 * rows.data_stride, 2 * rows.weight_stride};
}

// The same by units that take several of the kernel's columns: all of them are
// unrolled, and rows that are not too many.
void SetTapSteps(std::vector<Spatial> spatial, Nest& nest) {
  const int64_t taps = nest.unit.k;
  Spatial& columns = spatial.back();
  columns.kernel = columns.taps.count = DivideUp(columns.kernel, taps);
  columns.taps.data_per_tap *= taps;
  nest.panel_rows = taps * Positions(spatial);
  std::vector<StepAxis> axes;
  nest.weight_base += Window(spatial, taps, nest.panel_width(), axes);
  nest.main.unroll = axes.back().extent;
  nest.main.stride = axes.back().data_stride;
  nest.main.row_stride = axes.back().weight_stride;
  axes.pop_back();
  if (!axes.empty() && axes.back().extent * nest.main.unroll <= kMostTapRows) {
    nest.main.rows = axes.back();
    axes.pop_back();
  }
  nest.main.weight_rows = nest.main.rows.extent * nest.main.unroll * taps;
  nest.main.axes = axes;
}

// Outputs that no kernel position meets: no steps at all.
void SetNoSteps(Nest& nest) {
  nest.main = {.axes = {{0, 0, 0}}};
  nest.tail = {.axes = {}, .unroll = 0};
}

// Makes of the pixel axes, outermost first, outer loops, rows and columns.
void SetPixels(const Program& program, const Step& step,
               const std::vector<PixelAxis>& axes, Nest& nest) {
  std::vector<PixelAxis> pixels;
  for (const PixelAxis& axis : axes) {
    if (axis.extent == 1) continue;
    if (!pixels.empty() && BecomeOne(program, step, pixels.back(), axis)) {
      const int64_t extent = pixels.back().extent * axis.extent;
      pixels.back() = axis;
      pixels.back().extent = extent;
    } else {
      pixels.push_back(axis);
    }
  }
  if (!pixels.empty()) {
    nest.columns = pixels.back();
    pixels.pop_back();
  }
  if (!pixels.empty()) {
    nest.rows = pixels.back();
    pixels.pop_back();
  }
  for (const PixelAxis& p : pixels) {
    nest.outer.push_back(
        {p.extent, p.data_stride, 0, p.output_stride, 0, p.var});
  }
}

// The same for phases, which agree in the outer loops: the batch.
void SetPhasePixels(const std::vector<PixelAxis>& axes, size_t spatial,
                    Nest& nest) {
  const size_t batch = axes.size() - spatial;
  for (size_t i = 0; i < batch; ++i) {
    nest.outer.push_back({axes[i].extent, axes[i].data_stride, 0,
                          axes[i].output_stride, 0, axes[i].var});
  }
  nest.columns = axes.back();
  if (spatial > 1) nest.rows = axes[axes.size() - 2];
  for (size_t i = batch; i + 2 < axes.size(); ++i) {
    nest.planes.push_back(axes[i]);
  }
}

std::vector<PixelAxis> PixelAxes(const Operand& data, const Operand& output,
                                 const std::vector<Spatial>& spatial) {
  std::vector<PixelAxis> axes;
  const std::vector<int> data_batch = data.AxesOf(Role::kBatch);
  const std::vector<int> output_batch = output.AxesOf(Role::kBatch);
  for (size_t i = 0; i < data_batch.size(); ++i) {
    axes.push_back({output.Extent(output_batch[i]), data.Stride(data_batch[i]),
                    output.Stride(output_batch[i]), output_batch[i]});
  }
  for (const Spatial& s : spatial) {
    const Taps& taps = s.taps;
    axes.push_back({taps.outputs, taps.data_per_output * s.data_step,
                    taps.output_step * s.output_step, s.var, taps.output_step,
                    taps.first_output});
  }
  return axes;
}

// Groups: an axis of its own (batch_dot), or folded into the channels.
void SetGroups(const Contraction& c, const Operand& data, const Operand& weight,
               const Operand& output, Nest& nest) {
  const std::vector<int> data_axes = data.AxesOf(Role::kGroup);
  const std::vector<int> weight_axes = weight.AxesOf(Role::kGroup);
  const std::vector<int> output_axes = output.AxesOf(Role::kGroup);
  for (size_t i = 0; i < data_axes.size(); ++i) {
    nest.outer.push_back({output.Extent(output_axes[i]),
                          data.Stride(data_axes[i]),
                          weight.Stride(weight_axes[i]),
                          output.Stride(output_axes[i]), 0, output_axes[i]});
  }
  if (!data_axes.empty() || c.groups == 1) return;
  const int64_t data_blocks = c.in / nest.lanes;
  nest.outer.push_back(
      {c.groups, data_blocks * data.Stride(data.AxisOf({Role::kGroupIn})),
       c.out / nest.panel_width() * nest.panel_stride,
       c.out / nest.lanes * nest.output_vector_stride, c.out, -1});
}

// The outputs of one phase.
Nest MakePhase(const CpuMachine& machine, const Program& program,
               const Step& step, const std::vector<Taps>& phase,
               bool only_phase) {
  const ContractionStep& body = *step.contraction();
  const Contraction& c = body.contraction;
  const KernelChoice& choice = body.choice;
  const TileChoice tile = TileOf(choice);
  const Operand data(program.buffers[step.inputs[0]].layout, c.data_axes);
  const Operand weight(program.buffers[step.inputs[1]].layout, c.weight_axes);
  const Operand output(program.buffers[step.outputs[0]].layout, c.output_axes);
  const int in_axis = data.AxisOf({Role::kIn, Role::kGroupIn});
  const int out_axis = output.AxisOf({Role::kOut, Role::kGroupOut});

  Nest nest;
  nest.types = c.types;
  nest.lanes = tile.lanes;
  nest.packed = choice.algorithm != kGemmRows;
  nest.digits = choice.algorithm == kGemmDigits;
  if (choice.algorithm == kTiles) {
    nest.access = DataAccess::kTiles;
    nest.unit = TileUnitOf(machine, c.types);
  }
  const bool column_pairs = choice.algorithm == kColumnPairs;
  const bool own_dots = DotTaps(choice.algorithm) > 0 && !column_pairs;
  if (own_dots || column_pairs || DotChannels(choice.algorithm) > 0) {
    nest.access = own_dots ? DataAccess::kOwnDots : DataAccess::kDots;
    nest.unit = DotUnitOf(machine, c.types, choice.algorithm);
  }
  // Behind a panel's outputs lie the entries of each, where it has several.
  const auto& dims = weight.layout().dims;
  nest.panel_vectors =
      nest.packed
          ? dims[dims.size() - (nest.in_dots() ? 2 : 1)].extent / nest.lanes
          : tile.tile.vectors;
  nest.channel_var = out_axis;
  nest.channels = c.out;
  const bool blocked_output = output.layout().block(out_axis) == nest.lanes;
  nest.output_vector_stride =
      blocked_output ? output.Stride(out_axis) : nest.lanes;

  const std::vector<Spatial> spatial = SpatialAxes(c, phase, data, output);
  nest.data_base = data.Origin();
  nest.output_base = output.Origin();
  for (const Spatial& s : spatial) {
    nest.data_base += s.taps.first_data * s.data_step;
    nest.output_base += s.taps.first_output * s.output_step;
  }
  CheckHalo(c, data, step.name);

  const bool blocked_data = data.layout().block(in_axis) > 1;
  const bool own_groups = own_dots || choice.algorithm == kDepthwise ||
                          choice.algorithm == kGrouped;
  if (own_groups) {
    nest.channels = c.groups * c.in;
    nest.data_vector_stride = data.Stride(in_axis);
    if (own_dots) {
      SetTapSteps(spatial, nest);
    } else {
      SetGroupedSteps(c, spatial, nest);
      PairRows(machine, nest);
    }
  } else if (c.int4_group > 0) {
    SetInt4Steps(c, data.Stride(in_axis), nest);
  } else if (blocked_data) {
    const int64_t block =
        nest.access == DataAccess::kTiles ? c.in : data.layout().block(in_axis);
    SetBlockedSteps(c, spatial, block, data.Stride(in_axis), nest);
  } else {
    const int64_t row = nest.packed ? nest.panel_width()
                                    : weight.Stride(weight.AxisOf({Role::kIn}));
    std::vector<Spatial> filled = spatial;
    if (column_pairs) filled.back().kernel += filled.back().kernel % 2;
    SetRowMajorSteps(c, filled, data.Stride(in_axis), row, nest);
    if (column_pairs) nest.main.weight_rows = filled.back().kernel;
  }
  nest.panel_stride = nest.panel_width() * (nest.packed ? nest.panel_rows : 1);
  // Blocks that another step left in a larger tensor.
  if (nest.packed && weight.layout().has_gaps()) {
    nest.panel_stride = weight.Stride(weight.AxisOf({Role::kOut}));
  }
  if (!own_groups) SetGroups(c, data, weight, output, nest);
  const std::vector<PixelAxis> pixels = PixelAxes(data, output, spatial);
  if (only_phase) {
    SetPixels(program, step, pixels, nest);
  } else {
    SetPhasePixels(pixels, spatial.size(), nest);
  }
  nest.data_elements = c.batch * c.groups * c.in;
  for (const int64_t extent : c.input) nest.data_elements *= extent;
  nest.data_elements /= nest.outer_count();
  const auto none = [](const Taps& taps) { return taps.count == 0; };
  if (std::ranges::any_of(phase, none)) SetNoSteps(nest);
  return nest;
}

}  // namespace

int64_t Steps::count() const {
  int64_t product = 1;
  for (const StepAxis& axis : axes) product *= axis.extent;
  return product;
}

int64_t Steps::AdditionsInside(size_t axis) const {
  int64_t inside = additions();
  for (size_t i = axis + 1; i < axes.size(); ++i) inside *= axes[i].extent;
  return inside;
}

int64_t Nest::outer_count() const {
  int64_t product = 1;
  for (const OuterAxis& axis : outer) product *= axis.extent;
  return product;
}

int64_t Nest::pixels() const {
  int64_t product = rows.extent * columns.extent;
  for (const PixelAxis& plane : planes) product *= plane.extent;
  return product;
}

int64_t Nest::flops() const {
  const int64_t depth = images.extent * (main.count() * main.additions() +
                                         tail.count() * tail.additions());
  const int64_t summed = own_channel < 0 ? group_channels : 1;
  return 2 * outer_count() * pixels() * channels * depth * summed;
}

std::vector<Nest> MakeNests(const CpuMachine& machine, const Program& program,
                            const Step& step) {
  const ContractionStep& body = *step.contraction();
  if (body.choice.algorithm == kPixelSums) {
    return MakePixelSums(machine, program, step);
  }
  std::vector<Nest> nests;
  const auto phases = PhasesOf(body.contraction);
  for (const std::vector<Taps>& phase : phases) {
    nests.push_back(
        MakePhase(machine, program, step, phase, phases.size() == 1));
  }
  return nests;
}

}  // namespace mxc::contraction
