// SPDX-License-Identifier: Apache-2.0
#include "passes/free_layouts.h"

#include "ir/program/scatter_sum.h"
#include "ir/program/steps/map.h"

namespace mxc {
namespace {

// Adds values up at positions, which kernels do in rows: written otherwise,
// each element of the output would compare all positions with its own.
bool IsScatter(const Program& program, const Step& step) {
  const Map* map = step.map();
  return map != nullptr && map->stores.size() == 1 &&
         MatchScatterSum(map->stores[0],
                         program.buffers[step.outputs[0]].type.shape);
}

}  // namespace

std::vector<bool> BuffersOfAnyLayout(const Program& program) {
  std::vector<bool> free;
  for (const Buffer& buffer : program.buffers) {
    free.push_back(buffer.kind == BufferKind::kInternal);
  }
  for (const Step& step : program.steps) {
    if (IsScatter(program, step)) free[step.outputs[0]] = false;
    if (step.body.any_layout()) continue;
    for (const int b : step.operands()) free[b] = false;
  }
  return free;
}

}  // namespace mxc
