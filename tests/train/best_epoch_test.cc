// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/best_epoch.h"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>

namespace mxc::train {
namespace {

// The epoch after which the rule stops, 0: never; each has a loss and an
// accuracy that is as large as the loss.
int64_t StopsAfter(const char* rule, std::initializer_list<double> values,
                   int64_t* best = nullptr) {
  auto parsed = ParseStopRule(rule);
  REQUIRE(parsed.ok());
  BestEpoch watch(*parsed);
  int64_t epoch = 0, stopped = 0;
  for (const double value : values) {
    EpochSummary summary;
    summary.epoch = ++epoch;
    summary.loss = 100;  // of training: nobody asks
    summary.metrics = {{"accuracy", -1}};
    summary.validation = {value, {{"accuracy", value}}};
    // Its state is all there is to it.
    BestEpoch next(*parsed);
    REQUIRE(next.Restore(watch.State()));
    REQUIRE(next.Look(summary).ok());
    REQUIRE(watch.Look(summary).ok());
    CHECK(next.State() == watch.State());
    if (watch.Stops() && stopped == 0) stopped = epoch;
  }
  if (best != nullptr) *best = watch.epoch();
  return stopped;
}

TEST_CASE("best epoch: patience counts epochs that are no better") {
  int64_t best = 0;
  CHECK(StopsAfter("patience=2", {3, 2, 2.5, 1, 1.5, 1, 0.5}, &best) == 6);
  CHECK(best == 7);
  CHECK(StopsAfter("patience=3", {3, 2, 2.5, 1, 1.5, 1, 0.5}) == 0);
  CHECK(StopsAfter("patience=2,min_delta=0.6", {3, 2, 1.9, 1.5}) == 4);
  CHECK(StopsAfter("patience=2,metric=accuracy", {.1, .5, .4, .3}, &best) == 4);
  CHECK(best == 2);
  CHECK(StopsAfter("patience=1", {std::nan(""), 2, std::nan("")}) == 1);
  CHECK(StopsAfter("", {1, 2, 3, 4, 5}, &best) == 0);
  CHECK(best == 1);
}

TEST_CASE("best epoch: losses of training and of validation do not compare") {
  BestEpoch watch;
  EpochSummary summary;
  summary.epoch = 1;
  summary.loss = 0.1;
  REQUIRE(watch.Look(summary).ok());
  summary.epoch = 2;
  summary.validation = {0.5, {}};
  REQUIRE(watch.Look(summary).ok());
  CHECK(watch.epoch() == 2);
  CHECK(watch.Sentence() == "epoch 2 was the best: loss 0.5 in validation");
}

TEST_CASE("best epoch: refusals") {
  for (const char* rule :
       {"patience", "patience=0", "metric=accuracy", "patience=2,delta=1",
        "patience=x", "patience=1,min_delta=-1"}) {
    CAPTURE(rule);
    CHECK_FALSE(ParseStopRule(rule).ok());
  }
  BestEpoch watch(*ParseStopRule("patience=1,metric=f1"));
  CHECK(watch.Look(EpochSummary()).message() ==
        "early stop: 'f1' is no metric of this run; --metric names those that "
        "are computed");
  CHECK_FALSE(watch.Restore(std::vector<double>{1, 2}));
}

}  // namespace
}  // namespace mxc::train
