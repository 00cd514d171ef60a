// SPDX-License-Identifier: Apache-2.0
#include "passes/step_seconds.h"

#include "passes/evaluation_cost.h"

namespace mxc {
namespace {

constexpr double kFlopsPerSecond = 1e11;  // of a contraction

}  // namespace

double EstimateSeconds(const Program& program, const Step& step) {
  if (step.view) return 0;
  if (const TileLoop* loop = step.loop()) {
    double of_tile = 0;
    for (const Step& inner : loop->tile->steps) {
      of_tile += EstimateSeconds(*loop->tile, inner);
    }
    return static_cast<double>(loop->tiles) * of_tile;
  }
  double seconds = kStepCost / kUnitsPerSecond;
  if (const Map* map = step.map()) {
    for (const Store& store : map->stores) {
      seconds += HoistedCost(store) / kUnitsPerSecond;
    }
    return seconds;
  }
  return seconds + static_cast<double>(step.flops(program)) / kFlopsPerSecond;
}

}  // namespace mxc
