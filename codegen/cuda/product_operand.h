// SPDX-License-Identifier: Apache-2.0
// One side of a product on its way into shared memory (product_shape.h).
#pragma once

#include <vector>

#include "codegen/cuda/device_function.h"
#include "codegen/cuda/product_form.h"
#include "codegen/cuda/stage_layout.h"
#include "codegen/llvm/expr_emitter.h"

namespace mxc {

// What a thread does to bring its elements of a tile from an operand into
// shared memory, where it keeps its type. `lines` are the rows of data or the
// columns of weights.
class ProductOperand {
 public:
  struct Source {
    int operand = 0;
    Expr element, inside;  // of AddressForm: a Load and a condition
    std::vector<ProductVar> lines, depth;
    ProductAccess access;
  };
  // Of a tile: so many lines, so deep, by so many threads; in swizzled rows or
  // not (stage_layout.h).
  struct Tile {
    int lines = 0, depth = 0, threads = 0;
    bool swizzled = false;
  };
  ProductOperand(DeviceFunction& kernel, ExprEmitter& emitter, Source source,
                 const Tile& tile);

  DType dtype() const { return source_.element->dtype; }
  // The most words that a stage may take, whatever the access.
  static int64_t MostStageWords(const Tile& tile, int element_bytes);
  const StageLayout& stage() const { return stage_; }
  // What a lane of the warp multiplies of kBlockLines lines from `line` on and
  // kBlockWords words from word `word` of the depth on: words l % 4 and l % 4 + 4
  // of lines l / 4 and l / 4 + 8, the lines first (mma of primitives.def). Words
  // of the depth are elements, or, of pairs, two of 16 bits. f32 or i16 come out
  // where words are elements, else i32. `line` and `word` are i32.
  static constexpr int kBlockLines = 16, kBlockWords = 8;
  llvm::SmallVector<llvm::Value*, 4> ReadBlock(llvm::Value* stage,
                                               llvm::Value* line,
                                               llvm::Value* word, bool pairs);

  // Finds the lines that the thread will copy, from `first_line` on.
  void Begin(llvm::Value* first_line);
  // Starts to copy what lies `first_depth` deep into the stage at `to`. Single
  // elements of 16 bits are too small for copies that run ahead: they are on
  // their way into registers, and Settle puts them into the stage.
  using OnTheWay = std::vector<llvm::Value*>;
  OnTheWay Copy(llvm::Value* first_depth, llvm::Value* to);
  void Settle(const OnTheWay& elements, llvm::Value* to);

 private:
  struct Slot {
    llvm::Value *line = nullptr, *depth = nullptr;  // in the tile
    llvm::Value* is_line = nullptr;                 // there is one: i1
    std::vector<llvm::Value*> values;               // of source_.lines
    llvm::Value* begin = nullptr;  // as far as the line says where it lies
    // Bit t: whether there is a line, and its window's position t inside of the
    // data; null where each element is asked for.
    llvm::Value* positions = nullptr;
  };
  // What slots of one depth share.
  struct Depth {
    std::vector<llvm::Value*> values;  // of source_.depth
    llvm::Value* is_depth = nullptr;   // there is such a depth: i1
    llvm::Value* offset = nullptr;     // elements, as far as the depth says it
    llvm::Value* position = nullptr;   // a bit, of Slot::positions
  };
  // An element's offset, of terms that lines, the depth, or both decide. Null:
  // there are none.
  struct Offset {
    Expr lines, depth, both;
  };

  int64_t LineCount() const;
  int64_t DepthCount() const;
  int SlotCount() const;
  // Of the depth's variables those that a window's position has, if they are
  // the outermost ones, and how many positions there are; 0: they are too many,
  // or others, and each element is asked for.
  struct Window {
    size_t vars = 0;
    int64_t positions = 0;
  };
  Window FindWindow() const;
  Offset SplitOffset() const;
  llvm::Value* PositionsOf(const Slot& slot);
  Depth DepthAt(llvm::Value* number);
  void Set(const std::vector<ProductVar>& vars,
           const std::vector<llvm::Value*>& values);
  llvm::Value* IsThere(const Slot& slot, const Depth& depth);
  int element_bytes() const { return static_cast<int>(SizeOf(dtype())); }
  llvm::Type* ElementType();
  // Where the element lies in the stage at `stage`; i32.
  llvm::Value* PlaceAt(llvm::Value* stage, llvm::Value* line,
                       llvm::Value* depth);
  // The variables' values for a number, i64.
  std::vector<llvm::Value*> Apart(llvm::Value* number,
                                  const std::vector<ProductVar>& vars);

  DeviceFunction& kernel_;
  ExprEmitter& emitter_;
  const Source source_;
  const Tile tile_;
  const StageLayout stage_;
  const Window window_;
  const Offset offset_;
  std::vector<Slot> slots_;
};

}  // namespace mxc
