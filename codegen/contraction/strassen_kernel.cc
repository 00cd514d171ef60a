// SPDX-License-Identifier: Apache-2.0
#include "codegen/contraction/strassen_kernel.h"

#include "codegen/contraction/output_halo.h"
#include "codegen/contraction/tile_transform.h"
#include "ir/program/quarter_sums.h"

namespace mxc::contraction {

StrassenKernel::StrassenKernel(KernelFunction& kernel,
                               const StrassenShape& shape)
    : FlatMemory(kernel, shape.step.nest.lanes),
      shape_(shape),
      nest_(shape.step.nest),
      data_(At(kernel.scratch(), kNoteElements)),
      products_(At(data_, kQuarterProducts * shape.grid.data_plane)),
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
  kernel_.Loop(block.first_group, block.last_group, 1,
               [&](llvm::Value* group) { EmitGroup(block, group); });
}

void StrassenKernel::SumData(const Block& block) {
  const int64_t lanes = nest_.lanes, blocks = shape_.channels / lanes;
  kernel_.Loop(kernel_.Int(0), kernel_.Int(blocks), 1, [&](llvm::Value* c) {
    llvm::Value* to = Advance(data_, c, shape_.grid.block_pairs * lanes);
    kernel_.Loop(kernel_.Int(0), block.count, 1, [&](llvm::Value* i) {
      llvm::Value* pair = Plus(block.first, i);
      llvm::Value* place = Advance(to, i, lanes);
      const auto load = [&](bool second, std::vector<llvm::Value*>& x) {
        llvm::Value* from =
            Advance(DataOf(PositionOf(pair, second)), c, shape_.data_block);
        x.push_back(LoadVector(from));
        x.push_back(LoadVector(At(from, blocks * shape_.data_block)));
      };
      const auto store = [&](const std::vector<llvm::Value*>& x) {
        const auto sums = Multiply(kernel_, kDataQuarters, x);
        for (size_t p = 0; p < sums.size(); ++p) {
          StoreVector(sums[p], At(place, static_cast<int64_t>(p) *
                                             shape_.grid.data_plane));
        }
      };
      const auto whole = [&] {
        std::vector<llvm::Value*> x;
        load(false, x);
        load(true, x);
        store(x);
      };
      llvm::Value* second = HasSecond(pair);
      if (!second) return whole();
      kernel_.If(second, whole, [&] {
        std::vector<llvm::Value*> x;
        load(false, x);
        x.resize(kQuarters, llvm::Constant::getNullValue(vector_type_));
        store(x);
      });
    });
  });
}

void StrassenKernel::EmitGroup(const Block& block, llvm::Value* group) {
  const StrassenGrid& grid = shape_.grid;
  const Nest& nest = shape_.products;
  llvm::Value* weights = Advance(kernel_.operand(1), group, nest.panel_stride);
  kernel_.Loop(kernel_.Int(0), kernel_.Int(kQuarterProducts), 1,
               [&](llvm::Value* p) {
                 const PlaneProducts::Factors factors = {
                     Advance(data_, p, grid.data_plane),
                     Advance(weights, p, shape_.channels * nest.panel_width()),
                     Advance(products_, p, grid.product_plane)};
                 const auto multiply = [&](int64_t pairs) {
                   if (pairs > 0)
                     multiply_.Emit(pairs, shape_.step.tile.vectors, factors);
                 };
                 kernel_.If(
                     block.is_full, [&] { multiply(grid.block_pairs); },
                     [&] { multiply(grid.pairs % grid.block_pairs); });
               });
  EmitOutputs(block, group);
}

void StrassenKernel::EmitOutputs(const Block& block, llvm::Value* group) {
  const int vectors = shape_.step.tile.vectors;
  llvm::Value* first_vector = Times(group, vectors);
  kernel_.Loop(kernel_.Int(0), block.count, 1, [&](llvm::Value* i) {
    llvm::Value* pair = Plus(block.first, i);
    std::vector<std::vector<llvm::Value*>> quarters;
    for (int64_t v = 0; v < vectors; ++v) {
      llvm::Value* from = At(Advance(products_, i, nest_.lanes),
                             v * shape_.products.output_vector_stride);
      std::vector<llvm::Value*> x;
      for (int64_t p = 0; p < kQuarterProducts; ++p) {
        x.push_back(LoadVector(At(from, p * shape_.grid.product_plane)));
      }
      quarters.push_back(Multiply(kernel_, kOutputQuarters, x));
    }
    const auto write = [&](bool second) {
      const Position at = PositionOf(pair, second);
      for (int64_t v = 0; v < vectors; ++v) {
        for (const int64_t half : {0, 1}) {
          Write(at, Plus(first_vector, kernel_.Int(half * shape_.vectors + v)),
                quarters[v][(second ? 2 : 0) + half]);
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
  llvm::Value* output = At(Output(), nest_.output_base);
  output = Advance(output, at.image, nest_.outer[0].output_stride);
  output = Advance(output, vector, nest_.output_vector_stride);
  output = Advance(output, at.row, nest_.rows.output_stride);
  output = Advance(output, at.column, nest_.columns.output_stride);
  const TileShape tile = {1, 1, 1};
  epilogue_.Write(tile, {{at.image}, {}, at.row, at.column, vector},
                  MicroKernel(kernel_, nest_, tile), 0, {value}, output);
}

// The first block's tasks do it for all images.
void StrassenKernel::ZeroHalo(llvm::Value* block, llvm::Value* first_group,
                              llvm::Value* last_group) {
  if (!shape_.step.output().has_halo()) return;
  const int64_t vectors = shape_.step.tile.vectors;
  llvm::Value* half = kernel_.Int(shape_.vectors);
  llvm::Value* first = Times(first_group, vectors);
  llvm::Value* last = Times(last_group, vectors);
  kernel_.If(b_.CreateICmpEQ(block, kernel_.Int(0)), [&] {
    OutputHalo halo(kernel_, shape_.step);
    llvm::Value *none = kernel_.Int(0), *all = kernel_.Int(shape_.batch);
    halo.Zero(Output(), {none, all, first, last});
    halo.Zero(Output(), {none, all, Plus(first, half), Plus(last, half)});
  });
}

StrassenKernel::Position StrassenKernel::PositionOf(llvm::Value* pair,
                                                    bool second) {
  const auto take = [&](llvm::Value*& i, int64_t extent) {
    llvm::Value* part = b_.CreateURem(i, kernel_.Int(extent));
    i = b_.CreateUDiv(i, kernel_.Int(extent));
    return part;
  };
  llvm::Value* row = take(pair, shape_.pairs);
  if (second) row = Plus(row, kernel_.Int(shape_.pairs));
  llvm::Value* column = take(row, shape_.width);
  return {pair, row, column};
}

llvm::Value* StrassenKernel::HasSecond(llvm::Value* pair) {
  if (shape_.positions % 2 == 0) return nullptr;
  return b_.CreateICmpULT(b_.CreateURem(pair, kernel_.Int(shape_.pairs)),
                          kernel_.Int(shape_.positions - shape_.pairs));
}

llvm::Value* StrassenKernel::DataOf(const Position& at) {
  llvm::Value* data = At(kernel_.operand(0), shape_.data_base);
  data = Advance(data, at.image, shape_.data_image);
  data = Advance(data, at.row, shape_.data_row);
  return Advance(data, at.column, shape_.data_column);
}

llvm::Value* StrassenKernel::Output() {
  return kernel_.operand(static_cast<int>(shape_.step.operands.size()) - 1);
}

}  // namespace mxc::contraction
