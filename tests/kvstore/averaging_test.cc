// SPDX-License-Identifier: Apache-2.0
// Elastic averaging and block momentum against the formulas in double
// precision, under faults, with workers that take different numbers of steps.
#include <doctest/doctest.h>

#include <random>

#include "runtime/kvstore/averaging.h"
#include "tests/kvstore/job.h"

namespace mxc::kvstore {
namespace {

using Vector = std::vector<double>;

constexpr size_t kLength = 20;

// What a worker's own training adds to an element at a step.
double Change(uint32_t rank, int step, size_t i) {
  std::mt19937_64 random(rank * 100'000 + static_cast<uint64_t>(step) * 100 +
                         i);
  return double(random() % 2001) / 1000 - 1;
}

// Steps of each worker, from 45 to 53.
std::vector<int> StepsOf(uint32_t workers) {
  std::mt19937_64 random(workers);
  std::vector<int> steps(workers);
  for (int& count : steps) count = 45 + static_cast<int>(random() % 9);
  return steps;
}

struct Parameters {
  Vector common;
  std::vector<Vector> own;  // by rank
};

Parameters Reference(const Averaging& rule, const std::vector<int>& steps) {
  const auto workers = static_cast<uint32_t>(steps.size());
  const int period = static_cast<int>(rule.period);
  Parameters out{Vector(kLength), std::vector(workers, Vector(kLength))};
  Vector speed(kLength);
  for (int meeting = 0; meeting * period < 60; ++meeting) {
    for (uint32_t rank = 0; rank < workers; ++rank) {
      const int last = std::min(steps[rank], (meeting + 1) * period);
      for (int step = meeting * period; step < last; ++step) {
        for (size_t i = 0; i < kLength; ++i) {
          out.own[rank][i] += Change(rank, step, i);
        }
      }
    }
    const auto comes = [&](uint32_t rank) {
      return steps[rank] >= (meeting + 1) * period;
    };
    for (size_t i = 0; i < kLength; ++i) {
      double sum = 0;
      bool any = false;
      for (uint32_t rank = 0; rank < workers; ++rank) {
        if (!comes(rank)) continue;
        any = true;
        double& own = out.own[rank][i];
        if (rule.rule == Averaging::Rule::kElastic) {
          const double pull = rule.alpha * (own - out.common[i]);
          own -= pull;
          sum += pull;
        } else {
          sum += out.common[i] - own;
        }
      }
      if (!any) continue;
      if (rule.rule == Averaging::Rule::kElastic) {
        out.common[i] += sum;
        continue;
      }
      speed[i] =
          rule.momentum * speed[i] + (1 - rule.momentum) * rule.rate * sum;
      out.common[i] -= speed[i];
      for (uint32_t rank = 0; rank < workers; ++rank) {
        if (comes(rank)) out.own[rank][i] = out.common[i];
      }
    }
  }
  return out;
}

// A worker as tools/run has it: it trains, meets, and leaves at its end.
struct Trainer {
  int step = 0;
  bool left = false;
  std::vector<float> own = std::vector<float>(kLength);
  std::vector<float> common = std::vector<float>(kLength);
  std::vector<float> push = std::vector<float>(kLength);
};

void Act(const Averaging& rule, uint32_t rank, int steps, Trainer& worker,
         Client& client) {
  if (!client.idle() || worker.left) return;
  const bool met =
      worker.step > 0 && worker.step % static_cast<int>(rule.period) == 0;
  if (met && rule.rule == Averaging::Rule::kBlockMomentum) {
    worker.own = worker.common;
  }
  if (worker.step == steps) {
    client.Finish();
    worker.left = true;
    return;
  }
  for (size_t i = 0; i < kLength; ++i) {
    worker.own[i] += static_cast<float>(Change(rank, worker.step, i));
  }
  if (++worker.step % static_cast<int>(rule.period) != 0) return;
  Meet(rule, worker.own, worker.common, worker.push);
  client.PushPull(0, worker.push, 1,
                  std::as_writable_bytes(std::span(worker.common)));
}

void Compare(const std::vector<float>& found, const Vector& expected) {
  for (size_t i = 0; i < kLength; ++i) {
    REQUIRE(std::abs(found[i] - expected[i]) < 1e-5);
  }
}

void CheckRule(Averaging rule, uint32_t workers, uint64_t seed) {
  Settings settings;
  settings.workers = workers;
  const auto settled = rule.For(workers);
  REQUIRE_MESSAGE(settled.ok(), settled.status().message());
  MemoryFaults faults;
  faults.seed = seed;
  faults.most_delay = kSecond / 50;
  faults.breaks = 0.01;
  Job job(
      faults, KeysOf({kLength}), settings, 1, {},
      [&](const KeyTable& keys) { return MakeAveragingShelf(keys, *settled); });
  std::vector<Trainer> team(workers);
  job.workers[0]->Init(0, std::as_bytes(std::span(team[0].common)));
  REQUIRE(job.Run().ok());
  const std::vector<int> steps = StepsOf(workers);
  for (int turn = 0; turn < 100'000; ++turn) {
    bool all = true;
    for (uint32_t rank = 0; rank < workers; ++rank) {
      Act(*settled, rank, steps[rank], team[rank], *job.workers[rank]);
      all = all && job.workers[rank]->finished();
    }
    if (all) break;
    const Status status = job.Turn();
    REQUIRE_MESSAGE(status.ok(), status.message());
  }
  const Parameters expected = Reference(*settled, steps);
  for (uint32_t rank = 0; rank < workers; ++rank) {
    REQUIRE(job.workers[rank]->finished());
    CAPTURE(rank);
    Compare(team[rank].own, expected.own[rank]);
  }
  const auto last = std::ranges::max_element(steps) - steps.begin();
  Compare(team[static_cast<size_t>(last)].common, expected.common);
}

TEST_CASE("elastic averaging does what its formulas say") {
  for (const uint32_t workers : {2u, 4u, 8u}) {
    Averaging rule;
    rule.period = 3;
    CheckRule(rule, workers, workers);
    rule.alpha = 0.2;
    CheckRule(rule, workers, workers + 10);
  }
}

TEST_CASE("block momentum does what its formulas say") {
  for (const uint32_t workers : {2u, 4u}) {
    Averaging rule;
    rule.rule = Averaging::Rule::kBlockMomentum;
    rule.period = 5;
    CheckRule(rule, workers, workers);
    rule.momentum = 0.5;
    rule.rate = 0.7;
    CheckRule(rule, workers, workers + 10);
  }
}

TEST_CASE("numbers with which workers would drift apart are refused") {
  Averaging rule;
  rule.alpha = 0.5;
  CHECK(rule.For(2).ok());
  CHECK(rule.For(3).status().message() ==
        "elastic averaging of 3 workers with alpha 0.5 does not settle; "
        "expected one above 0 and below 0.5");
  rule.period = 0;
  CHECK_FALSE(rule.For(1).ok());
}

}  // namespace
}  // namespace mxc::kvstore
