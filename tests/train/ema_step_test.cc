// SPDX-License-Identifier: Apache-2.0
// Moving averages of what a toy network learns, against their formula in double.
#include "runtime/train/ema_step.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "runtime/train/snapshot.h"
#include "runtime/train/state_names.h"
#include "tests/train/toy.h"

namespace mxc::train {
namespace {

constexpr double kRate = 0.2;
constexpr int64_t kUpdates = 40;

float ValueOf(TrainStep& step, const std::string& name) {
  const auto& states = step.states();
  const auto at = std::ranges::find(states, name, &data::Field::name);
  REQUIRE(at != states.end());
  float value = 0;
  std::memcpy(&value,
              step.State(static_cast<size_t>(at - states.begin())).data(),
              sizeof value);
  return value;
}

int64_t EpochLengthOfToy(int64_t) { return ToySamples::kBatches; }

data::Batch NextBatch(ToySamples& samples) {
  data::Batch batch;
  while (!*samples.Next(batch)) {
  }
  return batch;
}

}  // namespace

TEST_CASE("an average follows what is learned, by its formula") {
  for (const double decay : {0.5, 0.9, 0.9999}) {
    CAPTURE(decay);
    ToyStep toy;
    ToySamples samples;
    EmaStep step(toy, decay);
    REQUIRE(step.Begin({}, EpochLengthOfToy).ok());
    const std::vector<std::string> names = {"weight", "bias", "mean"};
    std::vector<double> expected;
    for (const std::string& name : names) {
      expected.push_back(static_cast<double>(ValueOf(step, name)));
    }
    for (int64_t t = 1; t <= kUpdates; ++t) {
      REQUIRE(step.Train(NextBatch(samples), 0, kRate).ok());
      const auto n = static_cast<double>(t);
      const double d = std::min(decay, (1 + n) / (10 + n));
      for (size_t k = 0; k < names.size(); ++k) {
        const auto value = static_cast<double>(ValueOf(step, names[k]));
        expected[k] = d * expected[k] + (1 - d) * value;
        CHECK(static_cast<double>(ValueOf(step, AverageOf(names[k]))) ==
              doctest::Approx(expected[k]).epsilon(1e-5));
      }
    }
  }
}

TEST_CASE("averages score, and training goes on from its own values") {
  ToyStep toy, plain;
  ToySamples samples, same, validation;
  EmaStep step(toy, 0.9);
  REQUIRE(step.Begin({}, EpochLengthOfToy).ok());
  const data::Batch scored = NextBatch(validation);
  for (int64_t t = 1; t <= kUpdates; ++t) {
    REQUIRE(step.Train(NextBatch(samples), 0, kRate).ok());
    const auto loss = step.Score(scored, 0);
    REQUIRE(loss.ok());
    // The toy's prediction, a line.
    double sum = 0;
    for (size_t i = 0; i < 4; ++i) {
      float x = 0, y = 0;
      std::memcpy(&x, scored.data[0].array.bytes().data() + i * sizeof x,
                  sizeof x);
      std::memcpy(&y, scored.labels[0].array.bytes().data() + i * sizeof y,
                  sizeof y);
      const double error = static_cast<double>(ValueOf(step, "ema/weight")) *
                               static_cast<double>(x) +
                           static_cast<double>(ValueOf(step, "ema/bias")) -
                           static_cast<double>(y);
      sum += error * error / 2;
    }
    CHECK(static_cast<double>(*loss) == doctest::Approx(sum / 4).epsilon(1e-4));
    REQUIRE(plain.Train(NextBatch(same), 0, kRate).ok());
    for (const char* name : {"weight", "bias", "mean", "weight/momentum"}) {
      CAPTURE(name);
      CHECK(ValueOf(step, name) == ValueOf(plain, name));
    }
  }
}

TEST_CASE("a step that makes no update leaves the averages alone") {
  ToyStep toy;
  ToySamples samples;
  EmaStep step(toy, 0.9);
  REQUIRE(step.Begin({}, EpochLengthOfToy).ok());
  REQUIRE(step.Train(NextBatch(samples), 0, kRate).ok());
  const float average = ValueOf(step, "ema/weight");
  REQUIRE(step.Accumulate(NextBatch(samples), 0).ok());
  CHECK(ValueOf(step, "ema/weight") == average);
  toy.fails_at = 2;
  CHECK(std::isnan(*step.Train(NextBatch(samples), 0, kRate)));
  CHECK(ValueOf(step, "ema/weight") == average);
}

TEST_CASE("a checkpoint has averages under the names of parameters") {
  ToyStep toy;
  ToySamples samples;
  EmaStep step(toy, 0.9);
  REQUIRE(step.Begin({}, EpochLengthOfToy).ok());
  for (int i = 0; i < 5; ++i) {
    REQUIRE(step.Train(NextBatch(samples), 0, kRate).ok());
  }
  REQUIRE(step.Score(NextBatch(samples), 0).ok());
  REQUIRE(step.CollectStates().ok());
  Checkpoint checkpoint;
  REQUIRE(CaptureStates(step, checkpoint).ok());
  REQUIRE(checkpoint.averages.size() == 3);
  CHECK(checkpoint.averages[0].name == "arg:weight");
  CHECK(checkpoint.averages[1].name == "arg:bias");
  CHECK(checkpoint.averages[2].name == "aux:mean");
  float saved[2] = {};
  std::memcpy(&saved[0], checkpoint.parameters[0].array.bytes().data(),
              sizeof(float));
  std::memcpy(&saved[1], checkpoint.averages[0].array.bytes().data(),
              sizeof(float));
  CHECK(saved[0] == ValueOf(step, "weight"));
  CHECK(saved[1] == ValueOf(step, "ema/weight"));
  CHECK(saved[0] != saved[1]);

  ToyStep other_toy;
  EmaStep other(other_toy, 0.9);
  REQUIRE(RestoreStates(checkpoint, other).ok());
  REQUIRE(other.Begin({}, EpochLengthOfToy).ok());
  CHECK(ValueOf(other, "ema/weight") == ValueOf(step, "ema/weight"));
  ToySamples rest = samples, again = samples;
  REQUIRE(step.Train(NextBatch(rest), 0, kRate).ok());
  REQUIRE(other.Train(NextBatch(again), 0, kRate).ok());
  CHECK(ValueOf(other, "ema/weight") == ValueOf(step, "ema/weight"));
  CHECK(ValueOf(other, "weight") == ValueOf(step, "weight"));
}

}  // namespace mxc::train
