// SPDX-License-Identifier: Apache-2.0
// merge-sweeps: steps over the same indices that read the same values become
// one step with several outputs, and memory is swept once.
//
//   m' = 0.9·m + g                 m', w' = 0.9·m + g, w − (0.9·m + g)
//   w' = w − m'             ⇒      (g, m and w read once, m' not at all)
//
//   a[c] = Σ dy[n,c]               a, b = Σ dy[n,c], Σ dy[n,c]·x[n,c]
//   b[c] = Σ dy[n,c]·x[n,c] ⇒      (dy read once)
//
//   y = max over windows of x    y, k = max over windows of x, and where it is
//   k = where in x y is     ⇒    (x read once, and not again for the gradient)
//
// A reader of what is stored anyway joins its producer; reductions over equal
// ranges join where they read a common operand and the later one writes far
// less than that, so that nothing large has to stay alive for it. Others only
// as neighbours in the order of steps, for the same reason. A step that writes
// a next state must wait for all readers of the state, so what others wait for
// does not join it. Nor do steps of two micro-batches join: what the first one
// keeps would be there until the second one has run.
#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "ir/program/steps/map.h"
#include "passes/evaluation_cost.h"
#include "passes/passes.h"
#include "passes/step_operands.h"
#include "passes/step_readers.h"
#include "passes/sweep_steps.h"

namespace mxc {
namespace {

constexpr int kWindow = 24;           // steps between the two
constexpr int kMostSweepNodes = 256;  // of all stores
constexpr size_t kMaxOutputs = 8;     // what a sweep holds
constexpr size_t kMaxInputs = 16;     // streams that are read

// True where the arena holds nothing longer for the merging: no output would
// stay alive because of it.
bool LivesOutside(const Program& program, const Step& step) {
  return std::ranges::all_of(step.outputs, [&](int b) {
    return program.buffers[b].kind != BufferKind::kInternal;
  });
}

class Merging {
 public:
  explicit Merging(Program& program)
      : program_(program), writer_(program.buffers.size(), -1) {}

  bool Run() {
    std::ranges::reverse(program_.steps);
    pending_ = std::move(program_.steps);
    bool changed = false;
    while (!pending_.empty()) {
      Append(std::move(pending_.back()));
      pending_.pop_back();
      // What a step joined may join the next.
      while (JoinEarlier()) changed = true;
    }
    program_.steps.clear();
    for (SweepStep& done : done_) {
      program_.steps.push_back(std::move(done.step));
    }
    return changed;
  }

 private:
  void Append(Step step) {
    done_.push_back(SweepStepOf(program_, std::move(step)));
    const int place = static_cast<int>(done_.size()) - 1;
    if (!done_.back().step.body.pure()) fixed_ = place + 1;
    FindLatest(done_.back());
    for (const int b : done_.back().step.outputs) writer_[b] = place;
    if (!MayTakeMore(done_.back())) return;
    for (const int buffer : done_.back().reduced) {
      reducers_[buffer].insert(place);
    }
  }

  SweepStep TakeLast() {
    const int place = static_cast<int>(done_.size()) - 1;
    for (const int buffer : done_.back().reduced) {
      reducers_[buffer].erase(place);
    }
    for (const int b : done_.back().step.outputs) writer_[b] = -1;
    SweepStep last = std::move(done_.back());
    done_.pop_back();
    return last;
  }

  // From step to latest step read, jumps get twice as long where they can be,
  // so that a way back takes logarithmic time.
  void FindLatest(SweepStep& step) {
    for (const int b : step.step.inputs) {
      step.latest = std::max(step.latest, writer_[b]);
    }
    if (step.latest < 0) return;
    const SweepStep& latest = done_[step.latest];
    const int once = latest.jump;
    const int twice = once < 0 ? -1 : done_[once].jump;
    const bool equal =
        Steps(step.latest) - Steps(once) == Steps(once) - Steps(twice);
    step.jump = once >= 0 && equal ? twice : step.latest;
    step.way = latest.way + 1;
  }

  int Steps(int place) const { return place < 0 ? 0 : done_[place].way; }

  // Returns whether the last step is known to need what others made of step
  // `a`. Where it is not, it may still do so.
  bool NeedsReaderOf(int a) const {
    if (done_.back().latest == a) return false;
    int at = static_cast<int>(done_.size()) - 1;
    while (at > a) {
      const SweepStep& step = done_[at];
      at = step.jump >= a ? step.jump : step.latest;
    }
    return at == a;
  }

  static bool MayTakeMore(const SweepStep& step) {
    return step.step.outputs.size() < kMaxOutputs;
  }

  // Merges an earlier step into the last one, the nearest that may.
  bool JoinEarlier() {
    if (!done_.back().is_sweep) return false;
    const int last = static_cast<int>(done_.size()) - 1;
    for (int a = last - 1; a >= std::max(fixed_, last - kWindow); --a) {
      if (JoinWith(a)) return true;
    }
    std::set<int, std::greater<>> far;
    for (const int buffer : done_.back().reduced) {
      const std::set<int>& reducers = reducers_[buffer];
      far.insert(reducers.lower_bound(fixed_),
                 reducers.lower_bound(std::max(fixed_, last - kWindow)));
    }
    return std::ranges::any_of(far, [&](int a) {
      return !NeedsReaderOf(a) &&
             ShareReduction(program_, done_[a], done_.back()) && JoinWith(a);
    });
  }

  bool JoinWith(int a) {
    const SweepStep &earlier = done_[a], &last = done_.back();
    if (!earlier.is_sweep ||
        SweptShape(program_, earlier.step) != SweptShape(program_, last.step)) {
      return false;
    }
    if (NeedsReaderOf(a)) return false;
    auto merged = Merged(earlier, last);
    return merged && Place(a, std::move(*merged));
  }

  std::optional<Step> Merged(const SweepStep& first,
                             const SweepStep& second) const {
    const Step &a = first.step, &b = second.step;
    if (a.outputs.size() + b.outputs.size() > kMaxOutputs) return std::nullopt;
    if (a.part != b.part) return std::nullopt;
    if (UpdatesState(program_, a) != UpdatesState(program_, b)) {
      return std::nullopt;
    }
    bool joined = false;
    for (const int output : a.outputs) {
      const Reading reads = ReadingOf(second, output);
      if (!reads.any) continue;
      if (!reads.identity || reads.in_reduction) return std::nullopt;
      joined = true;
    }
    const bool siblings =
        ShareReduction(program_, first, second) ||
        (LivesOutside(program_, b) && ShareOperand(first, second));
    if (!joined && !siblings) return std::nullopt;
    Step merged = Join(a, b);
    if (merged.inputs.size() > kMaxInputs || Nodes(merged) > kMostSweepNodes) {
      return std::nullopt;
    }
    return merged;
  }

  // a's stores, then b's with a's values in place of what it loads from them.
  static Step Join(const Step& a, const Step& b) {
    Step merged = b;
    merged.outputs = a.outputs;
    merged.outputs.insert(merged.outputs.end(), b.outputs.begin(),
                          b.outputs.end());
    std::vector<Store> stores = a.map()->stores;
    for (Store& store : stores) {
      store.value = Rewrite(store.value, [&](const Expr& e) -> Expr {
        if (e->kind != ExprKind::kLoad) return {};
        return Load(OperandOf(merged, a.inputs[e->index]), e->dtype, e->args);
      });
    }
    for (const Store& own : b.map()->stores) {
      Store store = own;
      store.output += static_cast<int>(a.outputs.size());
      store.value = Rewrite(store.value, [&](const Expr& e) -> Expr {
        if (e->kind != ExprKind::kLoad) return {};
        for (const Store& produced : stores) {
          if (produced.output >= static_cast<int>(a.outputs.size())) continue;
          if (a.outputs[produced.output] == b.inputs[e->index]) {
            return produced.value;
          }
        }
        return {};
      });
      stores.push_back(std::move(store));
    }
    merged.map()->stores = std::move(stores);
    TidyOperands(merged);
    JoinOrigins(a, merged);
    return merged;
  }

  static int Nodes(const Step& step) {
    int nodes = 0;
    for (const Store& store : step.map()->stores) {
      nodes += CountNodes(store.value);
      if (TreeSize(store.value) > kMaxTreeSize) return kMostSweepNodes + 1;
    }
    return nodes;
  }

  // Puts what the last step and an earlier one became where both may stand:
  // after the steps between them that do not depend on the earlier one, before
  // those that do, which are looked at again. False if the last one needs one
  // of the latter.
  bool Place(int a, Step merged) {
    const std::set<int> own(done_[a].step.outputs.begin(),
                            done_[a].step.outputs.end());
    std::set<int> late = own;
    std::vector<bool> depends;
    for (size_t s = static_cast<size_t>(a) + 1; s + 1 < done_.size(); ++s) {
      const Step& step = done_[s].step;
      depends.push_back(ReadsAny(step, late));
      if (depends.back()) {
        late.insert(step.outputs.begin(), step.outputs.end());
      }
    }
    for (const int buffer : own) late.erase(buffer);
    if (ReadsAny(done_.back().step, late)) return false;
    TakeLast();
    std::vector<Step> before;
    for (; !depends.empty(); depends.pop_back()) {
      (depends.back() ? pending_ : before).push_back(TakeLast().step);
    }
    TakeLast();
    for (; !before.empty(); before.pop_back()) {
      Append(std::move(before.back()));
    }
    Append(std::move(merged));
    return true;
  }

  static bool ReadsAny(const Step& step, const std::set<int>& buffers) {
    return std::ranges::any_of(
        step.inputs, [&](int buffer) { return buffers.contains(buffer); });
  }

  Program& program_;
  std::vector<Step> pending_;              // the next one last
  std::vector<SweepStep> done_;            // in order
  int fixed_ = 0;                          // places before it stay as they are
  std::vector<int> writer_;                // by buffer: place in done_
  std::map<int, std::set<int>> reducers_;  // by buffer: places in done_
};

}  // namespace

Result<bool> MergeSweeps(Program& program, PassContext&) {
  return Merging(program).Run();
}

}  // namespace mxc
