// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/transpose_kernel.h"

#include <functional>
#include <utility>
#include <vector>

#include "codegen/cuda/thread_kernel.h"
#include "codegen/cuda/transposed_tile.h"
#include "codegen/llvm/arithmetic.h"
#include "ir/support/division.h"

namespace mxc {
namespace {

using llvm::Value;

// What staged elements are written as.
constexpr int64_t kWordBytes = 4;

class TransposeKernelEmitter {
 public:
  TransposeKernelEmitter(DeviceFunction& kernel, const TransposedTile& tile)
      : kernel_(kernel),
        tile_(tile),
        emitter_(kernel, OperandsOf(kernel, *tile.map), tile.lanes) {}

  void Run() {
    kernel_.SetBlock(tile_.threads());
    BindBlock();
    EachVector(tile_.lane(), first_column_, tile_.columns, tile_.read(),
               first_row_, tile_.rows,
               [&](Value* column, Value* row) { Stage(column, row); });
    kernel_.Barrier();
    EachVector(tile_.read(), first_row_, tile_.rows, tile_.lane(),
               first_column_, tile_.columns,
               [&](Value* row, Value* column) { Write(row, column); });
  }

 private:
  llvm::IRBuilder<>& b() { return kernel_.b(); }

  // Which tile the block has.
  void BindBlock() {
    Value* number = kernel_.Block();
    const auto first = [&](const LoopDim& dim, int64_t size) {
      Value* tile = kernel_.Next(number, DivideUp(dim.extent, size));
      return b().CreateMul(tile, kernel_.Word(size));
    };
    first_column_ = first(tile_.lane(), tile_.columns);
    first_row_ = first(tile_.read(), tile_.rows);
    const LoopNest& nest = tile_.nest();
    for (size_t k = nest.dims.size(); k-- > 0;) {
      const Expr var = Var(nest.dims[k].var);
      emitter_.Declare(var, {0, nest.dims[k].extent - 1});
      if (static_cast<int>(k) == nest.lane_dim) continue;
      if (static_cast<int>(k) == tile_.across) continue;
      emitter_.SetValue(
          var, kernel_.Wide(kernel_.Next(number, nest.dims[k].extent)));
    }
  }

  // The thread's vectors along `inner`: `body` gets where they lie in the tile,
  // along both.
  void EachVector(const LoopDim& outer, Value* first_outer, int64_t outers,
                  const LoopDim& inner, Value* first_inner, int64_t inners,
                  const std::function<void(Value*, Value*)>& body) {
    const int64_t vectors = inners / tile_.lanes;
    for (int64_t from = 0; from < outers * vectors; from += tile_.threads()) {
      const ExprEmitter::Scope scope(emitter_);
      Value* number = b().CreateAdd(kernel_.Thread(), kernel_.Word(from));
      Value* in = b().CreateMul(b().CreateURem(number, kernel_.Word(vectors)),
                                kernel_.Word(tile_.lanes));
      Value* out = b().CreateUDiv(number, kernel_.Word(vectors));
      Value* at = b().CreateAdd(first_outer, out);
      Value* base = b().CreateAdd(first_inner, in);
      const auto bound = [&] {
        const ExprEmitter::Scope bounded(emitter_);
        emitter_.Declare(Var(outer.var), {0, outer.extent - 1});
        emitter_.SetValue(Var(outer.var), kernel_.Wide(at));
        BindVector(inner, kernel_.Wide(base));
        body(out, in);
        emitter_.ClearValue(Var(outer.var));
      };
      Value* inside = b().getTrue();
      const auto check = [&](const LoopDim& dim, int64_t size, Value* value) {
        if (dim.extent % size == 0) return;
        inside = b().CreateAnd(
            inside, b().CreateICmpULT(value, kernel_.Word(dim.extent)));
      };
      check(outer, outers, at);
      check(inner, inners, base);
      if ((outers * vectors) % tile_.threads() != 0) {
        inside =
            b().CreateAnd(inside, b().CreateICmpULT(out, kernel_.Word(outers)));
      }
      kernel_.If(inside, bound);
    }
  }

  void BindVector(const LoopDim& dim, Value* base) {
    const Interval range = {0, dim.extent - 1};
    if (tile_.lanes > 1) {
      emitter_.DeclareLanes(Var(dim.var), range);
      emitter_.SetLaneBase(base, /*whole_vectors=*/true);
    } else {
      emitter_.Declare(Var(dim.var), range);
      emitter_.SetValue(Var(dim.var), base);
    }
  }

  // Words, since rows are aligned to those.
  void Stage(Value* column, Value* row) {
    for (const StagedLoad& staged : tile_.loads) {
      Value* elements = emitter_.ReadElements(staged.load);
      const int64_t bytes = staged.element_bytes() * tile_.lanes;
      if (staged.element_bytes() < kWordBytes && bytes % kWordBytes == 0) {
        elements = b().CreateBitCast(
            elements, kernel_.VectorOf(b().getInt32Ty(),
                                       static_cast<int>(bytes / kWordBytes)));
      }
      Value* to = SharedAt(staged, column, row);
      if (!IsVector(elements)) {
        StoreAt(elements, to, 0);
        continue;
      }
      auto* type = llvm::cast<llvm::FixedVectorType>(elements->getType());
      for (uint64_t i = 0; i < type->getNumElements(); ++i) {
        StoreAt(b().CreateExtractElement(elements, i), to, i);
      }
    }
  }

  void StoreAt(Value* element, Value* to, uint64_t i) {
    llvm::Type* type = element->getType();
    const llvm::Align align(type->getPrimitiveSizeInBits() / 8);
    b().CreateAlignedStore(element, b().CreateConstInBoundsGEP1_64(type, to, i),
                           align);
  }

  void Write(Value* row, Value* column) {
    for (const StagedLoad& staged : tile_.loads) {
      llvm::Type* type = kernel_.MemoryType(staged.dtype);
      const auto element = [&](int lane) {
        Value* at = b().CreateAdd(column, kernel_.Word(lane));
        return b().CreateAlignedLoad(
            type, SharedAt(staged, at, row),
            llvm::Align(static_cast<uint64_t>(staged.element_bytes())));
      };
      Value* elements = element(0);
      if (tile_.lanes > 1) {
        Value* vector =
            llvm::PoisonValue::get(kernel_.VectorOf(type, tile_.lanes));
        for (int lane = 0; lane < tile_.lanes; ++lane) {
          Value* one = lane == 0 ? elements : element(lane);
          vector =
              b().CreateInsertElement(vector, one, static_cast<uint64_t>(lane));
        }
        elements = vector;
      }
      emitter_.Know(staged.load, emitter_.ValueOf(staged.load, elements));
    }
    const LoopNest& nest = tile_.nest();
    // An output may lie where an input does: all is read before any is written.
    std::vector<Value*> values;
    for (const Expr& value : nest.values) {
      values.push_back(emitter_.EmitForm(value));
    }
    for (size_t i = 0; i < values.size(); ++i) {
      emitter_.StoreAt(nest.outputs[i], nest.Offset(), values[i],
                       nest.values[i]->dtype);
    }
  }

  // Rows of the tile are those of what is read.
  Value* SharedAt(const StagedLoad& staged, Value* column, Value* row) {
    Value* at =
        b().CreateAdd(b().CreateMul(column, kernel_.Word(tile_.pitch(staged))),
                      b().CreateMul(row, kernel_.Word(staged.element_bytes())));
    Value* begin = b().CreateConstInBoundsGEP1_64(
        b().getInt8Ty(), kernel_.Shared(), static_cast<uint64_t>(staged.begin));
    return b().CreateInBoundsGEP(b().getInt8Ty(), begin, at);
  }

  DeviceFunction& kernel_;
  const TransposedTile& tile_;
  ExprEmitter emitter_;
  Value *first_column_ = nullptr, *first_row_ = nullptr;  // i32
};

}  // namespace

std::optional<DevicePlan> PlanTransposedReads(
    std::shared_ptr<const MapNests> map, const std::string& alignments) {
  auto found = TransposedTileOf(std::move(map));
  if (!found) return std::nullopt;
  DevicePlan plan;
  plan.tasks = found->blocks;
  plan.launch = LaunchOf(plan.tasks, found->threads(), found->shared_bytes);
  plan.emit = [alignments, tile = std::move(*found)](DeviceFunction& kernel) {
    AlignOperands(kernel, alignments);
    TransposeKernelEmitter(kernel, tile).Run();
  };
  return plan;
}

}  // namespace mxc
