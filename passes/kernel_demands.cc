// SPDX-License-Identifier: Apache-2.0
#include "passes/kernel_demands.h"

#include <utility>

#include "ir/program/steps/contraction.h"

namespace mxc {

Blocking PlainBlocking(int rank) {
  return {0, 1, Extents(rank, 0), Extents(rank, 0)};
}

KernelDemands::KernelDemands(Program& program, const KernelCatalog& catalog)
    : program_(program), uses_(program) {
  candidates_.resize(program_.steps.size());
  for (size_t s = 0; s < program_.steps.size(); ++s) {
    const ContractionStep* body = program_.steps[s].contraction();
    if (body == nullptr || body->choice.algorithm.empty()) continue;
    for (KernelCandidate& c : catalog.Candidates(body->contraction)) {
      if (c.choice != body->choice) continue;
      candidates_[s] = std::move(c);
      break;
    }
    MXC_CHECK(candidates_[s].has_value(), "{}", program_.steps[s].name);
  }
}

Blocking KernelDemands::OnData(int s) const {
  const std::vector<Role>& axes =
      program_.steps[s].contraction()->contraction.data_axes;
  Blocking demand = PlainBlocking(static_cast<int>(axes.size()));
  demand.Cut(candidates_[s]->data_axis, candidates_[s]->data_block);
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    if (axes[axis] < Role::kSpatial0) continue;
    const size_t k =
        static_cast<size_t>(axes[axis]) - static_cast<size_t>(Role::kSpatial0);
    if (k < candidates_[s]->halo_low.size()) {
      demand.low[axis] = candidates_[s]->halo_low[k];
      demand.high[axis] = candidates_[s]->halo_high[k];
    }
  }
  return demand;
}

Blocking KernelDemands::OnWeight(int s) const {
  Blocking demand = PlainBlocking(RankOf(program_.steps[s].inputs[1]));
  demand.Cut(candidates_[s]->weight_axis, candidates_[s]->weight_block);
  return demand;
}

Blocking KernelDemands::OfResult(int s) const {
  Blocking result = PlainBlocking(RankOf(program_.steps[s].outputs[0]));
  result.Cut(candidates_[s]->output_axis, candidates_[s]->output_block);
  return result;
}

std::vector<Blocking> KernelDemands::On(int buffer) const {
  std::vector<Blocking> demands, others;
  for (const int s : uses_.ReadersOf(buffer)) {
    if (!candidates_[s]) continue;
    const std::vector<int>& inputs = program_.steps[s].inputs;
    if (inputs[0] == buffer) demands.push_back(OnData(s));
    if (inputs[1] == buffer && candidates_[s]->weight_block != 0) {
      others.push_back(OnWeight(s));
    }
  }
  demands.insert(demands.end(), others.begin(), others.end());
  return demands;
}

}  // namespace mxc
