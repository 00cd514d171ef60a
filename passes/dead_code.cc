// SPDX-License-Identifier: Apache-2.0
#include "passes/dead_code.h"

#include <algorithm>
#include <vector>

#include "ir/program/steps/map.h"
#include "passes/step_operands.h"

namespace mxc {
namespace {

// Keeps the outputs for which `live` holds; the stores of the others vanish.
// Steps of other kinds than Map keep all or none.
bool DropDeadOutputs(Step& step, const std::vector<bool>& live) {
  if (!step.body.pure()) return false;
  if (step.map() == nullptr &&
      std::ranges::any_of(step.outputs, [&](int b) { return live[b]; })) {
    return false;
  }
  std::vector<int> renumbered(step.outputs.size(), -1), kept;
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    if (!live[step.outputs[i]]) continue;
    renumbered[i] = static_cast<int>(kept.size());
    kept.push_back(step.outputs[i]);
  }
  if (kept.size() == step.outputs.size()) return false;
  step.outputs = std::move(kept);
  if (Map* map = step.map()) {
    std::erase_if(map->stores, [&](const Store& store) {
      return renumbered[store.output] < 0;
    });
    for (Store& store : map->stores) store.output = renumbered[store.output];
    TidyOperands(step);
  }
  return true;
}

}  // namespace

bool RemoveUnusedBuffers(Program& program) {
  std::vector<bool> used(program.buffers.size(), false);
  for (const int input : program.BuffersOf(BufferKind::kInput)) {
    used[input] = true;
  }
  for (const Step& step : program.steps) {
    for (const int buffer : step.inputs) used[buffer] = true;
    for (const int buffer : step.outputs) used[buffer] = true;
  }
  for (size_t i = program.buffers.size(); i-- > 0;) {
    for (int b = static_cast<int>(i); used[i] && b >= 0;) {
      used[b] = true;
      const int state = program.buffers[b].state;
      if (state >= 0) used[state] = true;
      b = program.buffers[b].alias_of;
    }
  }
  if (std::find(used.begin(), used.end(), false) == used.end()) return false;

  std::vector<int> renumbered(program.buffers.size(), -1);
  std::vector<Buffer> kept;
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    if (!used[i]) continue;
    renumbered[i] = static_cast<int>(kept.size());
    kept.push_back(std::move(program.buffers[i]));
  }
  for (Buffer& buffer : kept) {
    if (buffer.alias_of >= 0) buffer.alias_of = renumbered[buffer.alias_of];
    if (buffer.state >= 0) buffer.state = renumbered[buffer.state];
  }
  program.buffers = std::move(kept);
  for (Step& step : program.steps) {
    for (int& buffer : step.inputs) buffer = renumbered[buffer];
    for (int& buffer : step.outputs) buffer = renumbered[buffer];
  }
  return true;
}

bool RemoveDeadCode(Program& program) {
  std::vector<bool> live(program.buffers.size(), false);
  for (const int output : program.BuffersOf(BufferKind::kOutput)) {
    live[output] = true;
  }
  for (const int next : program.BuffersOf(BufferKind::kNextState)) {
    live[next] = true;
  }
  bool changed = false;
  for (size_t s = program.steps.size(); s-- > 0;) {
    Step& step = program.steps[s];
    changed |= DropDeadOutputs(step, live);
    if (step.outputs.empty()) continue;
    for (const int input : step.inputs) live[input] = true;
  }
  std::erase_if(program.steps,
                [](const Step& step) { return step.outputs.empty(); });
  return RemoveUnusedBuffers(program) || changed;
}

}  // namespace mxc
