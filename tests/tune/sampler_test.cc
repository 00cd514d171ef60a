// SPDX-License-Identifier: Apache-2.0
#include "runtime/tune/sampler.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

namespace mxc::tune {
namespace {

Space RateAndChoice() {
  return *ParseSpace({"lr=log(1e-4,1)", "o=choice(a,b,c,d)"});
}

// Best in the middle of the first dimension, and with the second choice.
double ScoreOf(const Position& position) {
  const bool second = position[1] >= 0.25 && position[1] < 0.5;
  return std::abs(position[0] - 0.5) + (second ? 0 : 0.3);
}

// The mean score of the trials behind the first twenty.
double MeanOfLater(const std::string& name, uint64_t seed) {
  const auto sampler = MakeSampler(name, RateAndChoice(), seed);
  std::vector<Observation> known;
  double sum = 0;
  for (int64_t trial = 0; trial < 60; ++trial) {
    const Position position = sampler->Draw(trial, known);
    for (const double x : position) REQUIRE((x >= 0 && x < 1));
    known.push_back({position, 1, ScoreOf(position)});
    if (trial >= 20) sum += ScoreOf(position);
  }
  return sum / 40;
}

TEST_CASE("sampler: TPE draws nearer to the best than chance") {
  double chance = 0, tpe = 0;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    chance += MeanOfLater("random", seed);
    tpe += MeanOfLater("tpe", seed);
  }
  CHECK(tpe < 0.5 * chance);
}

TEST_CASE("sampler: a trial depends on seed, number and what is known alone") {
  const Space space = RateAndChoice();
  const std::vector<Observation> known(20, {{0.3, 0.3}, 4, 1});
  for (const std::string name : {"random", "tpe"}) {
    const auto a = MakeSampler(name, space, 7), b = MakeSampler(name, space, 7);
    (void)a->Draw(0, {});
    CHECK(a->Draw(5, known) == b->Draw(5, known));
    CHECK(a->Draw(5, known) != a->Draw(6, known));
    CHECK(a->Draw(5, known) != MakeSampler(name, space, 8)->Draw(5, known));
  }
  CHECK(MakeSampler("best", space, 7) == nullptr);
}

TEST_CASE("sampler: trials that all failed do no harm to TPE") {
  const auto sampler = MakeSampler("tpe", RateAndChoice(), 1);
  const std::vector<Observation> known(20, {{0.99, 0}, 1, HUGE_VAL});
  for (const double x : sampler->Draw(20, known)) CHECK((x >= 0 && x < 1));
}

}  // namespace
}  // namespace mxc::tune
