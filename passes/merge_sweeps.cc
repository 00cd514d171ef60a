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
#include <set>

#include "ir/program/scatter_sum.h"
#include "passes/evaluation_cost.h"
#include "passes/passes.h"
#include "passes/step_operands.h"
#include "passes/step_readers.h"

namespace mxc {
namespace {

constexpr int kWindow = 24;        // steps between the two
constexpr int kMostSweepNodes = 256;     // of all stores
constexpr size_t kMaxOutputs = 8;  // what a sweep holds
constexpr size_t kMaxInputs = 16;  // streams that are read
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

// How a step reads a buffer.
struct Reading {
  bool any = false, own_index = true, in_reduction = false;
};

Reading ReadingOf(const Step& step, int buffer) {
  Reading reads;
  const auto visit = [&](const ExprNode& load) {
    if (step.inputs[load.index] != buffer) return;
    reads.any = true;
    reads.own_index = reads.own_index && IsOwnIndex(load.args);
  };
  for (const Store& store : step.map()->stores) VisitLoads(store.value, visit);
  for (const Expr& reduction : ReductionsOf(step)) {
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
bool ShareReduction(const Program& program, const Step& a, const Step& b) {
  const int64_t least = kReadsPerWrite * BytesWritten(program, b);
  for (const Expr& x : ReductionsOf(a)) {
    for (const Expr& y : ReductionsOf(b)) {
      if (!SameRanges(x, y)) continue;
      bool common = false;
      VisitLoads(Canonical(x), [&](const ExprNode& of_a) {
        if (TripsOf(x) * SizeOf(of_a.dtype) < least) return;
        VisitLoads(Canonical(y), [&](const ExprNode& of_b) {
          common = common || (a.inputs[of_a.index] == b.inputs[of_b.index] &&
                              std::ranges::equal(of_a.args, of_b.args, Equal));
        });
      });
      if (common) return true;
    }
  }
  return false;
}

bool ReadsInCommon(const Step& a, const Step& b) {
  return std::ranges::any_of(a.inputs, [&](int buffer) {
    return std::ranges::count(b.inputs, buffer) > 0;
  });
}

// What the arena holds no longer for the merging: nothing that would stay alive
// because of it.
bool LivesOutside(const Program& program, const Step& step) {
  return std::ranges::all_of(step.outputs, [&](int b) {
    return program.buffers[b].kind != BufferKind::kInternal;
  });
}

bool ShareOperand(const Step& a, const Step& b) {
  return std::ranges::any_of(a.inputs, [&](int buffer) {
    if (std::ranges::count(b.inputs, buffer) == 0) return false;
    const Reading first = ReadingOf(a, buffer), second = ReadingOf(b, buffer);
    return first.own_index && second.own_index && !first.in_reduction &&
           !second.in_reduction;
  });
}

class Merging {
 public:
  explicit Merging(Program& program) : program_(program) {}

  bool Run() {
    bool changed = false;
    for (size_t s = 0; s < program_.steps.size(); ++s) {
      // What a step joined may join the next.
      while (JoinEarlier(s)) {
        changed = true;
        --s;  // one step fewer before this one
      }
    }
    return changed;
  }

 private:
  // Merges an earlier step into step `s`.
  bool JoinEarlier(size_t& s) {
    const Step& step = program_.steps[s];
    if (!IsSweep(program_, step)) return false;
    for (size_t a = s; a-- > 0;) {
      const Step& earlier = program_.steps[a];
      if (ShapeOf(program_, earlier) != ShapeOf(program_, step)) continue;
      const bool near = s - a <= kWindow;
      if (!near && !ReadsInCommon(earlier, step)) continue;
      if (!IsSweep(program_, earlier)) continue;
      if (!near && !ShareReduction(program_, earlier, step)) continue;
      auto merged = Merged(earlier, step);
      if (merged && Place(a, s, std::move(*merged))) return true;
    }
    return false;
  }

  std::optional<Step> Merged(const Step& a, const Step& b) const {
    if (a.outputs.size() + b.outputs.size() > kMaxOutputs) return std::nullopt;
    if (UpdatesState(program_, a) != UpdatesState(program_, b)) {
      return std::nullopt;
    }
    bool joined = false;
    for (const int output : a.outputs) {
      const Reading reads = ReadingOf(b, output);
      if (!reads.any) continue;
      if (!reads.own_index || reads.in_reduction) return std::nullopt;
      joined = true;
    }
    const bool siblings = ShareReduction(program_, a, b) ||
                          (LivesOutside(program_, b) && ShareOperand(a, b));
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

  // Puts the merged step where both may stand: after the steps between them
  // that do not depend on `a`, before those that do. False if `b` needs one of
  // the latter.
  bool Place(size_t a, size_t& b, Step merged) {
    std::set<int> late(program_.steps[a].outputs.begin(),
                       program_.steps[a].outputs.end());
    std::vector<Step> before, after;
    for (size_t s = a + 1; s <= b; ++s) {
      const Step& step = program_.steps[s];
      const bool depends = std::ranges::any_of(
          step.inputs, [&](int buffer) { return late.contains(buffer); });
      if (s == b) {
        const auto own = program_.steps[a].outputs;
        const bool indirect = std::ranges::any_of(step.inputs, [&](int buffer) {
          return late.contains(buffer) && std::ranges::count(own, buffer) == 0;
        });
        if (indirect) return false;
        break;
      }
      if (depends) late.insert(step.outputs.begin(), step.outputs.end());
      (depends ? after : before).push_back(step);
    }
    size_t at = a;
    for (Step& step : before) program_.steps[at++] = std::move(step);
    const size_t place = at;
    program_.steps[at++] = std::move(merged);
    for (Step& step : after) program_.steps[at++] = std::move(step);
    program_.steps.erase(program_.steps.begin() +
                         static_cast<std::ptrdiff_t>(b));
    b = place + 1;
    return true;
  }

  Program& program_;
};

}  // namespace

Result<bool> MergeSweeps(Program& program, PassContext&) {
  return Merging(program).Run();
}

}  // namespace mxc
