// SPDX-License-Identifier: Apache-2.0
#include "passes/step_seconds.h"

#include "passes/evaluation_cost.h"

namespace mxc {

double EstimateSeconds(const Machine& machine, const Program& program,
                       const Step& step) {
  if (step.view) return 0;
  if (const TileLoop* loop = step.loop()) {
    double of_tile = 0;
    for (const Step& inner : loop->tile->steps) {
      of_tile += EstimateSeconds(machine, *loop->tile, inner);
    }
    return static_cast<double>(loop->tiles) * of_tile;
  }
  if (const Repeat* repeat = step.body.As<Repeat>()) {
    double of_turn = 0;
    for (const Step& inner : repeat->body->steps) {
      of_turn += EstimateSeconds(machine, *repeat->body, inner);
    }
    return static_cast<double>(repeat->turns) * of_turn;
  }
  double seconds = machine.launch_seconds;
  if (const Map* map = step.map()) {
    for (const Store& store : map->stores) {
      seconds += HoistedCost(store) / machine.elements_per_second;
    }
    return seconds;
  }
  if (const Procedure* procedure = step.body.As<Procedure>()) {
    return seconds + static_cast<double>(procedure->tasks) *
                         procedure->MostStatements() /
                         machine.statements_per_second;
  }
  return seconds + static_cast<double>(step.flops(program)) /
                       machine.contraction_flops_per_second;
}

}  // namespace mxc
