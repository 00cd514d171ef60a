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
// does not join it.
#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "ir/program/scatter_sum.h"
#include "passes/evaluation_cost.h"
#include "passes/passes.h"
#include "passes/step_operands.h"
#include "passes/step_readers.h"

namespace mxc {
namespace {

constexpr int kWindow = 24;           // steps between the two
constexpr int kMostSweepNodes = 256;  // of all stores
constexpr size_t kMaxOutputs = 8;     // what a sweep holds
constexpr size_t kMaxInputs = 16;     // streams that are read
constexpr int64_t kReadsPerWrite = 8;

const Shape& ShapeOf(const Program& program, const Step& step) {
  return program.buffers[step.outputs[0]].type.shape;
}

// One store for each output, over the whole of it; all of one shape.
bool IsSweep(const Program& program, const Step& step) {
  const Map* map = step.map();
  if (map == nullptr || step.view) return false;
  if (map->stores.size() != step.outputs.size()) return false;
  const Shape& shape = ShapeOf(program, step);
  return std::ranges::all_of(map->stores, [&](const Store& store) {
    const Buffer& output = program.buffers[step.outputs[store.output]];
    return output.type.shape == shape && store.extent == shape.dims() &&
           !MatchScatterSum(store, shape);
  });
}

// The reductions that lie in no other.
std::vector<Expr> ReductionsOf(const Step& step) {
  std::vector<Expr> found;
  for (const Store& store : step.map()->stores) {
    CollectOutermostReductions(store.value, found);
  }
  return found;
}

bool SameRanges(const Expr& a, const Expr& b) {
  return std::ranges::equal(
      a->ranges, b->ranges, [](const Range& x, const Range& y) {
        return Equal(x.begin, y.begin) && Equal(x.end, y.end);
      });
}

int64_t TripsOf(const Expr& reduction) {
  int64_t trips = 1;
  for (const Range& range : reduction->ranges) trips *= ExtentOf(range);
  return trips;
}

// A step and what is asked of it again and again.
struct SweepStep {
  Step step;
  bool is_sweep = false;
  std::vector<Expr> reductions;  // that lie in no other
  std::vector<Expr> canonical;   // the same
  std::vector<int> reduced;      // buffers that these read, each once
  // The latest of the steps that it reads, one further back, and how many such
  // steps lead to the first: see Merging.
  int latest = -1, jump = -1, way = 0;
};

SweepStep SweepStepOf(const Program& program, Step step) {
  SweepStep sweep;
  sweep.is_sweep = IsSweep(program, step);
  if (sweep.is_sweep) {
    sweep.reductions = ReductionsOf(step);
    std::set<int> reduced;
    for (const Expr& reduction : sweep.reductions) {
      sweep.canonical.push_back(Canonical(reduction));
      VisitLoads(reduction, [&](const ExprNode& load) {
        reduced.insert(step.inputs[load.index]);
      });
    }
    sweep.reduced.assign(reduced.begin(), reduced.end());
  }
  sweep.step = std::move(step);
  return sweep;
}

// How a step reads a buffer.
struct Reading {
  bool any = false, identity = true, in_reduction = false;
};

Reading ReadingOf(const SweepStep& sweep, int buffer) {
  const Step& step = sweep.step;
  Reading reads;
  if (std::ranges::count(step.inputs, buffer) == 0) return reads;
  const auto visit = [&](const ExprNode& load) {
    if (step.inputs[load.index] != buffer) return;
    reads.any = true;
    reads.identity = reads.identity && IsIdentityIndex(load.args);
  };
  for (const Store& store : step.map()->stores) VisitLoads(store.value, visit);
  for (const Expr& reduction : sweep.reductions) {
    VisitLoads(reduction, [&](const ExprNode& load) {
      reads.in_reduction |= step.inputs[load.index] == buffer;
    });
  }
  return reads;
}

// Bytes that a step writes for each index.
int64_t BytesWritten(const Program& program, const Step& step) {
  int64_t bytes = 0;
  for (const int b : step.outputs) {
    bytes += SizeOf(program.buffers[b].type.dtype);
  }
  return bytes;
}

// Both reduce over equal ranges and read a common buffer there at equal
// indices; `b` writes far less than is read in common.
bool ShareReduction(const Program& program, const SweepStep& first,
                    const SweepStep& second) {
  const Step &a = first.step, &b = second.step;
  const int64_t least = kReadsPerWrite * BytesWritten(program, b);
  for (size_t i = 0; i < first.reductions.size(); ++i) {
    const int64_t trips = TripsOf(first.reductions[i]);
    for (size_t k = 0; k < second.reductions.size(); ++k) {
      if (!SameRanges(first.reductions[i], second.reductions[k])) continue;
      bool common = false;
      VisitLoads(first.canonical[i], [&](const ExprNode& of_a) {
        if (trips * SizeOf(of_a.dtype) < least) return;
        VisitLoads(second.canonical[k], [&](const ExprNode& of_b) {
          common = common || (a.inputs[of_a.index] == b.inputs[of_b.index] &&
                              std::ranges::equal(of_a.args, of_b.args, Equal));
        });
      });
      if (common) return true;
    }
  }
  return false;
}

// What the arena holds no longer for the merging: nothing that would stay alive
// because of it.
bool LivesOutside(const Program& program, const Step& step) {
  return std::ranges::all_of(step.outputs, [&](int b) {
    return program.buffers[b].kind != BufferKind::kInternal;
  });
}

bool ShareOperand(const SweepStep& a, const SweepStep& b) {
  return std::ranges::any_of(a.step.inputs, [&](int buffer) {
    if (std::ranges::count(b.step.inputs, buffer) == 0) return false;
    const Reading first = ReadingOf(a, buffer), second = ReadingOf(b, buffer);
    return first.identity && second.identity && !first.in_reduction &&
           !second.in_reduction;
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

  // Whether the last step is known to need what others made of step `a`. Where
  // it is not, it may still do so.
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
        ShapeOf(program_, earlier.step) != ShapeOf(program_, last.step)) {
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
