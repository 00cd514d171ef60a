// SPDX-License-Identifier: Apache-2.0
#include "passes/sweep_steps.h"

#include <algorithm>
#include <set>
#include <utility>

#include "ir/program/scatter_sum.h"
#include "ir/program/steps/map.h"
#include "passes/evaluation_cost.h"
#include "passes/step_operands.h"
#include "passes/step_readers.h"

namespace mxc {
namespace {

constexpr int64_t kReadsPerWrite = 8;

// One store for each output, over the whole of it; all of one shape.
bool IsSweep(const Program& program, const Step& step) {
  const Map* map = step.map();
  if (map == nullptr || step.view) return false;
  if (map->stores.size() != step.outputs.size()) return false;
  const Shape& shape = SweptShape(program, step);
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

// Bytes that a step writes for each index.
int64_t BytesWritten(const Program& program, const Step& step) {
  int64_t bytes = 0;
  for (const int b : step.outputs) {
    bytes += SizeOf(program.buffers[b].type.dtype);
  }
  return bytes;
}

}  // namespace

const Shape& SweptShape(const Program& program, const Step& step) {
  return program.buffers[step.outputs[0]].type.shape;
}

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

bool ShareOperand(const SweepStep& a, const SweepStep& b) {
  return std::ranges::any_of(a.step.inputs, [&](int buffer) {
    if (std::ranges::count(b.step.inputs, buffer) == 0) return false;
    const Reading first = ReadingOf(a, buffer), second = ReadingOf(b, buffer);
    return first.identity && second.identity && !first.in_reduction &&
           !second.in_reduction;
  });
}

}  // namespace mxc
