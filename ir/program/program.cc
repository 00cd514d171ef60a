// SPDX-License-Identifier: Apache-2.0
#include "ir/program/program.h"

#include <algorithm>
#include <unordered_set>

#include "ir/support/check.h"

namespace mxc {

int64_t Contraction::flops() const {
  int64_t n = 2 * batch * groups * in * out;
  for (const int64_t extent : output) n *= extent;
  for (const int64_t extent : kernel) n *= extent;
  for (const int64_t spread : data_dilate) n /= spread;
  return n;
}

Contraction InParts(const Contraction& c, int64_t parts) {
  MXC_CHECK(c.groups == 1 && c.in % parts == 0, "{} of {}", parts, c.in);
  Contraction cut = c;
  cut.groups = parts;
  cut.in = c.in / parts;
  for (std::vector<Role>* axes :
       {&cut.data_axes, &cut.weight_axes, &cut.output_axes}) {
    for (Role& role : *axes) {
      role = role == Role::kIn           ? Role::kGroupIn
             : role == Role::kGroupBatch ? Role::kBatch
             : role == Role::kGroupOut   ? Role::kOut
                                         : role;
    }
  }
  cut.output_axes.insert(cut.output_axes.begin(), Role::kGroup);
  return cut;
}

namespace {

using Seen = std::unordered_set<const ExprNode*>;

// Arithmetic operations for one element: a shared subexpression counts once, a
// reduction's body for each of its trips, index arithmetic not at all.
double Operations(const Expr& e, Seen& seen) {
  if (e->kind == ExprKind::kLoad || !seen.insert(e.get()).second) return 0;
  const bool operation = e->kind == ExprKind::kUnary ||
                         e->kind == ExprKind::kBinary ||
                         e->kind == ExprKind::kSelect;
  double n = operation && IsFloat(e->dtype) ? 1 : 0;
  double trips = 1;
  for (const Range& range : e->ranges) {
    const bool constant = range.begin->kind == ExprKind::kConst &&
                          range.end->kind == ExprKind::kConst;
    trips *= constant ? range.end->number - range.begin->number : 1;
  }
  for (const Expr& arg : e->args) n += trips * Operations(arg, seen);
  return n + (e->kind == ExprKind::kReduce ? trips : 0);
}

double Operations(const Expr& e) {
  Seen seen;
  return Operations(e, seen);
}

}  // namespace

int64_t Step::flops(const Program& program) const {
  if (const ContractionStep* body = contraction()) {
    const Buffer& output = program.buffers[outputs[0]];
    return body->contraction.flops() +
           static_cast<int64_t>(Operations(body->epilogue)) *
               output.type.shape.elements();
  }
  double total = 0;
  for (const Store& store : map()->stores) {
    double elements = 1;
    for (const int64_t n : store.extent) elements *= static_cast<double>(n);
    total += elements * Operations(store.value);
  }
  return static_cast<int64_t>(total);
}

int Program::Root(int buffer) const {
  while (buffers[buffer].alias_of >= 0) buffer = buffers[buffer].alias_of;
  return buffer;
}

std::vector<int> Program::BuffersOf(BufferKind kind) const {
  std::vector<int> found;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].kind == kind) found.push_back(static_cast<int>(i));
  }
  return found;
}

std::vector<std::vector<int>> SweepsOf(const Program& program,
                                       const Step& step) {
  // More streams at once than this do the processor no good.
  constexpr size_t kMostInSweep = 8;
  std::vector<std::vector<int>> sweeps;
  const auto fits = [&](const std::vector<int>& sweep, int output) {
    const Buffer& first = program.buffers[step.outputs[sweep[0]]];
    const Buffer& other = program.buffers[step.outputs[output]];
    return sweep.size() < kMostInSweep && first.layout == other.layout &&
           first.type.shape == other.type.shape;
  };
  for (int output = 0; output < static_cast<int>(step.outputs.size());
       ++output) {
    const auto sweep = std::ranges::find_if(
        sweeps, [&](const auto& other) { return fits(other, output); });
    if (sweep == sweeps.end()) {
      sweeps.push_back({output});
    } else {
      sweep->push_back(output);
    }
  }
  return sweeps;
}

std::vector<LiveRange> LiveRanges(const Program& program) {
  std::vector<LiveRange> ranges(program.buffers.size());
  const auto touch = [&](int buffer, int step) {
    const int root = program.Root(buffer);
    if (program.buffers[root].kind != BufferKind::kInternal) return;
    LiveRange& range = ranges[root];
    if (range.first < 0) range.first = step;
    range.last = std::max(range.last, step);
  };
  for (size_t s = 0; s < program.steps.size(); ++s) {
    for (const int b : program.steps[s].inputs) touch(b, static_cast<int>(s));
    for (const int b : program.steps[s].outputs) touch(b, static_cast<int>(s));
  }
  return ranges;
}

}  // namespace mxc
