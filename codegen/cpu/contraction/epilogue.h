// SPDX-License-Identifier: Apache-2.0
// Epilogue: what becomes of a tile's sums. The step's expression is evaluated
// for each accumulator in registers, and the result is written.
#pragma once

#include <functional>

#include "codegen/cpu/contraction/micro_kernel.h"
#include "codegen/cpu/contraction/step_shape.h"
#include "codegen/llvm/expr_emitter.h"
#include "codegen/llvm/kernel_function.h"

namespace mxc::contraction {

// Where a tile's first element lies in the output; i64 values.
struct TilePosition {
  std::vector<llvm::Value*> outer, planes;  // for each of the nest's
  llvm::Value *row, *column;
  llvm::Value* vector;  // of output channels
};

class Epilogue {
 public:
  Epilogue(KernelFunction& kernel, const StepShape& shape);

  // `tail_lanes`: channels in the last vector; 0: all.
  void Write(const TileShape& shape, const TilePosition& at,
             const MicroKernel& tile, int64_t tail_lanes,
             const MicroKernel::Accumulators& sums, llvm::Value* output);
  // What Write would store, in the order of `sums`, for outputs in blocks of
  // channels.
  MicroKernel::Accumulators Values(const TileShape& shape,
                                   const TilePosition& at, int64_t tail_lanes,
                                   const MicroKernel::Accumulators& sums);

 private:
  // use(pixel's row and column in the tile, vector, value, mask of a partial
  // vector or null) for each of the sums.
  using Use = std::function<void(int64_t r, int64_t c, int v,
                                 llvm::Value* value, llvm::Constant* mask)>;
  void Evaluate(const TileShape& shape, const TilePosition& at,
                int64_t tail_lanes, const MicroKernel::Accumulators& sums,
                const Use& use);
  llvm::Value* ValueOf(llvm::Value* sum, llvm::Constant* mask);
  bool StoresTwo() const;
  // What the tile's position says of the output's indices, row and column
  // aside.
  std::vector<Expr> TileIndices(const TilePosition& at);
  Expr Bind(llvm::Value* value, int64_t extent);
  static void Add(const PixelAxis& axis, const Expr& i,
                  std::vector<Expr>& indices);

  KernelFunction& kernel_;
  const Nest& nest_;
  ExprEmitter emitter_;
  const Expr expression_;
  const int output_rank_;
  const bool blocked_output_;
};

}  // namespace mxc::contraction
