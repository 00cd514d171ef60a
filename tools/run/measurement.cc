// SPDX-License-Identifier: Apache-2.0
#include "tools/run/measurement.h"

#include <algorithm>
#include <numeric>

#include "runtime/base/clock.h"

namespace mxc::run {
namespace {

using runtime::Nanoseconds;

constexpr int64_t kTurn = 100'000'000;  // ns
constexpr size_t kMostSamples = 10'000'000;

}  // namespace

int64_t Measurement::Percentile(double percent) const {
  if (samples_.empty()) return 0;
  std::vector<int64_t> sorted = samples_;
  const auto rank = static_cast<ptrdiff_t>(
      percent / 100 * static_cast<double>(sorted.size() - 1) + 0.5);
  std::nth_element(sorted.begin(), sorted.begin() + rank, sorted.end());
  return sorted[static_cast<size_t>(rank)];
}

double Measurement::Mean() const {
  if (samples_.empty()) return 0;
  return std::accumulate(samples_.begin(), samples_.end(), 0.0) /
         static_cast<double>(samples_.size());
}

int64_t TimeRun(api::Executor& executor) {
  const int64_t begin = Nanoseconds();
  executor.Run();
  return Nanoseconds() - begin;
}

Measurement MeasureRuns(api::Executor& executor, const Effort& effort) {
  return MeasureInTurns({&executor}, effort).front();
}

std::vector<Measurement> MeasureInTurns(std::vector<api::Executor*> executors,
                                        const Effort& effort) {
  std::vector<Measurement> measured(executors.size());
  const auto enough = [&](const Measurement& m, int64_t spent) {
    if (m.count() >= kMostSamples) return true;
    if (effort.iterations > 0) {
      return m.count() >= static_cast<size_t>(effort.iterations);
    }
    return m.count() > 0 && runtime::SecondsOf(spent) >= effort.seconds;
  };
  for (api::Executor* executor : executors) {
    for (int64_t i = 0; i < effort.warmup; ++i) executor->Run();
  }
  std::vector<int64_t> spent(executors.size());
  for (bool more = true; more;) {
    more = false;
    for (size_t k = 0; k < executors.size(); ++k) {
      const int64_t limit = spent[k] + kTurn;
      // The first run of a turn finds the caches full of the others' data.
      if (executors.size() > 1) executors[k]->Run();
      while (spent[k] < limit && !enough(measured[k], spent[k])) {
        const int64_t time = TimeRun(*executors[k]);
        measured[k].Add(time);
        spent[k] += time;
      }
      more = more || !enough(measured[k], spent[k]);
    }
  }
  return measured;
}

std::vector<int64_t> MeasureSteps(api::Executor& executor, double seconds) {
  executor.Run();
  std::vector<Measurement> steps(executor.StepTimes().size());
  const int64_t end = Nanoseconds() + static_cast<int64_t>(seconds * 1e9);
  for (int i = 0; i < 1000 && (i == 0 || Nanoseconds() < end); ++i) {
    executor.Run();
    const std::span<const int64_t> times = executor.StepTimes();
    for (size_t k = 0; k < times.size(); ++k) steps[k].Add(times[k]);
  }
  std::vector<int64_t> medians;
  for (const Measurement& step : steps) medians.push_back(step.Percentile(50));
  return medians;
}

}  // namespace mxc::run
