// SPDX-License-Identifier: Apache-2.0
// place-parts: what is concatenated is written where the whole lies, what is
// sliced is read there.
//
//   a = conv(x)                       a lies in c from its first byte on
//   b = maxpool(x)                    b lies in c where a ends
//   c[·, 0…16] = a, [·, 16…32] = b    nothing to do
//   d = c[·, 8…24]                    d lies in c: nothing to do
//
// A part lies in one run of bytes of the same layout: the axes before the one
// that is cut have a single index, the cut is at whole blocks, and the borders
// agree (assign-layouts sees to it where nothing else keeps them apart). A
// store that computes its box, such as pooling that was fused into a
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

// The layout of a part of `whole` that lies in one run of its bytes; nothing if
// the box does not.
std::optional<Layout> LayoutOfPart(const Buffer& whole, const Extents& begin,
                                   const Extents& extent) {
  Layout layout = whole.layout;
  std::vector<bool> seen(extent.size(), false);
  bool single_before = true;
  for (Layout::Dim& dim : layout.dims) {
    const auto axis = static_cast<size_t>(dim.axis);
    const int64_t all = whole.type.shape[dim.axis];
    const bool outermost = !seen[axis];
    seen[axis] = true;
    if (outermost && extent[axis] != all) {
      const int64_t block = layout.block(dim.axis);
      const bool border = layout.halo_low[axis] + layout.halo_high[axis] > 0;
      const bool ends = begin[axis] + extent[axis] == all;
      const bool whole_blocks =
          begin[axis] % block == 0 && (ends || extent[axis] % block == 0);
      if (border || !whole_blocks || !single_before) return std::nullopt;
      dim.extent = (extent[axis] + block - 1) / block;
    }
    single_before = single_before && dim.extent == 1;
  }
  return layout;
}

class PartPlacement {
 public:
  explicit PartPlacement(Program& program) : program_(program) {}

  bool Run() {
    bool changed = false;
    for (size_t s = 0; s < program_.steps.size(); ++s) {
      if (!MayVanish(program_.steps[s])) continue;
      aliased_.clear();
      added_ = 0;
      const Step step = program_.steps[s];
      const int64_t bytes = LiveBytes();
      SplitComputed(s);
      if (PlaceAll(s + added_) && LiveBytes() <= bytes) {
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
    part.layout = *LayoutOfPart(whole, store.begin, store.extent);
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
    if (part.layout != LayoutOfPart(whole, store.begin, store.extent)) {
      return false;
    }
    if (WritesFrom(s, root) < kNever) return false;
    if (WritesFrom(s + 1, out) <= LastUse(root)) return false;
    Alias(root, out,
          *BytesBetween(part, copy.from, whole, store.begin, store.extent));
    return true;
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
    if (part.layout != LayoutOfPart(whole, copy.from, store.extent)) {
      return false;
    }
    if (WritesFrom(s + 1, out) < kNever) return false;
    if (WritesFrom(s + 1, root) <= LastUse(out)) return false;
    Alias(out, in,
          *BytesBetween(part, store.begin, whole, copy.from, store.extent));
    return true;
  }

  void Alias(int buffer, int of, int64_t begin) {
    program_.buffers[buffer].alias_of = of;
    program_.buffers[buffer].alias_begin = begin;
    aliased_.push_back(buffer);
  }

  void Undo(size_t s, const Step& step) {
    for (const int buffer : aliased_) {
      program_.buffers[buffer].alias_of = -1;
      program_.buffers[buffer].alias_begin = 0;
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
  std::vector<int> aliased_;
  size_t added_ = 0;  // steps before it, each with a buffer
};

}  // namespace

Result<bool> PlaceParts(Program& program, PassContext&) {
  return PartPlacement(program).Run();
}

}  // namespace mxc
