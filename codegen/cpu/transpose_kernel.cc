// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/transpose_kernel.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "codegen/cpu/cpu_machine.h"
#include "codegen/llvm/kernel_function.h"
#include "codegen/schedule/affine.h"
#include "ir/program/steps/map.h"

namespace mxc {
namespace {

constexpr int kMostTile = 8;
// Elements of a run whose places in the output are no progression: so many are
// written out.
constexpr int64_t kMostUnrolled = 512;
// So many pieces of a line make a run long.
constexpr int64_t kLeastPieces = 4;

// A part of an axis, as the output has it, with strides in elements. Its index
// grows the logical index of `axis` by `scale`.
struct CopyDim {
  int axis = 0;
  int64_t extent = 1, from = 0, to = 0, scale = 1;
};

// for outer: for lane tile: for run: transposed tiles. `run` are dims that
// together are contiguous in the source, innermost last.
struct TransposePlan {
  DType dtype = DType::kF32;
  int tile = kMostTile;
  std::vector<CopyDim> outer, run;
  CopyDim lanes;
  Shape shape;
  int64_t from_base = 0, to_base = 0, output_elements = 0;
  // Axes whose parts reach beyond them.
  std::vector<int> ragged;

  bool IsRagged(int axis) const {
    return std::ranges::find(ragged, axis) != ragged.end();
  }

  int64_t run_elements() const {
    int64_t product = 1;
    for (const CopyDim& dim : run) product *= dim.extent;
    return product;
  }
  int64_t tasks() const { return outer.empty() ? 1 : outer[0].extent; }
};

// How far a copy goes in the source along an axis of the output: of index i,
// i / cut · quotient + i % cut · remainder. Images and heads that are one axis
// of the output are cut so.
struct SourceAxis {
  int64_t cut = 1;  // 1: only quotients
  int64_t quotient = 0, remainder = 0;
};

// Where a copy finds the element of an index, in elements.
struct Source {
  int64_t base = 0;
  std::vector<SourceAxis> axes;  // of the output
};

// Returns whether the term is of an axis, whole or cut evenly, as others of it.
bool AddTerm(const Affine::Term& term, const Extents& extent, Source& source) {
  const Expr& atom = term.atom;
  const int64_t divisor = ConstantOperand(atom, BinaryOp::kDiv);
  const int64_t modulus = ConstantOperand(atom, BinaryOp::kMod);
  const int64_t cut = std::max(divisor, modulus);
  const Expr& index = cut > 0 ? atom->args[0] : atom;
  if (index->kind != ExprKind::kVar) return false;
  const auto number = static_cast<size_t>(index->index);
  SourceAxis& axis = source.axes[number];
  if (cut > 1) {
    if (extent[number] % cut != 0) return false;
    if (axis.cut == 1) axis = {cut, axis.quotient * cut, axis.quotient};
    if (axis.cut != cut) return false;
    (divisor > 0 ? axis.quotient : axis.remainder) += term.coefficient;
  } else {
    axis.quotient += axis.cut * term.coefficient;
    if (axis.cut > 1) axis.remainder += term.coefficient;
  }
  return true;
}

// Nothing where the step does not copy elements that lie so.
std::optional<Source> SourceOf(const Program& program, const Step& step) {
  const Map* map = step.map();
  if (map == nullptr || step.inputs.size() != 1 || step.outputs.size() != 1 ||
      map->stores.size() != 1) {
    return std::nullopt;
  }
  const Buffer& from = program.buffers[static_cast<size_t>(step.inputs[0])];
  const Buffer& to = program.buffers[static_cast<size_t>(step.outputs[0])];
  const Store& store = map->stores[0];
  if (from.type.dtype != to.type.dtype || to.layout.has_halo() ||
      to.layout.basis != KernelBasis::kPlain ||
      from.layout.basis != KernelBasis::kPlain ||
      store.value->kind != ExprKind::kLoad ||
      store.extent != to.type.shape.dims()) {
    return std::nullopt;
  }
  const auto range = [&](int var) -> std::optional<Interval> {
    return Interval{0, store.extent[static_cast<size_t>(var)] - 1};
  };
  const Affine offset = OffsetOf(from.layout, store.value->args, range);
  Source source = {offset.constant,
                   std::vector<SourceAxis>(store.extent.size())};
  for (const Affine::Term& term : offset.terms) {
    if (!AddTerm(term, store.extent, source)) return std::nullopt;
  }
  for (size_t i = 0; i < store.extent.size(); ++i) {
    const SourceAxis& axis = source.axes[i];
    const bool is_cut = axis.cut > 1;
    if (is_cut && to.layout.block(static_cast<int>(i)) > 1) return std::nullopt;
    if (is_cut && axis.remainder == 0) return std::nullopt;
    if (store.extent[i] > axis.cut && axis.quotient == 0) return std::nullopt;
  }
  return source;
}

std::vector<CopyDim> DimsOf(const Source& source, const Layout& to) {
  const Extents to_strides = to.strides();
  std::vector<CopyDim> dims;  // innermost first
  Extents scale(source.axes.size(), 1);
  for (size_t i = to.dims.size(); i-- > 0;) {
    const int axis = to.dims[i].axis;
    int64_t extent = to.dims[i].extent, stride = to_strides[i];
    const auto& [cut, quotient, remainder] =
        source.axes[static_cast<size_t>(axis)];
    int64_t& scaled = scale[static_cast<size_t>(axis)];
    const int64_t from = scaled * quotient;
    if (cut > 1) {
      dims.push_back({axis, cut, remainder, stride, 1});
      scaled = cut;
      extent /= cut;
      stride *= cut;
    }
    dims.push_back({axis, extent, from, stride, scaled});
    scaled *= extent;
  }
  return {dims.rbegin(), dims.rend()};
}

// Lets dims that go through the source backwards, as flipped filters do, go
// through the output backwards instead. Returns whether it could.
bool TurnForwards(std::vector<CopyDim>& dims, TransposePlan& plan) {
  for (CopyDim& dim : dims) {
    if (dim.from >= 0) continue;
    if (plan.IsRagged(dim.axis)) return false;
    plan.from_base += dim.from * (dim.extent - 1);
    plan.to_base += dim.to * (dim.extent - 1);
    dim.from = -dim.from;
    dim.to = -dim.to;
  }
  return true;
}

// Takes the dims that continue a run of the source from `dims`. A part of a
// ragged axis ends it.
void TakeRun(std::vector<CopyDim>& dims, TransposePlan& plan) {
  while (plan.run.empty() || !plan.IsRagged(plan.run.front().axis)) {
    const int64_t elements = plan.run_elements();
    const auto next = std::ranges::find_if(dims, [&](const CopyDim& dim) {
      return dim.extent > 1 && dim.from == elements &&
             (dim.scale == 1 || !plan.IsRagged(dim.axis)) &&
             (plan.run.empty() || elements * dim.extent <= kMostUnrolled);
    });
    if (next == dims.end()) return;
    plan.run.insert(plan.run.begin(), *next);
    dims.erase(next);
  }
}

// Returns whether what ragged axes leave out is whole tiles, ends of lanes, or
// the end of the run, and every task's part of the output lies in one piece.
bool CutsEvenly(const TransposePlan& plan) {
  if (plan.ragged.empty()) return true;
  for (size_t i = 0; i < plan.run.size(); ++i) {
    const CopyDim& dim = plan.run[i];
    if (dim.axis == plan.lanes.axis) return false;
    if (plan.IsRagged(dim.axis) && (i > 0 || dim.scale != 1)) return false;
  }
  return plan.outer.empty() ||
         plan.outer[0].to * plan.outer[0].extent == plan.output_elements;
}

// A long run in pieces of a cache line, the loop over which becomes the
// innermost outer one: a line of the source is read at once, and lines of the
// output are filled while the first cache has them. Half as long are pieces
// whose lines share a set of it.
void CutRun(const CpuMachine& machine, TransposePlan& plan) {
  if (plan.run.size() != 1 || !plan.ragged.empty()) return;
  CopyDim& run = plan.run[0];
  const int64_t element = SizeOf(plan.dtype);
  const bool one_set = run.to * element % machine.l1_way_bytes == 0;
  const int64_t piece =
      std::max<int64_t>(plan.tile, kLineBytes / element / (one_set ? 2 : 1));
  if (run.extent % piece != 0 || run.extent < kLeastPieces * piece) return;
  CopyDim pieces = run;
  pieces.extent = run.extent / piece;
  pieces.from *= piece;
  pieces.to *= piece;
  pieces.scale *= piece;
  run.extent = piece;
  plan.outer.push_back(pieces);
}

std::optional<TransposePlan> MakePlan(const Program& program, const Step& step,
                                      const Target& target) {
  const std::optional<Source> source = SourceOf(program, step);
  if (!source) return std::nullopt;
  const Buffer& to = program.buffers[static_cast<size_t>(step.outputs[0])];
  std::vector<CopyDim> dims = DimsOf(*source, to.layout);
  TransposePlan plan;
  plan.dtype = to.type.dtype;
  plan.tile = std::min({kMostTile, target.machine.lanes(plan.dtype),
                        CpuMachineOf(target).exchanged_bytes /
                            static_cast<int>(SizeOf(plan.dtype))});
  plan.shape = to.type.shape;
  plan.from_base = source->base;
  plan.output_elements = to.layout.elements();
  if (dims.empty()) return std::nullopt;
  Extents covered(plan.shape.dims().size(), 1);
  for (const CopyDim& dim : dims) {
    covered[static_cast<size_t>(dim.axis)] *= dim.extent;
  }
  for (int axis = 0; axis < plan.shape.rank(); ++axis) {
    if (covered[static_cast<size_t>(axis)] != plan.shape[axis]) {
      plan.ragged.push_back(axis);
    }
  }
  plan.lanes = dims.back();
  dims.pop_back();
  if (plan.lanes.from <= 1 || plan.lanes.extent % plan.tile != 0) {
    return std::nullopt;
  }
  if (!TurnForwards(dims, plan)) return std::nullopt;
  TakeRun(dims, plan);
  if (plan.run_elements() < plan.tile) return std::nullopt;
  for (const CopyDim& dim : dims) {
    if (dim.extent > 1) plan.outer.push_back(dim);
  }
  CutRun(CpuMachineOf(target), plan);
  return CutsEvenly(plan) ? std::optional(plan) : std::nullopt;
}

class TransposeEmitter {
 public:
  TransposeEmitter(KernelFunction& kernel, const TransposePlan& plan)
      : kernel_(kernel),
        b_(kernel.b()),
        plan_(plan),
        element_(kernel.MemoryType(plan.dtype)),
        type_(kernel.VectorOf(element_, plan.tile)),
        bytes_(SizeOf(plan.dtype)) {}

  void Emit() {
    kernel_.Loop(kernel_.begin(), kernel_.end(), 1, [&](llvm::Value* task) {
      Place place;
      place.from = At(kernel_.operand(0), plan_.from_base);
      place.to = At(kernel_.operand(1), plan_.to_base);
      place.index.assign(static_cast<size_t>(plan_.shape.rank()), nullptr);
      if (!plan_.ragged.empty()) ZeroTask(task);
      if (plan_.outer.empty()) return EmitLanes(place);
      EmitOuter(Enter(place, plan_.outer[0], task), 1);
    });
  }

 private:
  using Values = std::vector<llvm::Value*>;

  struct Place {
    llvm::Value *from, *to;
    Values index;  // of each axis so far; null: 0
  };

  llvm::Value* At(llvm::Value* base, int64_t offset) {
    return kernel_.ElementAddress(base, kernel_.Int(offset), bytes_);
  }
  llvm::Value* Advance(llvm::Value* base, llvm::Value* i, int64_t stride) {
    return kernel_.ElementAddress(base, b_.CreateNSWMul(i, kernel_.Int(stride)),
                                  bytes_);
  }

  Place Enter(const Place& place, const CopyDim& dim, llvm::Value* i) {
    Place at = place;
    at.from = Advance(place.from, i, dim.from);
    at.to = Advance(place.to, i, dim.to);
    llvm::Value*& index = at.index[static_cast<size_t>(dim.axis)];
    llvm::Value* grown = b_.CreateNSWMul(i, kernel_.Int(dim.scale));
    index = index == nullptr ? grown : b_.CreateNSWAdd(index, grown);
    return at;
  }

  // What lies beyond the axes stays zero.
  void ZeroTask(llvm::Value* task) {
    const int64_t elements = plan_.output_elements / plan_.tasks();
    llvm::Value* base = Advance(kernel_.operand(1), task, elements);
    const int64_t whole = elements / plan_.tile * plan_.tile;
    kernel_.Loop(
        kernel_.Int(0), kernel_.Int(whole), plan_.tile, [&](llvm::Value* i) {
          b_.CreateAlignedStore(llvm::Constant::getNullValue(type_),
                                Advance(base, i, 1), llvm::Align(bytes_));
        });
  }

  void EmitOuter(const Place& place, size_t dim) {
    if (dim == plan_.outer.size()) return EmitLanes(place);
    kernel_.Loop(kernel_.Int(0), kernel_.Int(plan_.outer[dim].extent), 1,
                 [&](llvm::Value* i) {
                   EmitOuter(Enter(place, plan_.outer[dim], i), dim + 1);
                 });
  }

  // How many of the next positions of an axis exist, at most `most`; an i64.
  llvm::Value* Left(const Place& place, int axis, int64_t most) {
    llvm::Value* index = place.index[static_cast<size_t>(axis)];
    if (index == nullptr) index = kernel_.Int(0);
    llvm::Value* left = b_.CreateSub(kernel_.Int(plan_.shape[axis]), index);
    left =
        b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, left, kernel_.Int(0));
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, left,
                                    kernel_.Int(most));
  }

  void EmitLanes(const Place& place) {
    CopyDim tiles = plan_.lanes;
    tiles.from *= plan_.tile;
    tiles.to *= plan_.tile;
    tiles.scale *= plan_.tile;
    kernel_.Loop(kernel_.Int(0), kernel_.Int(plan_.lanes.extent / plan_.tile),
                 1, [&](llvm::Value* i) {
                   const Place at = Enter(place, tiles, i);
                   if (plan_.ragged.empty()) return EmitRun(at);
                   llvm::Value* lanes = Left(at, plan_.lanes.axis, plan_.tile);
                   llvm::Value* run = RunLength(at);
                   llvm::Value* whole = b_.CreateAnd(
                       b_.CreateICmpEQ(lanes, kernel_.Int(plan_.tile)),
                       b_.CreateICmpEQ(run, kernel_.Int(plan_.run_elements())));
                   kernel_.If(
                       whole, [&] { EmitRun(at); },
                       [&] { EmitElements(at, lanes, run); });
                 });
  }

  // Elements of the run that exist: its outermost part may end early, and the
  // whole may lie beyond an axis of the loops around.
  llvm::Value* RunLength(const Place& place) {
    const CopyDim& last = plan_.run.front();
    llvm::Value* length = kernel_.Int(plan_.run_elements());
    if (plan_.IsRagged(last.axis)) length = LengthOf(place, last);
    for (const int axis : plan_.ragged) {
      if (axis == last.axis || axis == plan_.lanes.axis) continue;
      llvm::Value* exists = Left(place, axis, 1);
      length = b_.CreateNSWMul(length, exists);
    }
    return length;
  }

  llvm::Value* LengthOf(const Place& place, const CopyDim& last) {
    const int64_t rest = plan_.run_elements() / last.extent;
    return b_.CreateNSWMul(Left(place, last.axis, last.extent),
                           kernel_.Int(rest));
  }

  // Where element f of the run goes, for a constant f.
  int64_t OffsetOf(int64_t f) const {
    int64_t offset = 0;
    for (size_t i = plan_.run.size(); i-- > 0;) {
      offset += f % plan_.run[i].extent * plan_.run[i].to;
      f /= plan_.run[i].extent;
    }
    return offset;
  }

  void EmitRun(const Place& place) {
    const int64_t n = plan_.run_elements(), tile = plan_.tile;
    if (plan_.run.size() > 1) {
      for (int64_t f = 0; f < n; f += tile) {
        EmitTile(place, std::min(f, n - tile));
      }
      return;
    }
    const CopyDim& run = plan_.run[0];
    const auto tile_at = [&](llvm::Value* f) {
      Place at = place;
      at.from = Advance(place.from, f, 1);
      at.to = Advance(place.to, f, run.to);
      EmitTile(at, 0);
    };
    kernel_.Loop(kernel_.Int(0), kernel_.Int(n / tile * tile), tile, tile_at);
    if (n % tile != 0) tile_at(kernel_.Int(n - tile));
  }

  void EmitTile(const Place& place, int64_t f) {
    Values rows;
    for (int64_t lane = 0; lane < plan_.tile; ++lane) {
      rows.push_back(b_.CreateAlignedLoad(
          type_, At(place.from, f + lane * plan_.lanes.from),
          llvm::Align(bytes_)));
    }
    Transpose(rows);
    for (int64_t i = 0; i < plan_.tile; ++i) {
      b_.CreateAlignedStore(rows[static_cast<size_t>(i)],
                            At(place.to, OffsetOf(f + i)), llvm::Align(bytes_));
    }
  }

  // Exchanges blocks of 4, 2 and 1 beside the diagonal.
  void Transpose(Values& rows) {
    const int n = plan_.tile;
    for (int k = n / 2; k >= 1; k /= 2) {
      std::vector<int> low, high;
      for (int lane = 0; lane < n; ++lane) {
        const bool first = (lane & k) == 0;
        low.push_back(first ? lane : n + lane - k);
        high.push_back(first ? lane + k : n + lane);
      }
      for (int i = 0; i < n; ++i) {
        if ((i & k) != 0) continue;
        llvm::Value* a = rows[static_cast<size_t>(i)];
        llvm::Value* b = rows[static_cast<size_t>(i + k)];
        rows[static_cast<size_t>(i)] = b_.CreateShuffleVector(a, b, low);
        rows[static_cast<size_t>(i + k)] = b_.CreateShuffleVector(a, b, high);
      }
    }
  }

  // The edges, one by one.
  void EmitElements(const Place& place, llvm::Value* lanes, llvm::Value* run) {
    kernel_.Loop(kernel_.Int(0), lanes, 1, [&](llvm::Value* lane) {
      llvm::Value* from = Advance(place.from, lane, plan_.lanes.from);
      llvm::Value* to = Advance(place.to, lane, 1);
      kernel_.Loop(kernel_.Int(0), run, 1, [&](llvm::Value* f) {
        llvm::Value* rest = f;
        llvm::Value* target = to;
        for (size_t i = plan_.run.size(); i-- > 0;) {
          llvm::Value* extent = kernel_.Int(plan_.run[i].extent);
          target =
              Advance(target, b_.CreateURem(rest, extent), plan_.run[i].to);
          rest = b_.CreateUDiv(rest, extent);
        }
        llvm::Value* value = b_.CreateAlignedLoad(element_, Advance(from, f, 1),
                                                  llvm::Align(bytes_));
        b_.CreateAlignedStore(value, target, llvm::Align(bytes_));
      });
    });
  }

  KernelFunction& kernel_;
  KernelFunction::Builder& b_;
  const TransposePlan& plan_;
  llvm::Type *const element_, *const type_;  // a tile's row
  const int64_t bytes_;                      // of an element
};

}  // namespace

std::optional<FunctionPlan> PlanTranspose(const Program& program,
                                          const Step& step,
                                          const Target& target) {
  auto plan = MakePlan(program, step, target);
  if (!plan) return std::nullopt;
  auto shared = std::make_shared<const TransposePlan>(std::move(*plan));
  FunctionPlan result;
  result.tasks = shared->tasks();
  result.emit = [shared](KernelFunction& kernel) {
    TransposeEmitter(kernel, *shared).Emit();
  };
  return result;
}

}  // namespace mxc
