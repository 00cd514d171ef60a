// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/contraction/pixel_sums.h"

#include <algorithm>

#include "codegen/cpu/contraction/operand.h"
#include "codegen/cpu/contraction/taps.h"
#include "codegen/cpu/contraction/tile_choice.h"
#include "ir/support/check.h"
#include "ir/support/division.h"

namespace mxc::contraction {
namespace {

// Positions of a row that one step multiplies.
constexpr int64_t kMostUnroll = 8;
// A product lane by lane holds the vectors of all its positions.
constexpr int64_t kMostUnrollByLane = 4;
// Sums that are little beside what is read.
constexpr int64_t kLittle = 8;

int64_t LargestDivisor(int64_t n, int64_t most) {
  for (int64_t d = std::min(n, most); d > 1; --d) {
    if (n % d == 0) return d;
  }
  return 1;
}

struct SumOperands {
  SumOperands(const Program& program, const Step& step, const Contraction& c)
      : data(program.buffers[step.inputs[0]].layout, c.data_axes),
        weight(program.buffers[step.inputs[1]].layout, c.weight_axes),
        output(program.buffers[step.outputs[0]].layout, c.output_axes) {}
  Operand data, weight, output;

  int data_image() const { return data.AxisOf({Role::kIn, Role::kGroupIn}); }
  int data_channel() const {
    return data.AxisOf({Role::kBatch, Role::kGroupBatch});
  }
  int weight_channel() const {
    return weight.AxisOf({Role::kOut, Role::kGroupOut});
  }
  int output_channel() const {
    return output.AxisOf({Role::kOut, Role::kGroupOut});
  }
};

// Images and positions, the innermost unrolled.
void SetReduction(const CpuMachine& machine, const Contraction& c,
                  const SumOperands& at, Nest& nest) {
  std::vector<StepAxis> axes = {{c.in, at.data.Stride(at.data_image()),
                                 at.weight.Stride(at.data_image())}};
  int64_t positions = 1;
  for (size_t i = 0; i < c.kernel.size(); ++i) {
    const int data_axis = at.data.AxisOf({SpatialRole(i)});
    const int weight_axis = at.weight.AxisOf({SpatialRole(i)});
    axes.push_back({c.kernel[i], c.dilate[i] * at.data.Stride(data_axis),
                    at.weight.Stride(weight_axis)});
    nest.data_base += PhasesOf(c, i)[0].first_data * at.data.Stride(data_axis);
    positions *= c.kernel[i];
  }
  StepAxis& inner = axes.back();
  const bool by_lane = nest.access == DataAccess::kOwnGroup;
  nest.main.unroll =
      LargestDivisor(inner.extent, by_lane ? kMostUnrollByLane : kMostUnroll);
  nest.main.stride = inner.data_stride;
  nest.main.row_stride = inner.weight_stride;
  nest.main.weight_rows = nest.main.unroll;
  inner = {inner.extent / nest.main.unroll,
           inner.data_stride * nest.main.unroll,
           inner.weight_stride * nest.main.unroll};
  nest.panel_rows = c.in * positions;

  // Of a position: one vector of data and two of the other operand.
  const int64_t vectors =
      SizeOf(nest.types.data) + 2 * SizeOf(nest.types.weight);
  const int64_t most =
      std::max<int64_t>(1, machine.position_bytes / (vectors * nest.lanes));
  // Blocks of whole images, or of the outermost spatial axis.
  int64_t iteration = positions;
  if (positions > most && axes.size() > 2) {
    nest.images = axes[0];
    axes.erase(axes.begin());
    iteration /= axes[0].extent;
  }
  const int64_t extent = axes[0].extent;
  const int64_t block = std::max<int64_t>(1, most / iteration);
  nest.step_block = DivideUp(extent, DivideUp(extent, block));
  nest.main.axes = std::move(axes);
}

// The axes of the kernel, which is the output.
std::vector<PixelAxis> KernelAxes(const Contraction& c, const SumOperands& at) {
  std::vector<PixelAxis> kernel;
  for (size_t i = 0; i < c.output.size(); ++i) {
    const int axis = at.output.AxisOf({SpatialRole(i)});
    kernel.push_back(
        {c.output[i],
         c.stride[i] * at.data.Stride(at.data.AxisOf({SpatialRole(i)})),
         at.output.Stride(axis), axis});
  }
  return kernel;
}

// Input channels [first, first + count) as columns of `width`, and the kernel's
// positions.
void SetOutputs(const Contraction& c, const SumOperands& at, int64_t first,
                int64_t count, int64_t width, Nest& nest) {
  const int data_axis = at.data_channel();
  const int var = at.output.AxisOf({Role::kBatch});
  const int64_t data_stride = at.data.Stride(data_axis);
  const int64_t output_stride = at.output.Stride(var);
  const bool blocked = at.data.layout().block(data_axis) > 1;
  std::vector<PixelAxis> kernel = KernelAxes(c, at);
  nest.deal_planes = true;
  nest.planes = {
      {count / width, data_stride, width * output_stride, var, width, first}};
  nest.data_base += blocked ? first / nest.lanes * data_stride : 0;
  nest.output_base += first * output_stride;
  if (blocked) {
    nest.columns = {width, 1, output_stride, var};
  } else {
    nest.columns = kernel.back();
    kernel.pop_back();
  }
  if (!kernel.empty()) {
    nest.rows = kernel.back();
    kernel.pop_back();
  }
  nest.planes.insert(nest.planes.end(), kernel.begin(), kernel.end());
}

// Groups of channels, or parts of the images.
void SetGroups(const Contraction& c, const SumOperands& at, Nest& nest) {
  if (c.groups == 1) return;
  const int parts = at.output.AxisOf({Role::kGroup});
  if (parts >= 0) {
    nest.outer.push_back({c.groups, c.in * at.data.Stride(at.data_image()),
                          c.in * at.weight.Stride(at.data_image()),
                          at.output.Stride(parts), 0, parts});
    return;
  }
  const int64_t lanes = nest.lanes;
  nest.outer.push_back(
      {c.groups, c.batch / lanes * at.data.Stride(at.data_channel()),
       c.out / lanes * at.weight.Stride(at.weight_channel()),
       c.out / lanes * at.output.Stride(at.output_channel()), c.out, -1});
}

Nest Common(const Program& program, const Step& step, const SumOperands& at) {
  const Contraction& c = step.contraction()->contraction;
  Nest nest;
  nest.types = c.types;
  nest.lanes = TileOf(step.contraction()->choice).lanes;
  nest.channel_var = at.output_channel();
  nest.channels = c.out;
  nest.output_vector_stride = at.output.Stride(nest.channel_var);
  nest.panel_stride = at.weight.Stride(at.weight_channel());
  nest.packed = false;
  nest.data_base = at.data.Origin();
  nest.weight_base = at.weight.Origin();
  nest.output_base = at.output.Origin();
  MXC_CHECK(at.output.layout().block(nest.channel_var) == nest.lanes &&
                at.weight.layout().block(at.weight_channel()) == nest.lanes,
            "{}: channel blocks", step.name);
  const Extents& low = program.buffers[step.inputs[0]].layout.halo_low;
  const Extents& high = program.buffers[step.inputs[0]].layout.halo_high;
  for (size_t i = 0; i < c.kernel.size(); ++i) {
    const int axis = at.data.AxisOf({SpatialRole(i)});
    MXC_CHECK(low[axis] >= HaloLow(c, i) && high[axis] >= HaloHigh(c, i),
              "{}: the halo of spatial axis {}", step.name, i);
  }
  return nest;
}

void CountData(const Contraction& c, Nest& nest) {
  nest.data_elements = c.batch * c.groups * c.in;
  for (const int64_t extent : c.input) nest.data_elements *= extent;
  nest.data_elements /= nest.outer_count();
}

// For input channel `own` of every group.
Nest ByLane(const CpuMachine& machine, const Program& program, const Step& step,
            int64_t own) {
  const Contraction& c = step.contraction()->contraction;
  const SumOperands at(program, step, c);
  Nest nest = Common(program, step, at);
  nest.access = DataAccess::kOwnGroup;
  nest.group_channels = c.batch;
  nest.own_channel = own;
  nest.channels = c.groups * c.out;
  nest.data_vector_stride = at.data.Stride(at.data_channel());
  SetReduction(machine, c, at, nest);
  std::vector<PixelAxis> kernel = KernelAxes(c, at);
  nest.columns = kernel.back();
  kernel.pop_back();
  if (!kernel.empty()) {
    nest.rows = kernel.back();
    kernel.pop_back();
  }
  const int channel_axis = at.output.AxisOf({Role::kBatch});
  nest.planes = {{1, 0, 0, channel_axis, 1, own}};
  nest.planes.insert(nest.planes.begin(), kernel.begin(), kernel.end());
  nest.output_base += own * at.output.Stride(channel_axis);
  nest.deal_planes = true;
  CountData(c, nest);
  return nest;
}

bool Matches(const std::vector<Role>& axes, std::vector<Role> first,
             size_t spatial) {
  for (size_t i = 0; i < spatial; ++i) first.push_back(SpatialRole(i));
  return axes == first;
}

}  // namespace

bool IsPixelSums(const Contraction& c) {
  const size_t n = c.kernel.size();
  const bool plain = std::ranges::all_of(
      c.data_dilate, [](int64_t spread) { return spread == 1; });
  if (n == 0 || c.flip || !plain) return false;
  const bool whole = Matches(c.data_axes, {Role::kIn, Role::kGroupBatch}, n) &&
                     Matches(c.weight_axes, {Role::kIn, Role::kGroupOut}, n) &&
                     Matches(c.output_axes, {Role::kGroupOut, Role::kBatch}, n);
  const bool parts =
      Matches(c.data_axes, {Role::kGroupIn, Role::kBatch}, n) &&
      Matches(c.weight_axes, {Role::kGroupIn, Role::kOut}, n) &&
      Matches(c.output_axes, {Role::kGroup, Role::kOut, Role::kBatch}, n);
  return whole || parts;
}

bool IsPixelSumsByLane(const Contraction& c, int64_t lanes) {
  return c.groups > 1 && c.batch == c.out && c.batch < lanes &&
         lanes % c.batch == 0 && c.data_axes[0] == Role::kIn;
}

int64_t ChooseParts(const CpuMachine& machine, const Contraction& c,
                    int64_t data_channels, int64_t out_channels) {
  if (c.groups > 1) return 1;
  const int64_t outputs =
      DivideUp(c.batch, data_channels) * DivideUp(c.out, out_channels);
  int64_t sums = SizeOf(c.types.sum) * c.batch * c.out,
          data = SizeOf(c.types.data) * c.in * c.batch,
          weight = SizeOf(c.types.weight) * c.in * c.out;
  for (size_t i = 0; i < c.kernel.size(); ++i) {
    sums *= c.output[i];
    data *= c.input[i];
    weight *= c.kernel[i];
  }
  int64_t best = 1;
  const int64_t most = std::min<int64_t>(c.in, machine.tasks);
  for (int64_t parts = 2; parts <= most; ++parts) {
    const bool little = parts * sums * kLittle <= data + weight;
    const bool needed = best * outputs < machine.tasks &&
                        parts * sums <= machine.waiting_sum_bytes;
    if (c.in % parts == 0 && (little || needed)) best = parts;
  }
  return best;
}

std::vector<Nest> MakePixelSums(const CpuMachine& machine,
                                const Program& program, const Step& step) {
  const Contraction& c = step.contraction()->contraction;
  std::vector<Nest> nests;
  if (IsPixelSumsByLane(c, TileOf(step.contraction()->choice).lanes)) {
    for (int64_t own = 0; own < c.batch; ++own) {
      nests.push_back(ByLane(machine, program, step, own));
    }
    return nests;
  }
  const SumOperands at(program, step, c);
  const bool blocked = at.data.layout().block(at.data_channel()) > 1;
  const auto add = [&](int64_t first, int64_t count, int64_t width) {
    if (count == 0) return;
    Nest nest = Common(program, step, at);
    SetReduction(machine, c, at, nest);
    SetOutputs(c, at, first, count, width, nest);
    SetGroups(c, at, nest);
    CountData(c, nest);
    nests.push_back(std::move(nest));
  };
  if (!blocked) {
    add(0, c.batch, 1);
    return nests;
  }
  const int64_t lanes = TileOf(step.contraction()->choice).lanes;
  const int64_t whole = c.batch / lanes * lanes;
  add(0, whole, lanes);
  add(whole, c.batch - whole, std::max<int64_t>(1, c.batch - whole));
  return nests;
}

}  // namespace mxc::contraction
