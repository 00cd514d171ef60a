// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/contraction/winograd_outputs.h"

#include <utility>

#include "codegen/cpu/contraction/output_halo.h"
#include "codegen/llvm/arithmetic.h"

namespace mxc::contraction {

WinogradOutputs::WinogradOutputs(KernelFunction& kernel,
                                 const WinogradShape& shape, llvm::Value* lines)
    : FlatMemory(kernel, shape.step.nest.types.sum, shape.step.nest.lanes),
      shape_(shape),
      nest_(shape.step.nest),
      output_(kernel, nest_.types.output, nest_.lanes),
      lines_(lines),
      tiles_(kernel, shape),
      epilogue_(kernel, shape.step) {}

llvm::Value* WinogradOutputs::Below(llvm::Value* output, llvm::Value* rows) {
  return output_.Advance(output, rows, nest_.rows.output_stride);
}

void WinogradOutputs::Emit(const TileBlock& block, llvm::Value* vector,
                           llvm::Value* products, int64_t tail_lanes) {
  const int64_t lanes = nest_.lanes, plane = shape_.grid.product_plane;
  const int64_t plane_row = shape_.grid.columns.each.window * plane;
  tiles_.Each(block, [&](const TileKind& kind, const TileCorner& corner,
                         llvm::Value* tile) {
    const auto& [rows, columns] = std::pair(kind.rows, kind.columns);
    llvm::Value* from = At(Advance(products, tile, lanes),
                           rows.first * plane_row + columns.first * plane);
    if (shape_.grid.rows.each.window == 1) {
      return WriteTile(kind, corner, {sums_, from, plane_row, plane}, vector,
                       tail_lanes);
    }
    const int64_t line = columns.count * lanes;
    TransformLines(
        kernel_,
        {OutputMatrix(shape_.basis, kind.down.outputs, rows.count), rows.count},
        columns.count, {sums_, from, plane, plane_row},
        {sums_, lines_, lanes, line});
    WriteTile(kind, corner, {sums_, lines_, line, lanes}, vector, tail_lanes);
  });
}

// A row of a tile whose rows are those of `sums`.
WinogradOutputs::Vectors WinogradOutputs::OutputRow(const TileKind& kind,
                                                    const VectorLines& sums,
                                                    llvm::Value* row) {
  const int64_t columns = kind.columns.count;
  llvm::Value* line = Advance(sums.base, row, sums.line);
  Vectors x;
  for (int64_t j = 0; j < columns; ++j) {
    x.push_back(LoadVector(At(line, j * sums.entry)));
  }
  if (shape_.grid.columns.each.window == 1) return x;
  return Multiply(kernel_,
                  OutputMatrix(shape_.basis, kind.across.outputs, columns), x);
}

void WinogradOutputs::WriteTile(const TileKind& kind, const TileCorner& corner,
                                const VectorLines& sums, llvm::Value* vector,
                                int64_t tail_lanes) {
  if (shape_.maxima != Extents{1, 1}) {
    return WriteMaxima(kind, corner, sums, vector, tail_lanes);
  }
  kernel_.Loop(kernel_.Int(0), kernel_.Int(kind.down.outputs), 1,
               [&](llvm::Value* i) {
                 WriteRow({corner.image, Plus(corner.row, i), corner.column},
                          OutputRow(kind, sums, i), vector, tail_lanes);
               });
}

// The same where windows' maxima are the output: a window's rows at once.
void WinogradOutputs::WriteMaxima(const TileKind& kind,
                                  const TileCorner& corner,
                                  const VectorLines& sums, llvm::Value* vector,
                                  int64_t tail_lanes) {
  const int64_t down = shape_.maxima[0], across = shape_.maxima[1];
  const int64_t windows = kind.across.outputs / across;
  if (windows == 0) return;
  kernel_.Loop(
      kernel_.Int(0), kernel_.Int(kind.down.outputs / down), 1,
      [&](llvm::Value* i) {
        const TileCorner first = {
            corner.image, Plus(corner.row, Times(i, down)), corner.column};
        Vectors most(static_cast<size_t>(windows));
        for (int64_t r = 0; r < down; ++r) {
          llvm::Value* row = Plus(Times(i, down), kernel_.Int(r));
          Vectors x = OutputRow(kind, sums, row);
          x.resize(static_cast<size_t>(windows * across));
          x = epilogue_.Values({windows * across, 1, 1},
                               {{corner.image},
                                {},
                                Plus(corner.row, row),
                                corner.column,
                                vector},
                               tail_lanes, x);
          for (int64_t j = 0; j < windows * across; ++j) {
            llvm::Value*& at = most[static_cast<size_t>(j / across)];
            at = at == nullptr ? x[j]
                               : EmitBinary(kernel_, BinaryOp::kMax,
                                            nest_.types.sum, at, x[j]);
          }
        }
        llvm::Value* output = OutputOf(first, vector);
        for (int64_t j = 0; j < windows; ++j) {
          output_.StoreVector(
              most[j], output_.At(output, j * nest_.columns.output_stride));
        }
      });
}

void WinogradOutputs::WriteRow(const TileCorner& corner, const Vectors& values,
                               llvm::Value* vector, int64_t tail_lanes) {
  const TileShape tile = {static_cast<int64_t>(values.size()), 1, 1};
  epilogue_.Write(tile, {{corner.image}, {}, corner.row, corner.column, vector},
                  MicroKernel(kernel_, nest_, tile), tail_lanes, values,
                  OutputOf(corner, vector));
}

llvm::Value* WinogradOutputs::OutputOf(const TileCorner& corner,
                                       llvm::Value* vector) {
  llvm::Value* output = output_.At(Output(), nest_.output_base);
  output = output_.Advance(output, corner.image, nest_.outer[0].output_stride);
  output = output_.Advance(output, vector, nest_.output_vector_stride);
  const auto place = [&](llvm::Value* at, int64_t window) {
    return window == 1 ? at : b_.CreateUDiv(at, kernel_.Int(window));
  };
  output = output_.Advance(output, place(corner.row, shape_.maxima[0]),
                           nest_.rows.output_stride);
  return output_.Advance(output, place(corner.column, shape_.maxima[1]),
                         nest_.columns.output_stride);
}

// The first block's tasks do it for all images.
void WinogradOutputs::ZeroHalo(llvm::Value* block, llvm::Value* first_group,
                               llvm::Value* last_group) {
  if (!shape_.step.output().has_halo()) return;
  const int64_t vectors = shape_.step.tile.vectors;
  kernel_.If(b_.CreateICmpEQ(block, kernel_.Int(0)), [&] {
    OutputHalo(kernel_, shape_.step)
        .Zero(Output(), {kernel_.Int(0), kernel_.Int(shape_.batch),
                         Times(first_group, vectors),
                         Least(Times(last_group, vectors),
                               kernel_.Int(nest_.vectors()))});
  });
}

llvm::Value* WinogradOutputs::Output() {
  const size_t operands = shape_.step.operands.size();
  return kernel_.operand(static_cast<int>(operands) - 1);
}

}  // namespace mxc::contraction
