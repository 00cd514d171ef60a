// SPDX-License-Identifier: Apache-2.0
// place-parts: what is concatenated is written where the whole lies, what is
// sliced is read there.
//
//   a = conv(x)                       a lies in c from its first byte on
//   b = maxpool(x)                    b lies in c where a ends
//   c[·, 0…16] = a, [·, 16…32] = b    nothing to do
//   d = c[·, 8…24]                    d lies in c: nothing to do
//
// A part is a window of the whole (ir/program/layout.h): the cut is at whole
// blocks, and the borders agree (assign-layouts sees to it where nothing else
// keeps them apart). What lies in the part, such as the parts of a
// concatenation that is concatenated again, becomes a window of the whole, too.
// A store that computes its box, such as pooling that was fused into a
// concatenation, becomes a step that writes that part. A step is left as it was
// unless nothing remains of it, or where more bytes would be alive at once: the
// whole lives from its first part on.
//
// Runs when all other aliases are settled: what is written over, and when, is
// known.
#include <algorithm>
#include <utility>

#include "ir/program/in_place.h"
#include "passes/interval_placement.h"
#include "passes/passes.h"
#include "passes/step_operands.h"

namespace mxc {
namespace {

// Shorter runs of bytes are not worth a step between them.
constexpr int64_t kLeastRun = 64;

// Of the bytes of a window that lie in one piece.
int64_t RunOf(const Layout& layout, DType dtype) {
  size_t dim = layout.dims.size();
  while (dim > 0 && !layout.has_gaps(dim - 1)) --dim;
  if (dim == 0) return layout.elements() * SizeOf(dtype);
  return layout.dims[dim - 1].extent * layout.strides()[dim - 1] *
         SizeOf(dtype);
}

// The layout of a part of `whole` as a window of it; nothing if it cannot be
// one.
std::optional<Layout> LayoutOfPart(const Buffer& whole, const Extents& begin,
                                   const Extents& extent) {
  if (whole.layout.basis != KernelBasis::kPlain) return std::nullopt;
  const auto window = whole.layout.Window(whole.type.shape, begin, extent);
  const bool pieces = window && window->has_gaps() &&
                      RunOf(*window, whole.type.dtype) < kLeastRun;
  return pieces ? std::nullopt : window;
}

class PartPlacement {
 public:
  explicit PartPlacement(Program& program) : program_(program) {}

  bool Run() {
    bool changed = false;
    for (size_t s = 0; s < program_.steps.size(); ++s) {
      if (!MayVanish(program_.steps[s])) continue;
      kept_.clear();
      added_ = 0;
      const Step step = program_.steps[s];
      const int64_t bytes = LiveBytes();
      SplitComputed(s);
      if (PlaceAll(s + added_) && LiveBytes() <= bytes && SweepsStayApart()) {
        changed = true;
        s += added_;
      } else {
        Undo(s, step);
      }
    }
    return changed;
  }

 private:
  // Some store copies a box, and boxes that are computed can be parts.
  bool MayVanish(const Step& step) const {
    if (step.map() == nullptr || step.view) return false;
    if (IsInPlace(program_, step)) return false;
    bool copies = false;
    for (const Store& store : step.map()->stores) {
      if (MatchBoxCopy(store)) {
        copies = true;
      } else if (!LayoutOfPart(program_.buffers[step.outputs[store.output]],
                               store.begin, store.extent)) {
        return false;
      }
    }
    return copies;
  }

  // Every store of step `s` that computes its box becomes a step before it,
  // whose result it copies.
  void SplitComputed(size_t s) {
    const size_t stores = program_.steps[s].map()->stores.size();
    for (size_t k = 0; k < stores; ++k) {
      if (MatchBoxCopy(program_.steps[s + added_].map()->stores[k])) continue;
      Step computing = SplitStore(program_.steps[s + added_], k);
      program_.steps.insert(
          program_.steps.begin() + static_cast<std::ptrdiff_t>(s),
          std::move(computing));
      ++added_;
    }
    if (added_ > 0) TidyOperands(program_.steps[s + added_]);
  }

  Step SplitStore(Step& step, size_t k) {
    Store& store = step.map()->stores[k];
    const Buffer& whole = program_.buffers[step.outputs[store.output]];
    Buffer part;
    part.name = whole.name + "/part";
    part.type = {whole.type.dtype, Shape(store.extent)};
    part.layout = LayoutOfPart(whole, store.begin, store.extent)->WithoutGaps();
    program_.buffers.push_back(std::move(part));
    const int buffer = static_cast<int>(program_.buffers.size()) - 1;

    std::vector<Expr> own;
    for (size_t axis = 0; axis < store.begin.size(); ++axis) {
      own.push_back(Var(static_cast<int>(axis)) + Expr(-store.begin[axis]));
    }
    Step computing = step;
    computing.outputs = {buffer};
    const Expr value = SubstituteVars(store.value, [&](int var) {
      return static_cast<size_t>(var) < store.begin.size()
                 ? Var(var) + Expr(store.begin[static_cast<size_t>(var)])
                 : Expr();
    });
    computing.map()->stores = {
        {0, Extents(store.begin.size(), 0), store.extent, value}};
    TidyOperands(computing);
    store.value = Load(static_cast<int>(step.inputs.size()), store.value->dtype,
                       std::move(own));
    step.inputs.push_back(buffer);
    return computing;
  }

  bool PlaceAll(size_t s) {
    const Step& step = program_.steps[s];
    for (const Store& store : step.map()->stores) {
      const BoxCopy copy = *MatchBoxCopy(store);
      const int in = step.inputs[static_cast<size_t>(copy.input)];
      const int out = step.outputs[static_cast<size_t>(store.output)];
      const bool placed = PlaceInput(s, in, out, copy, store) ||
                          PlaceOutput(s, in, out, copy, store);
      if (!placed) return false;
    }
    return true;
  }

  // A part whose strides change leaves the sweep of outputs that keep theirs.
  bool SweepsStayApart() const {
    return std::ranges::all_of(program_.steps, [&](const Step& step) {
      return SweepsKeepApart(program_, step);
    });
  }

  // All of `in`, a part of `out`, is written there.
  bool PlaceInput(size_t s, int in, int out, const BoxCopy& copy,
                  const Store& store) {
    const Buffer &part = program_.buffers[in], &whole = program_.buffers[out];
    const int root = program_.Root(in);
    const Buffer& owner = program_.buffers[root];
    const bool free = owner.kind == BufferKind::kInternal && root != out &&
                      owner.bytes() == part.bytes() &&
                      whole.kind == BufferKind::kInternal && whole.alias_of < 0;
    if (!free || store.extent != part.type.shape.dims()) return false;
    const auto window = LayoutOfPart(whole, store.begin, store.extent);
    if (!window || part.layout != window->WithoutGaps()) return false;
    if (WritesFrom(s, root) < kNever) return false;
    if (WritesFrom(s + 1, out) <= LastUse(root)) return false;
    if (!Spread(root, *window)) return false;
    Alias(root, out,
          *BytesBetween(program_.buffers[in], copy.from, whole, store.begin,
                        store.extent));
    return true;
  }

  // `root` and all that lies in it become windows with the strides of `window`.
  bool Spread(int root, const Layout& window) {
    std::vector<Buffer> spread;
    std::vector<int> numbers;
    for (int b = 0; b < static_cast<int>(program_.buffers.size()); ++b) {
      if (program_.Root(b) != root) continue;
      auto buffer = InStridesOf(program_.buffers[b], window);
      if (!buffer) return false;
      spread.push_back(*std::move(buffer));
      numbers.push_back(b);
    }
    for (size_t i = 0; i < numbers.size(); ++i) {
      Buffer& buffer = program_.buffers[numbers[i]];
      Keep(numbers[i]);
      buffer = std::move(spread[i]);
    }
    return true;
  }

  // A buffer that lies in one of the layout `window.WithoutGaps()`, if that
  // becomes `window`; nothing if its elements lie otherwise.
  static std::optional<Buffer> InStridesOf(Buffer buffer,
                                           const Layout& window) {
    if (!window.has_gaps()) return buffer;
    const Layout& own = buffer.layout;
    if (own.dims.size() != window.dims.size()) return std::nullopt;
    const Extents before = window.WithoutGaps().strides();
    const Extents after = window.strides(), strides = own.strides();
    int64_t begin = buffer.alias_begin / SizeOf(buffer.type.dtype), moved = 0;
    for (size_t i = 0; i < before.size(); ++i) {
      const Layout::Dim &dim = own.dims[i], &larger = window.dims[i];
      const bool alike = dim.axis == larger.axis &&
                         dim.extent <= larger.extent &&
                         (dim.extent == 1 || strides[i] == before[i]);
      if (!alike) return std::nullopt;
      moved += begin / before[i] * after[i];
      begin %= before[i];
    }
    buffer.alias_begin = moved * SizeOf(buffer.type.dtype);
    buffer.layout = own.InStridesOf(window);
    return buffer;
  }

  // All of `out`, a part of `in`, is read there.
  bool PlaceOutput(size_t s, int in, int out, const BoxCopy& copy,
                   const Store& store) {
    const Buffer &whole = program_.buffers[in], &part = program_.buffers[out];
    const int root = program_.Root(in);
    const BufferKind kind = program_.buffers[root].kind;
    const bool free =
        (kind == BufferKind::kInternal || kind == BufferKind::kInput) &&
        root != out && part.kind == BufferKind::kInternal && part.alias_of < 0;
    if (!free || store.extent != part.type.shape.dims()) return false;
    const auto window = LayoutOfPart(whole, copy.from, store.extent);
    if (!window || part.layout != window->WithoutGaps()) return false;
    if (WritesFrom(s + 1, out) < kNever) return false;
    if (WritesFrom(s + 1, root) <= LastUse(out)) return false;
    if (!Spread(out, *window)) return false;
    Alias(out, in,
          *BytesBetween(program_.buffers[out], store.begin, whole, copy.from,
                        store.extent));
    return true;
  }

  void Alias(int buffer, int of, int64_t begin) {
    Keep(buffer);
    program_.buffers[buffer].alias_of = of;
    program_.buffers[buffer].alias_begin = begin;
  }

  void Keep(int buffer) {
    kept_.emplace_back(buffer, program_.buffers[buffer]);
  }

  void Undo(size_t s, const Step& step) {
    while (!kept_.empty()) {
      auto& [buffer, before] = kept_.back();
      program_.buffers[buffer] = std::move(before);
      kept_.pop_back();
    }
    const auto first = program_.steps.begin() + static_cast<std::ptrdiff_t>(s);
    program_.steps.erase(first, first + static_cast<std::ptrdiff_t>(added_));
    program_.steps[s] = step;
    program_.buffers.resize(program_.buffers.size() - added_);
  }

  static constexpr size_t kNever = SIZE_MAX;

  // The first step from `s` on that writes bytes of `root`.
  size_t WritesFrom(size_t s, int root) const {
    for (; s < program_.steps.size(); ++s) {
      for (const int b : program_.steps[s].outputs) {
        if (program_.Root(b) == root) return s;
      }
    }
    return kNever;
  }

  size_t LastUse(int root) const {
    for (size_t s = program_.steps.size(); s-- > 0;) {
      const auto uses = [&](int b) { return program_.Root(b) == root; };
      if (std::ranges::any_of(program_.steps[s].inputs, uses)) return s;
      if (std::ranges::any_of(program_.steps[s].outputs, uses)) return s;
    }
    return 0;
  }

  int64_t LiveBytes() const {
    constexpr int64_t kAlignment = 64;
    const std::vector<LiveRange> live = LiveRanges(program_);
    std::vector<Block> blocks;
    for (size_t b = 0; b < live.size(); ++b) {
      if (live[b].first < 0) continue;
      blocks.push_back(
          {program_.buffers[b].bytes(), live[b].first, live[b].last});
    }
    return LargestLiveSum(blocks, kAlignment);
  }

  Program& program_;
  // Of the step at hand: what Undo takes back.
  std::vector<std::pair<int, Buffer>> kept_;  // as they were, in order
  size_t added_ = 0;  // steps before it, each with a buffer
};

}  // namespace

Result<bool> PlaceParts(Program& program, PassContext&) {
  return PartPlacement(program).Run();
}

}  // namespace mxc
