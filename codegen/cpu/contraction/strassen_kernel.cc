// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/contraction/strassen_kernel.h"

#include <array>

#include "codegen/cpu/contraction/output_halo.h"
#include "ir/program/quarter_sums.h"

namespace mxc::contraction {
namespace {

// Of kProductStarts: the plane after which the sum that a plane goes on from is
// there, with what has been added to it since; kAdded's own place has zeros.
constexpr int64_t kAdded = 5;
constexpr std::array<int64_t, kQuarterProducts> kGoesOnFrom = {
    kAdded, 0, 0, 2, 3, kAdded, 2};
// Once it is there, kAdded's product is added to those of these planes.
constexpr std::array<int64_t, 2> kAddedTo = {2, 3};
// After which plane the quarters of the output are there.
constexpr std::array<int64_t, kQuarters> kOutputPlanes = {1, 6, 4, 3};

// In 4 additions.
std::vector<llvm::Value*> DataSums(KernelFunction::Builder& b,
                                   const std::vector<llvm::Value*>& a) {
  llvm::Value* sum = b.CreateFAdd(a[2], a[3]);
  llvm::Value* rest = b.CreateFSub(sum, a[0]);
  return {a[0],
          a[1],
          rest,
          b.CreateFSub(a[0], a[2]),
          a[3],
          sum,
          b.CreateFSub(a[1], rest)};
}

}  // namespace

StrassenKernel::StrassenKernel(KernelFunction& kernel,
                               const StrassenShape& shape)
    : FlatMemory(kernel, shape.step.nest.types.sum, shape.step.nest.lanes),
      shape_(shape),
      nest_(shape.step.nest),
      input_(kernel, nest_.types.data, nest_.lanes),
      output_(kernel, nest_.types.output, nest_.lanes),
      data_(At(kernel.scratch(), LineElements(shape.step.nest.types.sum))),
      products_(At(data_, (kQuarterProducts + 1) * shape.grid.data_plane)),
      multiply_(kernel, shape.products, shape.step.tile.pixels),
      epilogue_(kernel, shape.step) {}

void StrassenKernel::Emit() {
  kernel_.Loop(kernel_.begin(), kernel_.end(), 1,
               [&](llvm::Value* task) { EmitTask(task); });
}

void StrassenKernel::EmitTask(llvm::Value* task) {
  const StrassenGrid& grid = shape_.grid;
  llvm::Value* index = b_.CreateUDiv(task, kernel_.Int(grid.channel_chunks));
  llvm::Value* chunk = b_.CreateURem(task, kernel_.Int(grid.channel_chunks));
  llvm::Value* full = kernel_.Int(grid.block_pairs);
  Block block;
  block.first = Times(index, grid.block_pairs);
  const bool all_full = grid.pairs % grid.block_pairs == 0;
  block.count =
      all_full
          ? full
          : Least(b_.CreateSub(kernel_.Int(grid.pairs), block.first), full);
  block.is_full = all_full ? b_.getTrue() : b_.CreateICmpEQ(block.count, full);
  const int64_t groups = shape_.vectors / shape_.step.tile.vectors;
  block.first_group = Part(chunk, grid.channel_chunks, groups);
  block.last_group =
      Part(Plus(chunk, kernel_.Int(1)), grid.channel_chunks, groups);
  ZeroHalo(index, block.first_group, block.last_group);
  FillOnce(index, [&] { SumData(block); });
  kernel_.Loop(kernel_.Int(0),
               kernel_.Int(shape_.grid.product_plane / nest_.lanes), 1,
               [&](llvm::Value* i) {
                 StoreVector(llvm::Constant::getNullValue(vector_type_),
                             Advance(ProductsOf(kAdded), i, nest_.lanes));
               });
  kernel_.Loop(block.first_group, block.last_group, 1,
               [&](llvm::Value* group) { EmitGroup(block, group); });
}

void StrassenKernel::SumData(const Block& block) {
  const int64_t lanes = nest_.lanes, blocks = shape_.channels / lanes;
  kernel_.Loop(kernel_.Int(0), kernel_.Int(blocks), 1, [&](llvm::Value* c) {
    llvm::Value* to = Advance(data_, c, 2 * shape_.grid.block_pairs * lanes);
    kernel_.Loop(kernel_.Int(0), block.count, 1, [&](llvm::Value* i) {
      llvm::Value* pair = Plus(block.first, i);
      llvm::Value* place = Advance(to, i, 2 * lanes);
      const auto load = [&](bool second, Vectors& x) {
        llvm::Value* from = input_.Advance(DataOf(PositionNumber(pair, second)),
                                           c, shape_.data_block);
        x.push_back(input_.LoadVector(from));
        x.push_back(
            input_.LoadVector(input_.At(from, blocks * shape_.data_block)));
      };
      const auto store = [&](const Vectors& x) {
        const Vectors sums = DataSums(b_, x);
        for (int64_t p = 0; p < kQuarterProducts; ++p) {
          if (QuarterRead(p) >= 0) continue;
          StoreVector(
              sums[static_cast<size_t>(p)],
              At(place, p / 2 * 2 * shape_.grid.data_plane + p % 2 * lanes));
        }
      };
      const auto whole = [&] {
        Vectors x;
        load(false, x);
        load(true, x);
        store(x);
      };
      llvm::Value* second = HasSecond(pair);
      if (!second) return whole();
      kernel_.If(second, whole, [&] {
        Vectors x;
        load(false, x);
        x.resize(kQuarters, llvm::Constant::getNullValue(vector_type_));
        store(x);
      });
    });
  });
}

void StrassenKernel::EmitGroup(const Block& block, llvm::Value* group) {
  const Nest& nest = shape_.products;
  llvm::Value* weights = Advance(kernel_.operand(1), group, nest.panel_stride);
  kernel_.Loop(
      kernel_.Int(0), kernel_.Int(kQuarterProducts), 1, [&](llvm::Value* p) {
        MicroKernel::Source source = SourceOf(block, p);
        source.weight =
            Advance(weights, p, shape_.channels * nest.panel_width());
        const auto each = [&](int64_t pairs) {
          if (pairs == 0) return;
          multiply_.EachTile(
              pairs, [&](const Tiles& tiles) { EmitTile(source, p, tiles); });
        };
        kernel_.If(
            block.is_full, [&] { each(shape_.grid.block_pairs); },
            [&] { each(shape_.grid.pairs % shape_.grid.block_pairs); });
      });
  EmitOutputs(block, group);
}

// Fetches its share of the next plane's weights.
void StrassenKernel::EmitTile(MicroKernel::Source source, llvm::Value* plane,
                              const Tiles& tiles) {
  const Nest& nest = shape_.products;
  MicroKernel tile(kernel_, nest, {tiles.width, 1, shape_.step.tile.vectors});
  source.data = Advance(source.data, tiles.first, nest.columns.data_stride);
  source.ahead = Plus(kernel_.Int(shape_.channels * nest.panel_width()),
                      Times(tiles.line, LineElements(nest.types.weight)));
  source.ahead_lines = tiles.lines;
  llvm::Value* from = kernel_.Int(kGoesOnFrom[0]);
  for (int64_t i = 1; i < kQuarterProducts; ++i) {
    from = b_.CreateSelect(b_.CreateICmpEQ(plane, kernel_.Int(i)),
                           kernel_.Int(kGoesOnFrom[i]), from);
  }
  llvm::Value* place = Advance(products_, tiles.first, nest.lanes);
  const auto at = [&](llvm::Value* product) {
    return Advance(place, product, shape_.grid.product_plane);
  };
  const auto products =
      tile.SumsOfMain(source, tile.AllOf(nest.main.axes[0].extent));
  const auto sums = tile.Plus(tile.Load(at(from)), products);
  const auto add = [&] {
    for (const int64_t to : kAddedTo) {
      llvm::Value* total = at(kernel_.Int(to));
      tile.Store(total, tile.Plus(tile.Load(total), sums));
    }
  };
  kernel_.If(b_.CreateICmpEQ(plane, kernel_.Int(kAdded)), add,
             [&] { tile.Store(at(plane), sums); });
}

// The data of a plane.
MicroKernel::Source StrassenKernel::SourceOf(const Block& block,
                                             llvm::Value* plane) {
  MicroKernel::Source source;
  const auto both = b_.CreateLShr(plane, kernel_.Int(1));
  source.data = Advance(data_, both, 2 * shape_.grid.data_plane);
  source.data =
      Advance(source.data, b_.CreateAnd(plane, kernel_.Int(1)), nest_.lanes);
  if (!shape_.reads_data) return source;
  source.data_stride = kernel_.Int(shape_.products.main.axes[0].data_stride);
  for (int64_t p = 0; p < kQuarterProducts; ++p) {
    const int quarter = QuarterRead(p);
    if (quarter < 0) continue;
    llvm::Value* data = input_.At(
        DataOf(PositionNumber(block.first, quarter / 2 == 1)),
        quarter % 2 * shape_.channels / nest_.lanes * shape_.data_block);
    llvm::Value* is = b_.CreateICmpEQ(plane, kernel_.Int(p));
    source.data = b_.CreateSelect(is, data, source.data);
    source.data_stride =
        b_.CreateSelect(is, kernel_.Int(shape_.data_block), source.data_stride);
  }
  return source;
}

void StrassenKernel::EmitOutputs(const Block& block, llvm::Value* group) {
  const int vectors = shape_.step.tile.vectors;
  llvm::Value* first_vector = Times(group, 2 * vectors);
  kernel_.Loop(kernel_.Int(0), block.count, 1, [&](llvm::Value* i) {
    llvm::Value* pair = Plus(block.first, i);
    const auto write = [&](bool second) {
      const Position at =
          PositionAt(PositionNumber(pair, second), nest_.rows.extent == 1);
      for (int64_t v = 0; v < vectors; ++v) {
        for (const int64_t half : {0, 1}) {
          llvm::Value* from =
              Advance(ProductsOf(kOutputPlanes[(second ? 2 : 0) + half]), i,
                      nest_.lanes);
          Write(at, Plus(first_vector, kernel_.Int(half * vectors + v)),
                LoadVector(At(from, v * shape_.products.output_vector_stride)));
        }
      }
    };
    write(false);
    llvm::Value* has_second = HasSecond(pair);
    has_second ? kernel_.If(has_second, [&] { write(true); }) : write(true);
  });
}

void StrassenKernel::Write(const Position& at, llvm::Value* vector,
                           llvm::Value* value) {
  llvm::Value* output = output_.At(Output(), nest_.output_base);
  output = output_.Advance(output, at.image, nest_.outer[0].output_stride);
  output = output_.Advance(output, vector, nest_.output_vector_stride);
  output = output_.Advance(output, at.row, nest_.rows.output_stride);
  output = output_.Advance(output, at.column, nest_.columns.output_stride);
  const TileShape tile = {1, 1, 1};
  epilogue_.Write(tile, {{at.image}, {}, at.row, at.column, vector},
                  MicroKernel(kernel_, nest_, tile), 0, {value}, output);
}

// The first block's tasks do it for all images.
void StrassenKernel::ZeroHalo(llvm::Value* block, llvm::Value* first_group,
                              llvm::Value* last_group) {
  if (!shape_.step.output().has_halo()) return;
  const int64_t vectors = 2 * shape_.step.tile.vectors;
  kernel_.If(b_.CreateICmpEQ(block, kernel_.Int(0)), [&] {
    OutputHalo(kernel_, shape_.step)
        .Zero(Output(),
              {kernel_.Int(0), kernel_.Int(shape_.batch),
               Times(first_group, vectors), Times(last_group, vectors)});
  });
}

// Of all images.
llvm::Value* StrassenKernel::PositionNumber(llvm::Value* pair, bool second) {
  llvm::Value* first = Times(pair, 2);
  return second ? Plus(first, kernel_.Int(1)) : first;
}

llvm::Value* StrassenKernel::HasSecond(llvm::Value* pair) {
  const int64_t positions = shape_.batch * shape_.positions;
  if (positions % 2 == 0) return nullptr;
  return b_.CreateICmpNE(pair, kernel_.Int(positions / 2));
}

StrassenKernel::Position StrassenKernel::PositionAt(llvm::Value* number,
                                                    bool is_flat) {
  llvm::Value *image = kernel_.Int(0), *row = kernel_.Int(0);
  if (shape_.batch > 1) {
    image = b_.CreateUDiv(number, kernel_.Int(shape_.positions));
    number = b_.CreateURem(number, kernel_.Int(shape_.positions));
  }
  if (is_flat) return {image, row, number};
  row = b_.CreateUDiv(number, kernel_.Int(shape_.width));
  return {image, row, b_.CreateURem(number, kernel_.Int(shape_.width))};
}

llvm::Value* StrassenKernel::DataOf(llvm::Value* position) {
  const Position at = PositionAt(position, shape_.is_flat);
  llvm::Value* data = input_.At(kernel_.operand(0), shape_.data_base);
  data = input_.Advance(data, at.image, shape_.data_image);
  data = input_.Advance(data, at.row, shape_.data_row);
  return input_.Advance(data, at.column, shape_.data_column);
}

// Where the last pair has one position, the other counts as zeros, which are in
// scratch only.
int StrassenKernel::QuarterRead(int64_t plane) const {
  if (!shape_.reads_data) return -1;
  int quarter = -1;
  for (int q = 0; q < kQuarters; ++q) {
    const double factor = kDataQuarters[plane * kQuarters + q];
    if (factor == 0) continue;
    if (factor != 1 || quarter >= 0) return -1;
    quarter = q;
  }
  const bool odd = shape_.batch * shape_.positions % 2 != 0;
  return quarter >= 2 && odd ? -1 : quarter;
}

llvm::Value* StrassenKernel::ProductsOf(int64_t plane) {
  return At(products_, plane * shape_.grid.product_plane);
}

llvm::Value* StrassenKernel::Output() {
  return kernel_.operand(static_cast<int>(shape_.step.operands.size()) - 1);
}

}  // namespace mxc::contraction
