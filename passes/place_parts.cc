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
// unless nothing remains of it, or where notably more bytes would be alive at
// once: the whole lives from its first part on.
//
// Runs when all other aliases are settled: what is written over, and when, is
// known.
#include <algorithm>
#include <iterator>
#include <utility>

#include "ir/program/in_place.h"
#include "ir/program/steps/map.h"
#include "passes/byte_owners.h"
#include "passes/part_windows.h"
#include "passes/passes.h"
#include "passes/step_operands.h"
#include "passes/step_uses.h"

namespace mxc {
namespace {

// Every step is a moment. Steps that are split off one get the moments before
// it, which are kept free for them: so no step that stays changes its own.
class PartPlacement {
 public:
  explicit PartPlacement(Program& program)
      : program_(program),
        uses_(program),
        before_(program.steps.size()),
        moments_(MomentsOf(program)),
        owners_(program, moments_) {
    for (const Step& step : program.steps) {
      if (step.body.any_layout()) continue;
      const std::vector<int> operands = step.operands();
      (step.body.pure() ? dense_ : fixed_)
          .insert(operands.begin(), operands.end());
    }
  }

  bool Run() {
    bool changed = false;
    for (int b = 0; b < static_cast<int>(program_.buffers.size()); ++b) {
      changed |= PlaceSlices(b);
    }
    for (size_t s = 0; s < program_.steps.size(); ++s) {
      if (!MayVanish(program_.steps[s])) continue;
      const Step step = program_.steps[s];
      const int64_t bytes = owners_.LargestLive();
      SplitComputed(s);
      if (PlaceAll(s) && !NeedsMore(s, bytes) && SweepsStayApart(s)) {
        changed = true;
        Settle();
      } else {
        Undo(s, step);
      }
    }
    if (changed) InsertComputing();
    return changed;
  }

 private:
  // Several slices of a buffer save its bytes together, where the first of them
  // alone would only keep it alive for longer.
  bool PlaceSlices(int buffer) {
    std::vector<int> slices;
    for (const int s : uses_.ReadersOf(buffer)) {
      const Step& step = program_.steps[s];
      const bool copies =
          MayVanish(step) &&
          std::ranges::all_of(step.map()->stores, [](const Store& store) {
            return MatchBoxCopy(store).has_value();
          });
      if (copies && step.inputs.size() == 1) slices.push_back(s);
    }
    if (slices.size() < 2) return false;
    const int64_t bytes = owners_.LargestLive();
    const bool placed =
        std::ranges::all_of(slices, [&](int s) { return PlaceAll(s); }) &&
        !NeedsMore(slices.front(), bytes) &&
        std::ranges::all_of(slices, [&](int s) { return SweepsStayApart(s); });
    if (placed) {
      Settle();
    } else {
      TakeBack();
    }
    return placed;
  }

  // Returns whether more is alive at once than `bytes`, by more than the copy
  // is worth that step `s` makes: a slice of almost everything keeps the rest
  // alive.
  bool NeedsMore(size_t s, int64_t bytes) const {
    constexpr int64_t kShare = 32;
    int64_t copied = 0;
    for (const int b : program_.steps[s].outputs) {
      copied += program_.buffers[b].bytes();
    }
    return owners_.LargestLive() > bytes + copied / kShare;
  }

  static bool MaySplit(const Step& step) {
    return step.map() != nullptr && !step.view;
  }

  static std::vector<int> MomentsOf(const Program& program) {
    std::vector<int> moments;
    int next = 0;
    for (const Step& step : program.steps) {
      if (MaySplit(step)) {
        next += static_cast<int>(std::ranges::count_if(
            step.map()->stores,
            [](const Store& store) { return !MatchBoxCopy(store); }));
      }
      moments.push_back(next++);
    }
    return moments;
  }

  // Some store copies a box, and boxes that are computed can be parts.
  bool MayVanish(const Step& step) const {
    if (!MaySplit(step)) return false;
    const std::vector<Store>& stores = step.map()->stores;
    const auto copies = [](const Store& store) {
      return MatchBoxCopy(store).has_value();
    };
    if (std::ranges::none_of(stores, copies)) return false;
    if (IsInPlace(program_, step)) return false;
    return std::ranges::all_of(stores, [&](const Store& store) {
      return copies(store) ||
             LayoutOfPart(program_.buffers[step.outputs[store.output]],
                          store.begin, store.extent);
    });
  }

  // Every store of step `s` that computes its box becomes a step before it,
  // whose result it copies.
  void SplitComputed(size_t s) {
    Step& step = program_.steps[s];
    std::vector<Step>& before = before_[s];
    for (size_t k = 0; k < step.map()->stores.size(); ++k) {
      if (MatchBoxCopy(step.map()->stores[k])) continue;
      before.push_back(SplitStore(program_, step, k));
      owners_.Add(before.back().outputs[0],
                  moments_[s] - static_cast<int>(before.size()), moments_[s]);
    }
    if (before.empty()) return;
    const std::vector<int> inputs = step.inputs;
    TidyOperands(step);
    for (const int b : inputs) EndUse(s, program_.Root(b));
  }

  // What only the steps before `s` read now is not needed at `s` any more.
  void EndUse(size_t s, int root) {
    const auto uses = [&](const std::vector<int>& buffers) {
      return std::ranges::any_of(
          buffers, [&](int b) { return program_.Root(b) == root; });
    };
    const Step& step = program_.steps[s];
    if (owners_.at(root).last != moments_[s] || uses(step.inputs) ||
        uses(step.outputs)) {
      return;
    }
    for (size_t k = 0; k < before_[s].size(); ++k) {
      if (!uses(before_[s][k].inputs)) continue;
      owners_.EndUse(root, moments_[s] - static_cast<int>(k) - 1);
      return;
    }
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
  bool SweepsStayApart(size_t s) const {
    const auto apart = [&](int step) {
      return SweepsKeepApart(program_, program_.steps[step]);
    };
    if (!apart(static_cast<int>(s))) return false;
    return std::ranges::all_of(owners_.Joined(), [&](int b) {
      const int writer = uses_.WriterOf(b);
      return (writer < 0 || apart(writer)) &&
             std::ranges::all_of(uses_.ReadersOf(b), apart);
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
    if (owners_.at(root).IsWrittenFrom(moments_[s])) return false;
    if (IsWrittenAfter(s, out, owners_.at(root).last)) return false;
    if (!Spread(root, *window)) return false;
    Alias(root, out, out,
          *BytesBetween(program_.buffers[in], copy.from, whole, store.begin,
                        store.extent));
    return true;
  }

  // Returns whether step `s` is followed by one that writes to `root` and that
  // runs no later than `moment`.
  bool IsWrittenAfter(size_t s, int root, int moment) const {
    const std::multiset<int>& written = owners_.at(root).written;
    const auto next = written.upper_bound(moments_[s]);
    return next != written.end() && *next <= moment;
  }

  // `root` and all that lies in it become windows with the strides of `window`.
  bool Spread(int root, const Layout& window) {
    std::vector<Buffer> spread;
    const std::vector<int>& numbers = owners_.at(root).members;
    for (const int b : numbers) {
      if (fixed_.contains(b)) return false;
      if (window.has_gaps() && dense_.contains(b)) return false;
      auto buffer = InStridesOf(program_.buffers[b], window);
      if (!buffer) return false;
      spread.push_back(*std::move(buffer));
    }
    for (size_t i = 0; i < numbers.size(); ++i) {
      Buffer& buffer = program_.buffers[numbers[i]];
      Keep(numbers[i]);
      buffer = std::move(spread[i]);
    }
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
    const auto window = LayoutOfPart(whole, copy.from, store.extent);
    if (!window || part.layout != window->WithoutGaps()) return false;
    if (owners_.at(out).IsWrittenFrom(moments_[s] + 1)) return false;
    if (IsWrittenAfter(s, root, owners_.at(out).last)) return false;
    if (!Spread(out, *window)) return false;
    Alias(out, in, root,
          *BytesBetween(program_.buffers[out], store.begin, whole, copy.from,
                        store.extent));
    return true;
  }

  // `part`, a root, lies in `of` from now on, whose root is `root`.
  void Alias(int part, int of, int root, int64_t begin) {
    Keep(part);
    program_.buffers[part].alias_of = of;
    program_.buffers[part].alias_begin = begin;
    owners_.Join(part, root);
  }

  void Keep(int buffer) {
    kept_.emplace_back(buffer, program_.buffers[buffer]);
  }

  void Settle() {
    owners_.Settle();
    kept_.clear();
  }

  void TakeBack() {
    for (; !kept_.empty(); kept_.pop_back()) {
      program_.buffers[kept_.back().first] = std::move(kept_.back().second);
    }
    owners_.Undo();
  }

  void Undo(size_t s, const Step& step) {
    TakeBack();
    program_.buffers.resize(program_.buffers.size() - before_[s].size());
    before_[s].clear();
    program_.steps[s] = step;
  }

  void InsertComputing() {
    std::vector<Step> steps;
    for (size_t s = 0; s < program_.steps.size(); ++s) {
      std::ranges::reverse(before_[s]);
      std::ranges::move(before_[s], std::back_inserter(steps));
      steps.push_back(std::move(program_.steps[s]));
    }
    program_.steps = std::move(steps);
  }

  Program& program_;
  const StepUses uses_;                    // of the steps as they came
  std::vector<std::vector<Step>> before_;  // split off each step, last first
  const std::vector<int> moments_;         // by step
  ByteOwners owners_;
  std::set<int> fixed_;                       // operands that stay as they are
  std::set<int> dense_;                       // operands that get no gaps
  std::vector<std::pair<int, Buffer>> kept_;  // as they were: see Undo
};

}  // namespace

Result<bool> PlaceParts(Program& program, PassContext&) {
  return PartPlacement(program).Run();
}

}  // namespace mxc
