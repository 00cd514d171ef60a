// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/contraction/step_kernel.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "codegen/cpu/contraction/digit_planes.h"
#include "codegen/cpu/contraction/output_halo.h"

namespace mxc::contraction {

StepKernel::StepKernel(KernelFunction& kernel, const StepShape& shape,
                       bool zeroes_halo)
    : kernel_(kernel),
      b_(kernel.b()),
      shape_(shape),
      nest_(shape.nest),
      zeroes_halo_(zeroes_halo),
      epilogue_(kernel, shape) {
  if (shape_.lines_ahead > 0) {
    next_line_ = b_.CreateAlloca(b_.getInt64Ty());
    b_.CreateStore(kernel_.Int(0), next_line_);
  }
}

llvm::Value* StepKernel::Advance(llvm::Value* base, llvm::Value* index,
                                 int64_t stride, DType dtype) {
  if (stride == 0) return base;
  return kernel_.ElementAddress(
      base, b_.CreateNSWMul(index, kernel_.Int(stride)), SizeOf(dtype));
}

llvm::Value* StepKernel::AdvanceData(llvm::Value* data, llvm::Value* index,
                                     int64_t stride) {
  return Advance(data, index, stride, nest_.types.data);
}

llvm::Value* StepKernel::AdvanceWeight(llvm::Value* weight, llvm::Value* index,
                                       int64_t stride) {
  return Advance(weight, index, stride, nest_.types.weight);
}

llvm::Value* StepKernel::AdvanceOutput(llvm::Value* output, llvm::Value* index,
                                       int64_t stride) {
  return Advance(output, index, stride, nest_.types.output);
}

llvm::Value* StepKernel::Part(llvm::Value* i, int64_t n, int64_t extent) {
  if (n == extent) return i;
  llvm::Value* scaled = b_.CreateMul(i, kernel_.Int(extent), "", true, true);
  return b_.CreateUDiv(scaled, kernel_.Int(n));
}

// Where tasks in sequence share weights, loops from the outermost are the axes
// along which weights change, chunks of channels, the other axes, chunks of
// pixels; where they share data, the chunks of channels are the innermost.
void StepKernel::EmitTask(llvm::Value* task) {
  const auto take = [&](int64_t extent) -> llvm::Value* {
    if (extent == 1) return kernel_.Int(0);
    llvm::Value* part = b_.CreateURem(task, kernel_.Int(extent));
    task = b_.CreateUDiv(task, kernel_.Int(extent));
    return part;
  };
  const Tasks& tasks = shape_.tasks;
  llvm::Value* channel_chunk =
      tasks.channels_innermost ? take(tasks.channel_chunks) : nullptr;
  llvm::Value* pixel_chunk = take(tasks.pixel_chunks);
  Place place;
  place.outer.resize(nest_.outer.size());
  const auto changes_weights = [](const OuterAxis& axis) {
    return axis.weight_stride != 0;
  };
  for (size_t i = nest_.outer.size(); i-- > 0;) {
    if (changes_weights(nest_.outer[i]) && !channel_chunk) {
      channel_chunk = take(tasks.channel_chunks);
    }
    place.outer[i] = take(nest_.outer[i].extent);
  }
  if (!channel_chunk) channel_chunk = take(tasks.channel_chunks);

  place.data = AdvanceData(kernel_.operand(0), kernel_.Int(nest_.data_base), 1);
  place.weight =
      AdvanceWeight(kernel_.operand(1), kernel_.Int(nest_.weight_base), 1);
  const int output = static_cast<int>(shape_.operands.size()) - 1;
  place.output =
      AdvanceOutput(kernel_.operand(output), kernel_.Int(nest_.output_base), 1);
  for (size_t i = 0; i < nest_.outer.size(); ++i) {
    const OuterAxis& axis = nest_.outer[i];
    place.data = AdvanceData(place.data, place.outer[i], axis.data_stride);
    place.weight =
        AdvanceWeight(place.weight, place.outer[i], axis.weight_stride);
    place.output =
        AdvanceOutput(place.output, place.outer[i], axis.output_stride);
  }
  if (nest_.digits) digits_ = DigitPlanes(kernel_, nest_).Of(place.data);
  const auto bounds = [&](llvm::Value* i, int64_t n, int64_t extent) {
    llvm::Value* next = b_.CreateAdd(i, kernel_.Int(1), "", true, true);
    return std::pair(Part(i, n, extent), Part(next, n, extent));
  };
  int64_t pixels = nest_.rows.extent;
  if (tasks.deal == Tasks::Deal::kPlanes) pixels = nest_.planes[0].extent;
  if (tasks.deal == Tasks::Deal::kColumnTiles) {
    pixels = 0;
    for (const TileRun& run : shape_.runs) pixels += run.count;
  }
  std::tie(place.first_pixel, place.last_pixel) =
      bounds(pixel_chunk, tasks.pixel_chunks, pixels);
  const auto [first_group, last_group] =
      bounds(channel_chunk, tasks.channel_chunks, shape_.vector_groups());
  if (zeroes_halo_) ZeroHalo(place, pixel_chunk, first_group, last_group);
  EmitStepBlocks(place, first_group, last_group);
}

void StepKernel::EmitStepBlocks(const Place& place, llvm::Value* first_group,
                                llvm::Value* last_group) {
  const int64_t blocks = shape_.step_blocks();
  const int64_t steps = nest_.main.axes.empty() ? 1 : nest_.main.axes[0].extent;
  const int64_t images = nest_.images.extent;
  kernel_.Loop(
      kernel_.Int(0), kernel_.Int(images * blocks), 1, [&](llvm::Value* round) {
        llvm::Value* i = round;
        Place at = place;
        if (images > 1) {
          llvm::Value* image = b_.CreateUDiv(round, kernel_.Int(blocks));
          i = b_.CreateURem(round, kernel_.Int(blocks));
          at.data = AdvanceData(place.data, image, nest_.images.data_stride);
          at.weight =
              AdvanceWeight(place.weight, image, nest_.images.weight_stride);
        }
        llvm::Value* block = kernel_.Int(shape_.step_block);
        at.first_step = b_.CreateMul(i, block, "", true, true);
        at.is_first = b_.CreateICmpEQ(round, kernel_.Int(0));
        at.is_last = b_.CreateICmpEQ(round, kernel_.Int(images * blocks - 1));
        llvm::Value* rest =
            b_.CreateSub(kernel_.Int(steps), at.first_step, "", true, true);
        at.step_count =
            blocks == 1
                ? rest
                : b_.CreateSelect(b_.CreateICmpULT(rest, block), rest, block);
        EmitVectorGroups(at, first_group, last_group);
      });
}

void StepKernel::EmitVectorGroups(const Place& place, llvm::Value* first,
                                  llvm::Value* last) {
  const int64_t full = shape_.full_vector_groups();
  llvm::Value* limit = kernel_.Int(full);
  if (full > 0) {
    llvm::Value* end =
        b_.CreateSelect(b_.CreateICmpULT(last, limit), last, limit);
    kernel_.Loop(first, end, 1, [&](llvm::Value* group) {
      Place at = place;
      at.ahead = DistanceAhead(place, group, first, last);
      EmitVectorGroup(at, group, shape_.tile.vectors, 0);
    });
  }
  const int rest =
      static_cast<int>(nest_.vectors() - full * shape_.tile.vectors);
  if (rest == 0) return;
  kernel_.If(b_.CreateICmpUGT(last, limit),
             [&] { EmitVectorGroup(place, limit, rest, nest_.tail_lanes()); });
}

void StepKernel::EmitVectorGroup(Place place, llvm::Value* group, int vectors,
                                 int64_t tail_lanes) {
  const int64_t per_group = shape_.tile.vectors;
  const int64_t panels = per_group / nest_.panel_vectors;
  place.vectors = vectors;
  place.tail_lanes = tail_lanes;
  place.vector = b_.CreateMul(group, kernel_.Int(per_group), "", true, true);
  place.weight =
      AdvanceWeight(place.weight, group, panels * nest_.panel_stride);
  place.data =
      AdvanceData(place.data, group, per_group * nest_.data_vector_stride);
  place.output = AdvanceOutput(place.output, group,
                               per_group * nest_.output_vector_stride);
  if (!nest_.main.axes.empty()) {
    place.data = AdvanceData(place.data, place.first_step,
                             nest_.main.axes[0].data_stride);
    place.weight =
        AdvanceWeight(place.weight, place.first_step, WeightsPerIteration());
  }
  EmitPlanes(place, 0);
}

void StepKernel::EmitPlanes(const Place& place, size_t axis) {
  if (axis == nest_.planes.size()) return EmitPlane(place);
  const PixelAxis& plane = nest_.planes[axis];
  const bool dealt = axis == 0 && shape_.tasks.deal == Tasks::Deal::kPlanes;
  kernel_.Loop(dealt ? place.first_pixel : kernel_.Int(0),
               dealt ? place.last_pixel : kernel_.Int(plane.extent), 1,
               [&](llvm::Value* i) {
                 Place at = place;
                 at.planes.push_back(i);
                 at.data = AdvanceData(place.data, i, plane.data_stride);
                 at.output =
                     AdvanceOutput(place.output, i, plane.output_stride);
                 EmitPlanes(at, axis + 1);
               });
}

// Tiles of one width need no other setting in between.
void StepKernel::Begin() {
  if (OnTiles() && shape_.runs.size() == 1) {
    ConfigureTiles(kernel_, shape_.runs[0].width);
  }
}

void StepKernel::End() {
  if (OnTiles()) ReleaseTiles(kernel_);
}

void StepKernel::EmitPlane(const Place& place) {
  int64_t first_tile = 0;
  for (const TileRun& run : shape_.runs) {
    if (OnTiles() && shape_.runs.size() > 1) ConfigureTiles(kernel_, run.width);
    if (shape_.tasks.deal != Tasks::Deal::kColumnTiles) {
      EmitRows(place, run);
    } else {
      EmitColumns(place, run, first_tile);
    }
    first_tile += run.count;
  }
}

// Rows in blocks of run.rows, then what is left one by one.
void StepKernel::EmitRows(const Place& place, const TileRun& run) {
  const bool dealt = shape_.tasks.deal == Tasks::Deal::kRows;
  llvm::Value* row = dealt ? place.first_pixel : kernel_.Int(0);
  llvm::Value* last = dealt ? place.last_pixel : kernel_.Int(nest_.rows.extent);
  if (run.rows > 1) {
    llvm::Value* count = b_.CreateSub(last, row);
    llvm::Value* rows = kernel_.Int(run.rows);
    llvm::Value* whole = b_.CreateMul(b_.CreateUDiv(count, rows), rows);
    llvm::Value* end = b_.CreateAdd(row, whole, "", true, true);
    kernel_.Loop(row, end, run.rows,
                 [&](llvm::Value* r) { EmitRow(place, run, r, run.rows); });
    row = end;
    const bool all = !dealt || shape_.tasks.pixel_chunks == 1;
    if (all && nest_.rows.extent % run.rows == 0) {
      return;
    }
  }
  kernel_.Loop(row, last, 1,
               [&](llvm::Value* r) { EmitRow(place, run, r, 1); });
}

void StepKernel::EmitRow(const Place& place, const TileRun& run,
                         llvm::Value* row, int64_t rows) {
  Place at = place;
  at.data = AdvanceData(place.data, row, nest_.rows.data_stride);
  at.output = AdvanceOutput(place.output, row, nest_.rows.output_stride);
  kernel_.Loop(kernel_.Int(run.first),
               kernel_.Int(run.first + run.count * run.width), run.width,
               [&](llvm::Value* column) {
                 EmitTile(at, {run.width, rows, place.vectors}, row, column);
               });
}

// A single row whose tiles first_pixel ≤ t < last_pixel are the task's.
void StepKernel::EmitColumns(const Place& place, const TileRun& run,
                             int64_t first_tile) {
  const auto column = [&](llvm::Value* tile) -> llvm::Value* {
    llvm::Value* low = kernel_.Int(first_tile);
    llvm::Value* high = kernel_.Int(first_tile + run.count);
    tile = b_.CreateSelect(b_.CreateICmpULT(tile, low), low, tile);
    tile = b_.CreateSelect(b_.CreateICmpUGT(tile, high), high, tile);
    llvm::Value* ahead = b_.CreateSub(tile, low, "", true, true);
    llvm::Value* width = kernel_.Int(run.width);
    return b_.CreateAdd(kernel_.Int(run.first),
                        b_.CreateMul(ahead, width, "", true, true), "", true,
                        true);
  };
  kernel_.Loop(column(place.first_pixel), column(place.last_pixel), run.width,
               [&](llvm::Value* c) {
                 EmitTile(place, {run.width, 1, place.vectors}, kernel_.Int(0),
                          c);
               });
}

void StepKernel::EmitTile(const Place& place, TileShape shape, llvm::Value* row,
                          llvm::Value* column) {
  shape.tail_lanes = place.tail_lanes;
  shape.tail_meets_others = shape_.tail_meets_others();
  MicroKernel tile(kernel_, nest_, shape);
  llvm::Value* data =
      AdvanceData(place.data, column, nest_.columns.data_stride);
  llvm::Value* output =
      AdvanceOutput(place.output, column, nest_.columns.output_stride);
  MicroKernel::Source source = {data, place.weight};
  source.digits = digits_;
  FetchAhead(place, source);
  MicroKernel::Accumulators sums =
      tile.SumsOfMain(source, {place.step_count, shape_.step_block});
  if (shape_.sums_wait()) {
    sums = Choose(place.is_first, sums,
                  [&] { return tile.Plus(tile.Load(output), sums); });
  }
  kernel_.If(
      place.is_last,
      [&] {
        // The tail's data count from the first step, its weights follow.
        llvm::Value* back = b_.CreateNeg(place.first_step);
        const int64_t stride =
            nest_.main.axes.empty() ? 0 : nest_.main.axes[0].data_stride;
        const MicroKernel::Source rest = {
            AdvanceData(data, back, stride),
            AdvanceWeight(place.weight, place.step_count,
                          WeightsPerIteration())};
        epilogue_.Write(
            shape, {place.outer, place.planes, row, column, place.vector}, tile,
            place.tail_lanes, tile.Widened(tile.AddTail(rest, sums)), output);
      },
      [&] {
        if (shape_.sums_wait()) tile.Store(output, sums);
      });
}

// The weights that follow: the next group's, at the end of the chunk those of
// the first group's next block of steps, and at last the next chunk's.
llvm::Value* StepKernel::DistanceAhead(const Place& place, llvm::Value* group,
                                       llvm::Value* first, llvm::Value* last) {
  if (shape_.lines_ahead == 0) return nullptr;
  const int64_t panels = shape_.tile.vectors / nest_.panel_vectors;
  llvm::Value* panel = kernel_.Int(panels * nest_.panel_stride);
  if (shape_.step_blocks() == 1) return panel;
  const int64_t iteration = WeightsPerIteration();
  llvm::Value* back = b_.CreateMul(b_.CreateSub(group, first), panel);
  llvm::Value* next_block =
      b_.CreateSub(kernel_.Int(shape_.step_block * iteration), back);
  llvm::Value* next_chunk = b_.CreateSub(
      panel, b_.CreateMul(place.first_step, kernel_.Int(iteration)));
  llvm::Value* next = b_.CreateAdd(group, kernel_.Int(1), "", true, true);
  return b_.CreateSelect(
      b_.CreateICmpULT(next, last), panel,
      b_.CreateSelect(place.is_last, next_chunk, next_block));
}

// The tiles of a task share the work of fetching ahead: each takes the lines of
// every step that follow those of the tile before.
void StepKernel::FetchAhead(const Place& place, MicroKernel::Source& source) {
  const int64_t step_lines = nest_.step_lines();
  if (shape_.bytes_ahead > 0) {
    source.ahead = kernel_.Int(shape_.bytes_ahead / SizeOf(nest_.types.weight));
    source.ahead_lines = step_lines;
  }
  if (!place.ahead) return;
  llvm::Type* type = b_.getInt64Ty();
  llvm::Value* line = b_.CreateLoad(type, next_line_);
  llvm::Value* next = b_.CreateURem(
      b_.CreateAdd(line, kernel_.Int(shape_.lines_ahead), "", true, true),
      kernel_.Int(step_lines));
  b_.CreateStore(next, next_line_);
  source.ahead = b_.CreateAdd(place.ahead, LineOffset(line));
  source.ahead_lines = shape_.lines_ahead;
}

llvm::Value* StepKernel::LineOffset(llvm::Value* line) {
  llvm::Value* elements = kernel_.Int(LineElements(nest_.types.weight));
  if (nest_.packed) return b_.CreateMul(line, elements);
  llvm::Value* of_row = kernel_.Int(nest_.row_lines());
  return b_.CreateAdd(b_.CreateMul(b_.CreateUDiv(line, of_row),
                                   kernel_.Int(nest_.main.row_stride)),
                      b_.CreateMul(b_.CreateURem(line, of_row), elements));
}

int64_t StepKernel::WeightsPerIteration() const {
  return nest_.main.axes.empty() ? 0 : nest_.main.axes[0].weight_stride;
}

MicroKernel::Accumulators StepKernel::Choose(
    llvm::Value* condition, const MicroKernel::Accumulators& value,
    const std::function<MicroKernel::Accumulators()>& otherwise) {
  // A loop of no or one round, which carries the values.
  llvm::Value* once = b_.CreateZExt(b_.CreateNot(condition), b_.getInt64Ty());
  return kernel_.Loop(kernel_.Int(0), once, 1, value,
                      [&](llvm::Value*, const KernelFunction::Carried&) {
                        return otherwise();
                      });
}

// The border around the spatial axes of the task's channel blocks: producers
// write whole buffers. The first of the tasks that share the blocks does it.
void StepKernel::ZeroHalo(const Place& place, llvm::Value* pixel_chunk,
                          llvm::Value* first_group, llvm::Value* last_group) {
  const Layout& layout = shape_.output();
  if (!layout.has_halo()) return;
  const Layout::Dim batch = layout.dims[0];
  llvm::Value* base =
      kernel_.operand(static_cast<int>(shape_.operands.size()) - 1);
  llvm::Value* ours = b_.CreateICmpEQ(pixel_chunk, kernel_.Int(0));
  llvm::Value* first_image = kernel_.Int(0);
  llvm::Value* last_image = kernel_.Int(batch.extent);
  for (size_t i = 0; i < nest_.outer.size(); ++i) {
    const OuterAxis& axis = nest_.outer[i];
    if (axis.var == batch.axis) {
      first_image = place.outer[i];
      last_image = b_.CreateAdd(first_image, kernel_.Int(1), "", true, true);
    } else if (axis.var >= 0) {
      ours =
          b_.CreateAnd(ours, b_.CreateICmpEQ(place.outer[i], kernel_.Int(0)));
    } else {
      base = AdvanceOutput(base, place.outer[i], axis.output_stride);
    }
  }
  llvm::Value* vectors = kernel_.Int(nest_.vectors());
  llvm::Value* per_group = kernel_.Int(shape_.tile.vectors);
  llvm::Value* first = b_.CreateMul(first_group, per_group);
  llvm::Value* last = b_.CreateMul(last_group, per_group);
  last = b_.CreateSelect(b_.CreateICmpULT(last, vectors), last, vectors);
  // One block of all channels: the first chunk zeroes all of it.
  if (nest_.output_vector_stride == nest_.lanes) {
    ours = b_.CreateAnd(ours, b_.CreateICmpEQ(first, kernel_.Int(0)));
    last = kernel_.Int(1);
  }
  kernel_.If(ours, [&] {
    OutputHalo(kernel_, shape_)
        .Zero(base, {first_image, last_image, first, last});
  });
}

void EmitStep(KernelFunction& kernel, const std::vector<StepShape>& shapes) {
  std::vector<std::unique_ptr<StepKernel>> parts;
  for (const StepShape& shape : shapes) {
    parts.push_back(std::make_unique<StepKernel>(kernel, shape, parts.empty()));
  }
  for (const auto& part : parts) part->Begin();
  kernel.Loop(kernel.begin(), kernel.end(), 1, [&](llvm::Value* task) {
    for (const auto& part : parts) part->EmitTask(task);
  });
  for (const auto& part : parts) part->End();
}

}  // namespace mxc::contraction
