// SPDX-License-Identifier: Apache-2.0
// share-copies: of weights that the parts of a batch bring into a kernel's layout,
// each for itself, as many are copied once as memory hardly feels.
//
//   w1 = layout(w)    y1 = conv(x1, w1)          w1 = layout(w)
//   w2 = layout(w)    y2 = conv(x2, w2)     ⇒    y1 = conv(x1, w1)
//                                                y2 = conv(x2, w1)
//
// A copy that is shared is there from its first reader to its last, from part to
// part, where one of its own is there for a step.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "ir/program/memory.h"
#include "ir/program/steps/map.h"
#include "passes/dead_code.h"
#include "passes/passes.h"
#include "passes/schedule.h"

namespace mxc {
namespace {

// All that are shared may take one in so many bytes that the program needs.
constexpr int64_t kShare = 4;

bool IsOfStates(const Program& program, const Step& step) {
  return step.part >= 0 && step.map() != nullptr && !step.view &&
         step.outputs.size() == 1 &&
         program.buffers[step.outputs[0]].kind == BufferKind::kInternal &&
         std::ranges::all_of(step.inputs, [&](int b) {
           return program.buffers[b].kind == BufferKind::kState;
         });
}

// The same for steps that write the same values in the same layout.
std::string CopyKey(const Program& program, const Step& step) {
  return fmt::format(
      "{} of {}", KeyOf(program, step, [](const Expr& e) { return Print(e); }),
      fmt::join(step.inputs, ","));
}

// Bytes that are there at once: the arena at its fullest, outputs and states.
int64_t BytesOf(const Program& program) {
  int64_t bytes = Schedule(program).Peak() + OutputBytes(program);
  for (const int b : program.BuffersOf(BufferKind::kState)) {
    bytes += program.buffers[b].bytes();
  }
  return bytes;
}

}  // namespace

Result<bool> ShareCopies(Program& program, PassContext&) {
  std::map<std::string, std::vector<int>> alike;  // steps
  std::vector<const std::vector<int>*> in_order;
  for (size_t s = 0; s < program.steps.size(); ++s) {
    if (!IsOfStates(program, program.steps[s])) continue;
    auto& steps = alike[CopyKey(program, program.steps[s])];
    if (steps.empty()) in_order.push_back(&steps);
    steps.push_back(static_cast<int>(s));
  }
  std::erase_if(in_order, [](const auto* steps) { return steps->size() < 2; });
  if (in_order.empty()) return false;

  int64_t left = BytesOf(program) / kShare;
  std::vector<int> shared(program.buffers.size());  // what stands for a buffer
  std::iota(shared.begin(), shared.end(), 0);
  bool changed = false;
  for (const auto* steps : in_order) {
    Step& first = program.steps[(*steps)[0]];
    const int copy = first.outputs[0];
    if (program.buffers[copy].bytes() > left) continue;
    left -= program.buffers[copy].bytes();
    first.part = -1;
    for (const int s : *steps) shared[program.steps[s].outputs[0]] = copy;
    changed = true;
  }
  if (!changed) return false;
  for (Step& step : program.steps) {
    for (int& input : step.inputs) input = shared[input];
  }
  RemoveDeadCode(program);
  return true;
}

}  // namespace mxc
