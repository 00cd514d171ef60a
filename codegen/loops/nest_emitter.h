// SPDX-License-Identifier: Apache-2.0
// A LoopNest as LLVM IR.
#pragma once

#include <functional>
#include <vector>

#include "codegen/llvm/expr_emitter.h"
#include "codegen/schedule/loop_nest.h"

namespace mxc {

class NestEmitter {
 public:
  NestEmitter(ExprEmitter& emitter, const LoopNest& nest);

  // Computes the nest's tasks begin ≤ t < end (i64 values).
  void Emit(llvm::Value* begin, llvm::Value* end);

 private:
  // A part of a loop in which the form is simpler.
  struct Piece {
    int64_t from, to;
  };
  // The outputs' elements, as they are known in the loops entered so far.
  using Forms = std::vector<Expr>;
  using Body = std::function<void(const Forms& forms)>;

  void EmitGrid(llvm::Value* point, const Forms& forms);
  void EmitGridDim(size_t k, const Forms& forms);
  void EmitDim(size_t k, const Forms& forms);
  void ToRows(llvm::Value*& from, llvm::Value*& to);
  void EmitLoop(size_t k, llvm::Value* from, llvm::Value* to,
                const Forms& forms);
  void EmitLanes(size_t k, llvm::Value* from, llvm::Value* to,
                 const Forms& forms);
  void EmitElement(const Forms& forms);
  void EmitBorder(const ZeroBorder& border, llvm::Value* begin,
                  llvm::Value* end);
  void EmitZeros(int output, llvm::Value* from, int64_t count);
  void Hoist(const Forms& forms);

  std::vector<Piece> PiecesOf(size_t k, const Forms& forms);
  // Emits `body` with the form as it is for from ≤ var < to.
  void Within(size_t k, const Piece& piece, const Forms& forms,
              const Body& body);

  ExprEmitter& emitter_;
  KernelFunction& kernel_;
  const LoopNest& nest_;
  std::vector<Interval> known_;   // of each dim, at present
  llvm::Value* chunk_ = nullptr;  // number of the lane dim's chunk
  llvm::Value* rows_ = nullptr;   // number of the row dim's chunk
  int copies_ = 1;                // of the innermost body so far
};

}  // namespace mxc
