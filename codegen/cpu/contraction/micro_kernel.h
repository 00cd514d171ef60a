// SPDX-License-Identifier: Apache-2.0
// MicroKernel: the reduction of one register tile, as LLVM IR. The accumulators
// of all pixels and vectors live in registers; loops run over the steps and
// only the channels of one step are unrolled.
#pragma once

#include <map>
#include <vector>

#include "codegen/cpu/contraction/nest.h"
#include "codegen/cpu/contraction/tile_unit.h"
#include "codegen/llvm/kernel_function.h"

namespace mxc::contraction {

struct TileShape {
  int64_t width = 1, rows = 1;  // pixels
  int vectors = 1;
  // Channels in the last vector, 0: all; and whether what lies behind them in
  // the output is not the tile's.
  int64_t tail_lanes = 0;
  bool tail_meets_others = false;

  int64_t pixels() const { return width * rows; }
};

class MicroKernel {
 public:
  MicroKernel(KernelFunction& kernel, const Nest& nest, TileShape shape);

  // One vector for each (pixel, vector), pixels outermost. A last vector of few
  // channels is half as wide, where that is half the work.
  using Accumulators = std::vector<llvm::Value*>;
  Accumulators Zeros();
  Accumulators Load(llvm::Value* output);
  void Store(llvm::Value* output, const Accumulators& values);
  // What is known to be zero costs nothing.
  Accumulators Plus(const Accumulators& total, Accumulators added);
  // All vectors as wide as a full one, with zeros.
  Accumulators Widened(Accumulators sums);

  // Where a part of the reduction starts, for the tile's first pixel.
  struct Source {
    llvm::Value *data, *weight;
    // Where weights that will be needed next lie from those in use; in
    // elements, an i64. Null: nothing to fetch ahead.
    llvm::Value* ahead = nullptr;
    int64_t ahead_lines = 1;  // in each step
    // The data's digits (Nest::digits), or null.
    llvm::Value* digits = nullptr;
    // The data's stride along main.axes[0], an i64, instead of the Nest's.
    llvm::Value* data_stride = nullptr;
  };
  // Iterations of a loop: an i64, and what it is at most.
  struct Count {
    llvm::Value* value;
    int64_t most;
  };
  // Of iterations 0 ≤ i < count of main.axes[0].
  Accumulators SumsOfMain(const Source& source, const Count& count);
  // Adds the channels that do not fill a block.
  Accumulators AddTail(Source source, const Accumulators& sums);
  Count AllOf(int64_t iterations);

  // Element offset of an accumulator in the output, from the first pixel's.
  int64_t OutputOffset(int64_t row, int64_t column, int vector) const;

 private:
  using Carried = KernelFunction::Carried;
  Accumulators Add(const Steps& steps, const Source& source,
                   const Count& count);
  Accumulators AddTo(Accumulators sums, const Steps& steps,
                     const Source& source, const Count& count);
  // Where units add to data, one more sum for each vector says how much that
  // comes to.
  void TakeAdded(Accumulators& sums);
  struct Range {
    llvm::Value *first, *end;
  };
  Accumulators SumsOfDigits(const Source& source, const Count& count);
  Carried StepLoops(const Steps& steps, size_t axis, const Count& count,
                    const Source& source, Carried carried);
  Carried StepRange(const Steps& steps, size_t axis, const Range& range,
                    const Source& source, Carried carried);
  bool JoinsElements(const Steps& steps, size_t axis,
                     const Source& source) const;
  Carried ElementRange(const Steps& steps, size_t axis, const Range& range,
                       const Source& source, Carried carried);
  int64_t IterationsOfChain(int64_t inside, int64_t extent) const;
  Carried OneStep(const Steps& steps, const Source& source, Carried carried);
  Carried ElementLoop(const Steps& steps, llvm::Value* data,
                      llvm::Value* weight, Carried carried);
  void FetchAhead(const Source& source, llvm::Value* weight);
  Carried GroupLoop(const Steps& steps, const Range& groups,
                    const Source& source, Carried carried);
  Source Advanced(const Steps& steps, size_t axis, llvm::Value* i,
                  const Source& source);
  Accumulators WeightsOf(const Steps& steps, llvm::Value* weight, int64_t i);
  void AddBroadcasts(const Steps& steps, llvm::Value* data, llvm::Value* weight,
                     llvm::Value** sums);
  bool ElementsInRows(const Steps& steps) const;
  void AddDots(const Steps& steps, llvm::Value* data, llvm::Value* weight,
               llvm::Value** sums);
  void AddWindow(const Steps& steps, llvm::Value* data, llvm::Value* weight,
                 llvm::Value** sums);
  void AddOwnDots(const Steps& steps, llvm::Value* data, llvm::Value* weight,
                  llvm::Value** sums);
  void AddPairs(const Steps& steps, llvm::Value* data, llvm::Value* weight,
                llvm::Value** sums);
  // Where windows of the tile's pixels read data: by offset, who does.
  struct Use {
    int64_t pixel, tap;
  };
  std::map<int64_t, std::vector<Use>> UsesOf(const Steps& steps) const;
  llvm::Value* OwnGroupsChannel(llvm::Value* vector, int64_t channel);
  int64_t PixelOffset(int64_t pixel) const;
  llvm::Value* At(llvm::Value* base, int64_t offset, DType dtype);
  llvm::Value* Advance(llvm::Value* base, llvm::Value* index, int64_t stride,
                       DType dtype);
  // Elements in the type of the sums.
  llvm::Value* Load(llvm::Value* base, int64_t offset, DType dtype, int lanes);
  llvm::Type* TypeOf(int vector) const;
  int LanesOf(int vector) const;
  // Null: the vector's lanes are all the tile's.
  llvm::Value* MaskOf(int vector) const;
  void FetchNextTile(const Steps& steps, llvm::Value* data, int64_t i);
  void FetchRow(const Steps& steps, llvm::Value* weight, int64_t i);
  llvm::Value* Opaque(llvm::Value* pointer);
  int64_t VectorOffset(int vector) const;  // in a row of weights
  bool WindowsOverlap(const Steps& steps) const;

  KernelFunction& kernel_;
  const CpuMachine machine_;
  const Nest& nest_;
  const TileShape shape_;
  llvm::Type* const vector_type_;
  const bool half_tail_;
  TileUnit* unit_ = nullptr;              // null: vectors add
  llvm::Value* added_to_data_ = nullptr;  // of the sums at hand; null: nothing
};

}  // namespace mxc::contraction
