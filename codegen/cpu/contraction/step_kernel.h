// SPDX-License-Identifier: Apache-2.0
// StepKernel: the loops around the micro-kernels of one contraction.
//
//   for task:                       groups, chunk of channels, outer, pixels
//     for block of the reduction:   a panel's part stays in the first cache
//       for group of vectors:
//         for run of tiles, row, tile:  MicroKernel, then Epilogue
#pragma once

#include <functional>

#include "codegen/cpu/contraction/epilogue.h"
#include "codegen/cpu/contraction/micro_kernel.h"
#include "codegen/cpu/contraction/step_shape.h"

namespace mxc::contraction {

class StepKernel {
 public:
  // `zeroes_halo`: it also writes the border of the output.
  StepKernel(KernelFunction& kernel, const StepShape& shape, bool zeroes_halo);
  void EmitTask(llvm::Value* task);
  // What the kernel does once, before and after all tasks.
  void Begin();
  void End();

 private:
  // What the loops outside of a tile have fixed so far.
  struct Place {
    std::vector<llvm::Value*> outer, planes;
    llvm::Value *data, *weight, *output;
    llvm::Value *first_pixel, *last_pixel;  // of what the tasks share
    llvm::Value *first_step, *step_count;   // of main.axes[0]
    llvm::Value *is_first, *is_last;        // block of steps; i1
    llvm::Value* vector;                    // of output channels
    llvm::Value* ahead = nullptr;           // from these weights to the next
    int vectors;
    int64_t tail_lanes;
  };
  void EmitStepBlocks(const Place& place, llvm::Value* first_group,
                      llvm::Value* last_group);
  void EmitVectorGroups(const Place& place, llvm::Value* first,
                        llvm::Value* last);
  void EmitVectorGroup(Place place, llvm::Value* group, int vectors,
                       int64_t tail_lanes);
  void EmitPlanes(const Place& place, size_t axis);
  void EmitPlane(const Place& place);
  bool OnTiles() const { return nest_.access == DataAccess::kTiles; }
  void EmitRows(const Place& place, const TileRun& run);
  void EmitRow(const Place& place, const TileRun& run, llvm::Value* row,
               int64_t rows);
  void EmitColumns(const Place& place, const TileRun& run, int64_t first_tile);
  void EmitTile(const Place& place, TileShape shape, llvm::Value* row,
                llvm::Value* column);
  llvm::Value* DistanceAhead(const Place& place, llvm::Value* group,
                             llvm::Value* first, llvm::Value* last);
  void FetchAhead(const Place& place, MicroKernel::Source& source);
  // From the first line of a step of weights to line `line`.
  llvm::Value* LineOffset(llvm::Value* line);
  int64_t WeightsPerIteration() const;  // of main.axes[0]
  void ZeroHalo(const Place& place, llvm::Value* pixel_chunk,
                llvm::Value* first_group, llvm::Value* last_group);

  // `value` if the condition holds, else what `otherwise` emits.
  MicroKernel::Accumulators Choose(
      llvm::Value* condition, const MicroKernel::Accumulators& value,
      const std::function<MicroKernel::Accumulators()>& otherwise);
  // By elements of data, of weights, of the output.
  llvm::Value* AdvanceData(llvm::Value* data, llvm::Value* index,
                           int64_t stride);
  llvm::Value* AdvanceWeight(llvm::Value* weight, llvm::Value* index,
                             int64_t stride);
  llvm::Value* AdvanceOutput(llvm::Value* output, llvm::Value* index,
                             int64_t stride);
  llvm::Value* Advance(llvm::Value* base, llvm::Value* index, int64_t stride,
                       DType dtype);
  // begin + (end − begin) · i / n
  llvm::Value* Part(llvm::Value* i, int64_t n, int64_t extent);

  KernelFunction& kernel_;
  KernelFunction::Builder& b_;
  const StepShape& shape_;
  const Nest& nest_;
  const bool zeroes_halo_;
  Epilogue epilogue_;
  llvm::Value* digits_ = nullptr;     // of the row of data (Nest::digits)
  llvm::Value* next_line_ = nullptr;  // of a step's weights, to fetch ahead
};

// The kernel of a step: all its shapes, task by task.
void EmitStep(KernelFunction& kernel, const std::vector<StepShape>& shapes);

}  // namespace mxc::contraction
