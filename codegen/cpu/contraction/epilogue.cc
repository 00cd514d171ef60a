// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/contraction/epilogue.h"

#include <utility>

#include "codegen/llvm/arithmetic.h"
#include "codegen/llvm/half_float.h"

namespace mxc::contraction {
namespace {

std::vector<EmitOperand> Operands(const KernelFunction& kernel,
                                  const StepShape& shape) {
  std::vector<EmitOperand> operands;
  for (const StepShape::Operand& operand : shape.operands) {
    const int number = static_cast<int>(operands.size());
    operands.push_back({kernel.operand(number), operand.dtype, operand.layout});
  }
  return operands;
}

}  // namespace

Epilogue::Epilogue(KernelFunction& kernel, const StepShape& shape)
    : kernel_(kernel),
      nest_(shape.nest),
      emitter_(kernel, Operands(kernel, shape), shape.nest.lanes),
      expression_(shape.epilogue),
      output_rank_(static_cast<int>(shape.output().halo_low.size())),
      blocked_output_(shape.output().block(nest_.channel_var) > 1) {}

void Epilogue::Write(const TileShape& shape, const TilePosition& at,
                     const MicroKernel& tile, int64_t tail_lanes,
                     const MicroKernel::Accumulators& sums,
                     llvm::Value* output) {
  const DType dtype = nest_.types.output;
  llvm::Value* left = nullptr;  // waits for the value at its right
  Evaluate(shape, at, tail_lanes, sums,
           [&](int64_t r, int64_t c, int v, llvm::Value* value,
               llvm::Constant* mask) {
             const bool has_right = c + 1 < shape.width;
             if (left == nullptr && has_right && StoresTwo()) {
               left = value;
               return;
             }
             const int64_t first = left == nullptr ? c : c - 1;
             llvm::Value* address = kernel_.ElementAddress(
                 output, kernel_.Int(tile.OutputOffset(r, first, v)),
                 SizeOf(dtype));
             if (left != nullptr) {
               kernel_.b().CreateAlignedStore(
                   FloatsToBrains(kernel_, std::exchange(left, nullptr), value),
                   address, llvm::Align(SizeOf(dtype)));
             } else if (mask != nullptr && !blocked_output_) {
               kernel_.b().CreateMaskedStore(ToMemory(kernel_, value, dtype),
                                             address,
                                             llvm::Align(SizeOf(dtype)), mask);
             } else {
               StoreElements(kernel_, value, address, dtype);
             }
           });
}

// Neighbouring columns, which lie side by side.
bool Epilogue::StoresTwo() const {
  return nest_.types.output == DType::kBF16 && blocked_output_ &&
         nest_.columns.output_stride == nest_.lanes &&
         kernel_.instructions().brains_of_two == nest_.lanes;
}

MicroKernel::Accumulators Epilogue::Values(
    const TileShape& shape, const TilePosition& at, int64_t tail_lanes,
    const MicroKernel::Accumulators& sums) {
  MicroKernel::Accumulators values(sums.size());
  Evaluate(
      shape, at, tail_lanes, sums,
      [&](int64_t r, int64_t c, int v, llvm::Value* value, llvm::Constant*) {
        values[(r * shape.width + c) * shape.vectors + v] = value;
      });
  return values;
}

void Epilogue::Evaluate(const TileShape& shape, const TilePosition& at,
                        int64_t tail_lanes,
                        const MicroKernel::Accumulators& sums, const Use& use) {
  ExprEmitter::Scope scope(emitter_);
  const std::vector<Expr> base = TileIndices(at);
  const Expr row = emitter_.Bind(at.row, {0, nest_.rows.extent - 1});
  const Expr column = emitter_.Bind(at.column, {0, nest_.columns.extent - 1});
  const Expr vector = emitter_.Bind(at.vector, {0, nest_.vectors() - 1});
  const Expr lane =
      emitter_.BindLanes(kernel_.Int(0), {0, int64_t{nest_.lanes} - 1});
  std::vector<llvm::Constant*> bits;
  for (int l = 0; l < nest_.lanes; ++l) {
    bits.push_back(kernel_.b().getInt1(l < tail_lanes));
  }
  for (int v = 0; v < shape.vectors; ++v) {
    const bool partial = tail_lanes > 0 && v == shape.vectors - 1;
    llvm::Constant* mask = partial ? llvm::ConstantVector::get(bits) : nullptr;
    const Expr lanes = (vector + Expr(v)) * Expr(nest_.lanes) + lane;
    for (int64_t r = 0; r < shape.rows; ++r) {
      for (int64_t c = 0; c < shape.width; ++c) {
        std::vector<Expr> indices = base;
        Add(nest_.rows, row + Expr(r), indices);
        Add(nest_.columns, column + Expr(c), indices);
        indices[nest_.channel_var] = indices[nest_.channel_var] + lanes;
        emitter_.SetIndices(std::move(indices));
        const int64_t pixel = r * shape.width + c;
        use(r, c, v, ValueOf(sums[pixel * shape.vectors + v], mask), mask);
      }
    }
  }
}

// Lanes beyond the last channel read nothing; they become zero where they
// belong to a channel block, and are not written in a row-major output.
llvm::Value* Epilogue::ValueOf(llvm::Value* sum, llvm::Constant* mask) {
  emitter_.SetAcc(sum);
  if (mask == nullptr) return emitter_.EmitLanes(expression_);
  ExprEmitter::Scope scope(emitter_);
  emitter_.SetTail(mask);
  llvm::Value* value = emitter_.EmitLanes(expression_);
  emitter_.SetTail(nullptr);
  if (!blocked_output_) return value;
  return kernel_.b().CreateSelect(
      mask, value, llvm::Constant::getNullValue(value->getType()));
}

Expr Epilogue::Bind(llvm::Value* value, int64_t extent) {
  return extent == 1 ? Expr(0) : emitter_.Bind(value, {0, extent - 1});
}

void Epilogue::Add(const PixelAxis& axis, const Expr& i,
                   std::vector<Expr>& indices) {
  if (axis.var < 0) return;
  Expr& index = indices[axis.var];
  index = index + i * Expr(axis.scale) + Expr(axis.first);
}

std::vector<Expr> Epilogue::TileIndices(const TilePosition& at) {
  std::vector<Expr> indices(output_rank_, Expr(0));
  for (size_t i = 0; i < at.outer.size(); ++i) {
    const OuterAxis& axis = nest_.outer[i];
    const Expr value = Bind(at.outer[i], axis.extent);
    if (axis.var >= 0) {
      indices[axis.var] = value;
    } else {
      Expr& channel = indices[nest_.channel_var];
      channel = channel + value * Expr(axis.channels);
    }
  }
  for (size_t i = 0; i < at.planes.size(); ++i) {
    Add(nest_.planes[i], Bind(at.planes[i], nest_.planes[i].extent), indices);
  }
  return indices;
}

}  // namespace mxc::contraction
