// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/lane_runs.h"

#include <doctest/doctest.h>

#include <vector>

namespace mxc::test {
namespace {

constexpr int kLane = 7, kRow = 8;

IntervalOf LaneRanges() {
  return [](int var) -> std::optional<Interval> {
    return Interval{0, var == kLane ? 15 : 99};
  };
}

int RunOf(const Expr& offset) {
  const auto runs = LaneRunsOf(offset, kLane, 16, LaneRanges());
  return runs ? runs->run : 0;
}

}  // namespace

TEST_CASE("lane runs: neighbours in memory, whatever lies around") {
  const Expr lane = Var(kLane), row = Var(kRow);
  CHECK(RunOf(lane + row * Expr(20)) == 16);
  CHECK(RunOf(lane / Expr(4) * Expr(100) + lane % Expr(4) + row) == 4);
  CHECK(RunOf(lane % Expr(2) + lane / Expr(2) * Expr(50)) == 2);
  CHECK(RunOf(lane * Expr(3)) == 1);
  CHECK(RunOf(Expr(40) - lane) == 1);
  CHECK(RunOf(row) == 1);
  // How far lanes are apart depends on the row.
  CHECK(RunOf(lane * row) == 0);
  CHECK(RunOf((lane + row) / Expr(3)) == 0);
}

TEST_CASE("lane runs: blocks beyond the first, in parts of it") {
  const Expr channel = Var(kRow) * Expr(16) + Var(kLane);
  const auto runs =
      LaneRunsOf(channel / Expr(4) % Expr(4) * Expr(224) + channel % Expr(4),
                 kLane, 16, LaneRanges());
  REQUIRE(runs.has_value());
  CHECK(runs->run == 4);
  CHECK(runs->first.is_constant());
  CHECK(runs->steps == std::vector<int64_t>{0, 1, 2, 3, 224, 225, 226, 227, 448,
                                            449, 450, 451, 672, 673, 674, 675});
}

}  // namespace mxc::test
