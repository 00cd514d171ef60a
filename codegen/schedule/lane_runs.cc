// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/lane_runs.h"

#include "codegen/schedule/address_form.h"

namespace mxc {
namespace {

int LongestRun(const std::vector<int64_t>& steps) {
  const size_t lanes = steps.size();
  size_t run = 1;
  const auto runs_on = [&](size_t length) {
    for (size_t lane = 0; lane < lanes; ++lane) {
      const size_t first = lane / length * length;
      const auto within = static_cast<int64_t>(lane - first);
      if (steps[lane] != steps[first] + within) return false;
    }
    return true;
  };
  while (2 * run <= lanes && lanes % (2 * run) == 0 && runs_on(2 * run)) {
    run *= 2;
  }
  return static_cast<int>(run);
}

}  // namespace

std::optional<LaneRuns> LaneRunsOf(const Expr& offset, int lane_var, int lanes,
                                   const IntervalOf& range) {
  LaneRuns runs;
  for (int lane = 0; lane < lanes; ++lane) {
    const auto value = [&](int var) {
      return var == lane_var ? Expr(lane) : Expr();
    };
    const Affine at =
        ToAffine(Resimplify(offset, value, range, /*lane_var=*/-1), range);
    if (lane == 0) runs.first = at;
    Affine step = at;
    step.Add(runs.first, -1);
    if (!step.is_constant()) return std::nullopt;
    runs.steps.push_back(step.constant);
  }
  runs.run = LongestRun(runs.steps);
  return runs;
}

}  // namespace mxc
