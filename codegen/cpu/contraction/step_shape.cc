// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/contraction/step_shape.h"

#include <algorithm>

#include "codegen/cpu/contraction/digit_planes.h"
#include "codegen/cpu/contraction/tile_choice.h"
#include "codegen/cpu/contraction/tile_unit.h"
#include "ir/support/check.h"
#include "ir/support/division.h"

namespace mxc::contraction {
namespace {

// Below this many tiles a panel is read faster than anything can be computed.
constexpr int64_t kFewTiles = 3;

// Sums may wait in the output only if the epilogue does not read its bytes
// (a residual that is added in place).
bool ReadsOutput(const Program& program, const Step& step) {
  const int output = program.Root(step.outputs[0]);
  bool reads = false;
  VisitLoads(step.contraction()->epilogue, [&](const ExprNode& load) {
    if (program.Root(step.inputs[load.index]) == output) reads = true;
  });
  return reads;
}

// Enough that the tiles of a task fetch a whole panel; none where the next
// panel belongs to other data (depthwise) or there is no time for it.
int64_t LinesAhead(const CpuMachine& machine, const StepShape& shape) {
  const Nest& nest = shape.nest;
  if (!machine.fetches_ahead) return 0;
  if (nest.data_vector_stride != 0 || shape.vector_groups() < 2) return 0;
  const int64_t step_lines = nest.step_lines();
  const int64_t rows = nest.rows.extent;
  const int64_t planes = nest.pixels() / (rows * nest.columns.extent);
  const int64_t tiles =
      planes * CountTiles(shape.runs, rows) / shape.tasks.pixel_chunks;
  if (step_lines == 0 || tiles < kFewTiles) return 0;
  const int64_t lines = DivideUp(step_lines, tiles);
  const int64_t row_lines = nest.row_lines();
  if (row_lines == 0) return lines;
  // Those of one row, or whole rows.
  if (lines > row_lines) return DivideUp(lines, row_lines) * row_lines;
  int64_t part = row_lines;
  while (part % 2 == 0 && part / 2 >= lines) part /= 2;
  return part;
}

// A core that widens what it reads waits less for memory than one that only
// multiplies, and then fetches less ahead by itself: widening and fetching would
// follow each other.
int64_t BytesAhead(const CpuMachine& machine, const StepShape& shape) {
  const Nest& nest = shape.nest;
  const int64_t tiles = nest.pixels() / shape.tasks.pixel_chunks;
  const bool streams =
      machine.fetches_ahead && nest.packed && nest.data_vector_stride == 0 &&
      tiles < kFewTiles &&
      static_cast<double>(machine.l1.bytes) < nest.weight_bytes();
  const bool widens = SizeOf(nest.types.weight) < SizeOf(nest.types.sum);
  return streams && widens && nest.step_lines() > 0 ? machine.stream_bytes_ahead
                                                    : 0;
}

}  // namespace

int64_t StepShape::task_count() const {
  return nest.outer_count() * tasks.channel_chunks * tasks.pixel_chunks;
}

int64_t StepShape::vector_groups() const {
  return DivideUp(nest.vectors() - joined_vectors, tile.vectors);
}

int64_t StepShape::full_vector_groups() const {
  const int64_t full = nest.channels / nest.lanes / tile.vectors;
  return joined_vectors > 0 ? vector_groups() - 1 : full;
}

int64_t StepShape::step_blocks() const {
  if (nest.main.axes.empty()) return 1;
  return std::max<int64_t>(1, DivideUp(nest.main.axes[0].extent, step_block));
}

std::vector<StepShape::Operand> OperandsOf(const Program& program,
                                           const Step& step) {
  std::vector<StepShape::Operand> operands;
  for (const std::vector<int>* buffers : {&step.inputs, &step.outputs}) {
    for (const int index : *buffers) {
      const Buffer& buffer = program.buffers[index];
      operands.push_back({buffer.type.dtype, buffer.layout});
    }
  }
  return operands;
}

namespace {

// Iterations of main.axes[0] between which the sums wait in the output. For a
// single row weights are read once, so that nothing is gained where they stay.
int64_t StepBlock(const Program& program, const Step& step,
                  const CpuMachine& machine, const StepShape& shape) {
  const Nest& nest = shape.nest;
  const int64_t steps = nest.main.axes.empty() ? 1 : nest.main.axes[0].extent;
  const bool one_block = nest.types.output != nest.types.sum ||
                         ReadsOutput(program, step) ||
                         (nest.packed && nest.data_vector_stride != 0);
  if (nest.step_block > 0) {
    MXC_CHECK(!one_block, "{}: sums cannot wait in the output", step.name);
    return nest.step_block;
  }
  return one_block || (nest.packed && nest.pixels() == 1)
             ? std::max<int64_t>(1, steps)
             : ChooseStepBlock(machine, nest, shape.tile.vectors);
}

// By elements of rows, one after the other.
bool IsPlainProduct(const Program& program, const Step& step,
                    const Nest& nest) {
  return nest.access == DataAccess::kBroadcast && !nest.int4 && !nest.digits &&
         nest.main.axes.size() == 1 && nest.planes.empty() &&
         !program.buffers[step.outputs[0]].layout.has_halo();
}

StepShape ShapeNest(const Program& program, const Step& step,
                    const CpuMachine& machine, Nest nest, const Tasks* tasks) {
  StepShape shape;
  shape.nest = std::move(nest);
  shape.tile = TileOf(step.contraction()->choice).tile;
  MXC_CHECK(shape.tile.pixels > 0 && shape.tile.vectors > 0 &&
                shape.tile.vectors % shape.nest.panel_vectors == 0,
            "{}: tile {}x{}", step.name, shape.tile.pixels, shape.tile.vectors);
  const int64_t rows = shape.nest.rows.extent;
  const int64_t columns = shape.nest.columns.extent;
  shape.runs = shape.nest.access == DataAccess::kTiles
                   ? SplitForTiles(rows, columns)
                   : SplitPixels(rows, columns, shape.tile.pixels,
                                 shape.nest.main.rows.extent > 1 ? 2 : 1);
  // The tasks are the order's, so that the plan is.
  shape.tasks = ChooseTasks(machine, shape.nest, shape.tile.vectors,
                            CountTiles(shape.runs, 1));
  if (tasks != nullptr) {
    shape.tasks.pixel_chunks = tasks->pixel_chunks;
    shape.tasks.channel_chunks = tasks->channel_chunks;
  }
  const RegisterTile held = HeldTile(machine, shape.tile);
  if (held.pixels < shape.tile.pixels) {
    shape.tile = held;
    shape.runs = SplitPixels(rows, columns, held.pixels);
  }
  if (IsPlainProduct(program, step, shape.nest)) {
    shape.joined_vectors =
        JoinedVectors(machine, shape.tile, shape.nest.vectors());
  }
  shape.step_block = StepBlock(program, step, machine, shape);
  shape.lines_ahead = LinesAhead(machine, shape);
  if (shape.lines_ahead == 0) shape.bytes_ahead = BytesAhead(machine, shape);
  shape.operands = OperandsOf(program, step);
  shape.epilogue = step.contraction()->epilogue;
  if (shape.nest.digits) {
    shape.scratch_bytes = DigitPlaneScratch(step.contraction()->contraction);
  }
  return shape;
}

}  // namespace

std::vector<StepShape> ShapeStep(const Program& program, const Step& step,
                                 const Target& target) {
  const CpuMachine machine = CpuMachineOf(target);
  std::vector<StepShape> shapes;
  for (Nest& nest : MakeNests(machine, program, step)) {
    // The first nest has most to do.
    shapes.push_back(ShapeNest(program, step, machine, std::move(nest),
                               shapes.empty() ? nullptr : &shapes[0].tasks));
  }
  return shapes;
}

}  // namespace mxc::contraction
