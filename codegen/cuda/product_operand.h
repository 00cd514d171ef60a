// SPDX-License-Identifier: Apache-2.0
// One side of a product on its way into shared memory (product_shape.h).
#pragma once

#include <optional>
#include <vector>

#include "codegen/cuda/device_function.h"
#include "codegen/llvm/expr_emitter.h"

namespace mxc {

// A variable of the product, and how many values it has.
struct ProductVar {
  Expr var;
  int64_t extent = 1;
};

// How elements are taken: `vector` at once that lie side by side, along the
// depth or along the other index.
struct ProductAccess {
  bool along_depth = true;
  int vector = 1;
};

// `offset`: of an element in its operand; `inside`: where there is one.
// `aligned`: the operand begins where vectors may be read. The variables are
// listed from the outermost to the innermost.
ProductAccess AccessOf(const Affine& offset, const Expr& inside, bool aligned,
                       const std::vector<ProductVar>& lines,
                       const std::vector<ProductVar>& depth);

// What a thread does to bring its elements of a tile from an operand into
// shared memory. `lines` are the rows of data or the columns of weights.
class ProductOperand {
 public:
  struct Source {
    int operand = 0;
    Expr element, inside;  // of AddressForm: a Load and a condition
    ProductAccess access;
    std::vector<ProductVar> lines, depth;
  };
  ProductOperand(DeviceFunction& kernel, ExprEmitter& emitter, Source source,
                 int tile_lines, int threads);

  // In words. `line` and `depth` are i32.
  int StageWords() const;
  llvm::Value* WordAt(llvm::Value* line, llvm::Value* depth);

  // Finds the lines that the thread will copy, from `first_line` on.
  void Begin(llvm::Value* first_line);
  // Starts to copy what lies `first_depth` deep into the stage at `to`.
  void Copy(llvm::Value* first_depth, llvm::Value* to);

 private:
  struct Slot {
    llvm::Value *line = nullptr, *depth = nullptr;  // in the tile
    llvm::Value* is_line = nullptr;                 // there is one: i1
    std::vector<llvm::Value*> values;               // of source_.lines
  };

  int64_t Lines() const;
  int64_t Depth() const;
  int SlotCount() const;
  // The variables' values for a number, i64.
  std::vector<llvm::Value*> Apart(llvm::Value* number,
                                  const std::vector<ProductVar>& vars);

  DeviceFunction& kernel_;
  ExprEmitter& emitter_;
  const Source source_;
  const int tile_lines_, threads_;
  std::vector<Slot> slots_;
};

}  // namespace mxc
