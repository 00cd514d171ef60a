// SPDX-License-Identifier: Apache-2.0
#include "passes/step_seconds.h"

#include <algorithm>

#include "ir/program/steps/branch.h"
#include "ir/program/steps/map.h"
#include "ir/program/steps/procedure.h"
#include "ir/program/steps/repeat.h"
#include "ir/program/steps/tile_loop.h"
#include "passes/evaluation_cost.h"

namespace mxc {
namespace {

double SecondsInside(const Machine& machine, const Program& program) {
  double seconds = 0;
  for (const Step& step : program.steps) {
    seconds += EstimateSeconds(machine, program, step);
  }
  return seconds;
}

}  // namespace

double EstimateSeconds(const Machine& machine, const Program& program,
                       const Step& step) {
  if (step.view) return 0;
  if (const TileLoop* loop = step.loop()) {
    return static_cast<double>(loop->tiles) *
           SecondsInside(machine, *loop->tile);
  }
  if (const Repeat* repeat = step.body.As<Repeat>()) {
    return static_cast<double>(repeat->turns) *
           SecondsInside(machine, *repeat->body);
  }
  if (const Branch* branch = step.body.As<Branch>()) {
    return std::max(SecondsInside(machine, *branch->then),
                    SecondsInside(machine, *branch->otherwise));
  }
  double seconds = machine.launch_seconds;
  if (step.body.work() == Work::kTransfer) {
    const Buffer& buffer = program.buffers[step.outputs[0]];
    return seconds +
           static_cast<double>(buffer.bytes()) / machine.copy_bytes_per_second;
  }
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
