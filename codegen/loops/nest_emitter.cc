// SPDX-License-Identifier: Apache-2.0
#include "codegen/loops/nest_emitter.h"

#include <algorithm>
#include <optional>

#include "codegen/llvm/arithmetic.h"
#include "codegen/schedule/cuts.h"
#include "ir/support/division.h"

namespace mxc {
namespace {

using llvm::Value;

// Beyond this a select stays a select instead of a loop for each side.
constexpr int kMostCopies = 160;
// The same for conditions and bounds inside, at the borders of windows.
constexpr int kMostInteriors = 8;

}  // namespace

NestEmitter::NestEmitter(ExprEmitter& emitter, const LoopNest& nest)
    : emitter_(emitter), kernel_(emitter.kernel()), nest_(nest) {
  for (size_t k = 0; k < nest.dims.size(); ++k) {
    known_.push_back({0, nest.dims[k].extent - 1});
    const Expr var = Var(nest.dims[k].var);
    if (static_cast<int>(k) == nest.lane_dim) {
      emitter.DeclareLanes(var, known_.back());
    } else {
      emitter.Declare(var, known_.back());
    }
  }
}

void NestEmitter::Emit(Value* begin, Value* end) {
  auto& builder = kernel_.b();
  const auto share = [&](Value* task, int64_t size) -> Value* {
    if (nest_.tasks == size) return task;
    if (nest_.tasks == 1) return builder.CreateMul(task, kernel_.Int(size));
    return builder.CreateUDiv(builder.CreateMul(task, kernel_.Int(size)),
                              kernel_.Int(nest_.tasks));
  };
  for (const ZeroBorder& border : nest_.borders) {
    EmitBorder(border, share(begin, border.rows()), share(end, border.rows()));
  }
  const int64_t grid = nest_.GridSize();
  const auto all = [&] {
    const ExprEmitter::Scope scope(emitter_);
    if (nest_.one_vector) {
      const int64_t extent =
          nest_.dims[static_cast<size_t>(nest_.lane_dim)].extent;
      emitter_.SetLaneBase(kernel_.Int(0));
      if (extent < nest_.lanes) {
        emitter_.SetTail(
            emitter_.TailMask(kernel_.Int(0), kernel_.Int(extent)));
      }
    }
    emitter_.BeginSweep(nest_.values);
    emitter_.Keep(nest_.kept);
    Hoist(nest_.values);
    kernel_.Loop(share(begin, grid), share(end, grid), 1, [&](Value* point) {
      const ExprEmitter::Scope each(emitter_);
      EmitGrid(point, nest_.values);
    });
    emitter_.SetTail(nullptr);
  };
  kernel_.If(builder.CreateICmpSLT(begin, end), all);
}

// Takes the point apart into the values of the dims that are dealt.
void NestEmitter::EmitGrid(Value* point, const Forms& forms) {
  auto& builder = kernel_.b();
  const auto next = [&](int64_t extent, bool last) -> Value* {
    if (last) return point;
    Value* coordinate = builder.CreateURem(point, kernel_.Int(extent));
    point = builder.CreateUDiv(point, kernel_.Int(extent));
    return coordinate;
  };
  if (nest_.lane_chunk > 0) {
    const auto lane = static_cast<size_t>(nest_.lane_dim);
    chunk_ = next(DivideUp(nest_.dims[lane].extent, nest_.lane_chunk),
                  nest_.grid_dims == 0 && nest_.row_dim < 0);
  }
  for (int k = nest_.grid_dims; k-- > 0;) {
    const LoopDim& dim = nest_.dims[static_cast<size_t>(k)];
    emitter_.SetValue(Var(dim.var),
                      next(dim.extent, k == 0 && nest_.row_dim < 0));
  }
  if (nest_.row_dim >= 0) rows_ = point;
  Hoist(forms);
  EmitGridDim(0, forms);
}

// One branch for each piece that the dealt dim's value may lie in.
void NestEmitter::EmitGridDim(size_t k, const Forms& forms) {
  if (static_cast<int>(k) == nest_.grid_dims) return EmitDim(k, forms);
  const std::vector<Piece> pieces = PiecesOf(k, forms);
  if (pieces.size() == 1) return EmitGridDim(k + 1, forms);
  Value* value = emitter_.EmitForm(Var(nest_.dims[k].var));
  const std::function<void(size_t)> branch = [&](size_t p) {
    const auto emit = [&] {
      Within(k, pieces[p], forms,
             [&](const Forms& inner) { EmitGridDim(k, inner); });
    };
    if (p + 1 == pieces.size()) return emit();
    kernel_.If(kernel_.b().CreateICmpSLT(value, kernel_.Int(pieces[p].to)),
               emit, [&] { branch(p + 1); });
  };
  branch(0);
}

void NestEmitter::EmitDim(size_t k, const Forms& forms) {
  if (k == nest_.dims.size()) return EmitElement(forms);
  if (static_cast<int>(k) == nest_.lane_dim) {
    for (const KeptTerms& kept : nest_.kept) emitter_.EmitForm(kept.reduce);
  }
  if (static_cast<int>(k) == nest_.lane_dim && nest_.one_vector) {
    return EmitDim(k + 1, forms);
  }
  if (static_cast<int>(k) == nest_.lane_dim && chunk_ != nullptr) {
    auto& builder = kernel_.b();
    Value* from = builder.CreateMul(chunk_, kernel_.Int(nest_.lane_chunk));
    Value* full = builder.CreateAdd(from, kernel_.Int(nest_.lane_chunk));
    Value* extent = kernel_.Int(nest_.dims[k].extent);
    Value* to =
        builder.CreateSelect(builder.CreateICmpSLT(full, extent), full, extent);
    return EmitLoop(k, from, to, forms);
  }
  const std::vector<Piece> pieces = PiecesOf(k, forms);
  for (const Piece& piece : pieces) {
    const auto loop = [&](const Forms& inner) {
      Value *from = kernel_.Int(piece.from), *to = kernel_.Int(piece.to);
      if (static_cast<int>(k) == nest_.row_dim) ToRows(from, to);
      EmitLoop(k, from, to, inner);
    };
    if (pieces.size() == 1) {
      loop(forms);
      continue;
    }
    // The simpler form may have another condition on the same variable.
    Within(k, piece, forms, [&](const Forms& inner) { EmitDim(k, inner); });
  }
}

// What lies in the chunk of rows at hand.
void NestEmitter::ToRows(Value*& from, Value*& to) {
  auto& builder = kernel_.b();
  Value* extent =
      kernel_.Int(nest_.dims[static_cast<size_t>(nest_.row_dim)].extent);
  const auto bound = [&](Value* chunk) {
    return builder.CreateUDiv(builder.CreateMul(chunk, extent),
                              kernel_.Int(nest_.row_chunks));
  };
  from =
      builder.CreateBinaryIntrinsic(llvm::Intrinsic::smax, from, bound(rows_));
  Value* end = bound(builder.CreateAdd(rows_, kernel_.Int(1)));
  to = builder.CreateBinaryIntrinsic(llvm::Intrinsic::smin, to, end);
}

void NestEmitter::EmitLoop(size_t k, Value* from, Value* to,
                           const Forms& forms) {
  Hoist(forms);
  if (static_cast<int>(k) == nest_.lane_dim) {
    return EmitLanes(k, from, to, forms);
  }
  kernel_.Loop(from, to, 1, [&](Value* i) {
    const ExprEmitter::Scope scope(emitter_);
    emitter_.SetValue(Var(nest_.dims[k].var), i);
    Hoist(forms);
    EmitDim(k + 1, forms);
  });
  emitter_.ClearValue(Var(nest_.dims[k].var));
}

void NestEmitter::EmitLanes(size_t k, Value* from, Value* to,
                            const Forms& forms) {
  auto& builder = kernel_.b();
  const int64_t lanes = nest_.lanes;
  // Else a loop may begin anywhere.
  const bool whole = chunk_ != nullptr && nest_.lane_chunk % lanes == 0;
  Value* vectors =
      builder.CreateSDiv(builder.CreateSub(to, from), kernel_.Int(lanes));
  Value* main_end =
      builder.CreateAdd(from, builder.CreateMul(vectors, kernel_.Int(lanes)));
  kernel_.Loop(from, main_end, lanes, [&](Value* i) {
    const ExprEmitter::Scope scope(emitter_);
    emitter_.SetLaneBase(i, whole);
    Hoist(forms);
    EmitDim(k + 1, forms);
  });
  const auto masked = [&] {
    const ExprEmitter::Scope scope(emitter_);
    emitter_.SetLaneBase(main_end);
    emitter_.SetTail(emitter_.TailMask(main_end, to));
    Hoist(forms);
    EmitDim(k + 1, forms);
    emitter_.SetTail(nullptr);
  };
  const auto scalar = [&] {
    kernel_.Loop(main_end, to, 1, [&](Value* i) {
      emitter_.EnterScalar(i);
      Hoist(forms);
      EmitDim(k + 1, forms);
      emitter_.LeaveScalar();
    });
  };
  if (lanes > 1 && emitter_.HasMaskedTails(nest_.lanes)) {
    kernel_.If(builder.CreateICmpSLT(main_end, to), masked);
  } else if (lanes > 1) {
    scalar();
  }
  emitter_.SetLaneBase(nullptr);
}

// An output may lie where an input does: all is read before any is written.
void NestEmitter::EmitElement(const Forms& forms) {
  std::vector<Value*> values;
  for (const Expr& form : forms) values.push_back(emitter_.EmitForm(form));
  for (size_t i = 0; i < forms.size(); ++i) {
    emitter_.StoreAt(nest_.outputs[i], nest_.Offset(), values[i],
                     forms[i]->dtype);
  }
}

void NestEmitter::Hoist(const Forms& forms) {
  for (const Expr& form : forms) emitter_.Hoist(form);
}

std::vector<NestEmitter::Piece> NestEmitter::PiecesOf(size_t k,
                                                      const Forms& forms) {
  const int64_t low = known_[k].low, high = known_[k].high + 1;
  const int var = nest_.dims[k].var;
  std::vector<int64_t> cuts;
  for (const Expr& form : forms) {
    if (!cuts.empty() || form->kind != ExprKind::kSelect) continue;
    if (copies_ >= kMostCopies) continue;
    cuts = CutsOfCondition(form->args[0], var, emitter_.ranges());
  }
  for (const Expr& form : forms) {
    if (!cuts.empty() || copies_ >= kMostInteriors) break;
    cuts = InteriorCuts(form, var, emitter_.ranges());
  }
  std::vector<Piece> pieces;
  int64_t from = low;
  for (const int64_t cut : cuts) {
    if (cut <= from || cut >= high) continue;
    pieces.push_back({from, cut});
    from = cut;
  }
  pieces.push_back({from, high});
  copies_ += static_cast<int>(pieces.size()) - 1;
  return pieces;
}

void NestEmitter::Within(size_t k, const Piece& piece, const Forms& forms,
                         const Body& body) {
  const Interval outer = known_[k];
  const Expr var = Var(nest_.dims[k].var);
  known_[k] = {piece.from, piece.to - 1};
  emitter_.Narrow(var, known_[k]);
  Forms simpler;
  for (const Expr& form : forms) {
    simpler.push_back(Resimplify(
        form, [](int) { return Expr(); }, emitter_.ranges(),
        emitter_.lane_var()));
  }
  emitter_.BeginSweep(simpler);
  {
    const ExprEmitter::Scope scope(emitter_);
    body(simpler);
  }
  emitter_.BeginSweep(forms);
  known_[k] = outer;
  emitter_.Narrow(var, outer);
}

void NestEmitter::EmitBorder(const ZeroBorder& border, Value* begin,
                             Value* end) {
  auto& builder = kernel_.b();
  kernel_.Loop(begin, end, 1, [&](Value* row) {
    Value* start = kernel_.Int(0);
    for (size_t i = border.around.size(); i-- > 0;) {
      const auto& [extent, stride] = border.around[i];
      Value* at = row;
      if (i > 0) {
        at = builder.CreateURem(row, kernel_.Int(extent));
        row = builder.CreateUDiv(row, kernel_.Int(extent));
      }
      start =
          builder.CreateAdd(start, builder.CreateMul(at, kernel_.Int(stride)));
    }
    Value* last = builder.CreateAdd(start, kernel_.Int(border.high_from));
    for (const int output : nest_.outputs) {
      EmitZeros(output, start, border.low);
      EmitZeros(output, last, border.high);
    }
  });
}

// Bytes of zero, whatever the type, in vectors and then one by one.
void NestEmitter::EmitZeros(int output, Value* from, int64_t count) {
  auto& builder = kernel_.b();
  const EmitOperand& operand = emitter_.operand(output);
  const int64_t element = SizeOf(operand.dtype);
  const int64_t bytes = count * element;
  Value* base = kernel_.ElementAddress(operand.base, from, element);
  const auto store = [&](Value* at, int64_t width) {
    llvm::Type* type =
        kernel_.VectorOf(builder.getInt8Ty(), static_cast<int>(width));
    builder.CreateAlignedStore(
        llvm::Constant::getNullValue(type),
        builder.CreateInBoundsGEP(builder.getInt8Ty(), base, at),
        llvm::Align(static_cast<uint64_t>(element)));
  };
  int64_t done = 0;
  for (int64_t width = kernel_.target().machine.vector_bytes; width > 0;
       width /= 2) {
    const int64_t end = done + (bytes - done) / width * width;
    kernel_.Loop(kernel_.Int(done), kernel_.Int(end), width,
                 [&](Value* at) { store(at, width); });
    done = end;
  }
}

}  // namespace mxc
