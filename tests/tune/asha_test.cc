// SPDX-License-Identifier: Apache-2.0
#include "runtime/tune/asha.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

namespace mxc::tune {
namespace {

// One worker; what each task was: "trial:from-to".
std::vector<std::string> Sequence(Asha asha,
                                  const std::vector<double>& scores) {
  std::vector<std::string> sequence;
  while (const auto task = asha.Next()) {
    sequence.push_back(std::to_string(task->trial) + ":" +
                       std::to_string(task->from) + "-" +
                       std::to_string(task->to));
    asha.Report(*task, scores[static_cast<size_t>(task->trial)]);
  }
  return sequence;
}

// Algorithm 2 of arXiv 1810.05934 by hand, reduction 3, from 1 epoch to 9.
TEST_CASE("asha: promotes as the paper says") {
  const Asha asha(
      {.trials = 9, .epochs = 9, .first_epochs = 1, .reduction = 3});
  CHECK(asha.rungs() == std::vector<int64_t>{1, 3, 9});
  CHECK(Sequence(asha, {5, 3, 4, 1, 8, 2, 9, 7, 0}) ==
        std::vector<std::string>{"0:0-1", "1:0-1", "2:0-1", "1:1-3", "3:0-1",
                                 "3:1-3", "4:0-1", "5:0-1", "5:1-3", "3:3-9",
                                 "6:0-1", "7:0-1", "8:0-1", "8:1-3", "8:3-9"});
}

TEST_CASE("asha: what failed never goes on, and equal ones go by number") {
  const Asha asha(
      {.trials = 4, .epochs = 2, .first_epochs = 1, .reduction = 2});
  CHECK(Sequence(asha, {HUGE_VAL, HUGE_VAL, HUGE_VAL, std::nan("")}) ==
        std::vector<std::string>{"0:0-1", "1:0-1", "2:0-1", "3:0-1"});
  CHECK(Sequence(asha, {1, 1, 1, 1}) ==
        std::vector<std::string>{"0:0-1", "1:0-1", "0:1-2", "2:0-1", "3:0-1",
                                 "1:1-2"});
}

TEST_CASE("asha: without pruning every trial makes all epochs") {
  const Asha asha({.trials = 3, .epochs = 7, .prunes = false});
  CHECK(Sequence(asha, {1, 2, 3}) ==
        std::vector<std::string>{"0:0-7", "1:0-7", "2:0-7"});
}

TEST_CASE("asha: the last rung is all epochs, whatever the reduction") {
  const auto rungs = [](int64_t epochs, int64_t first, int64_t reduction) {
    return Asha({.trials = 1,
                 .epochs = epochs,
                 .first_epochs = first,
                 .reduction = reduction})
        .rungs();
  };
  CHECK(rungs(10, 1, 4) == std::vector<int64_t>{1, 4, 10});
  CHECK(rungs(16, 1, 4) == std::vector<int64_t>{1, 4, 16});
  CHECK(rungs(1, 1, 4) == std::vector<int64_t>{1});
  CHECK(rungs(INT64_MAX, 1, INT64_MAX) == std::vector<int64_t>{1, INT64_MAX});
}

}  // namespace
}  // namespace mxc::tune
