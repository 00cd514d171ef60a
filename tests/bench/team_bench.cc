// SPDX-License-Identifier: Apache-2.0
// What a phase costs beyond its work: the time from the end of one phase to the
// start of the next, for teams of several sizes.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/executor/executor.h"
#include "runtime/executor/team.h"

namespace mxc::runtime {
namespace {

constexpr uint32_t kPhases = 1000;
constexpr int kRuns = 100;

// A chain of dependent additions, about as long in every chunk.
class Chain : public Work {
 public:
  explicit Chain(int length) : length_(length) {}
  void RunChunk(uint32_t, uint32_t, int, bool) override {
    volatile double sum = 0;
    for (int i = 0; i < length_; ++i) sum = sum + 1;
  }
  uint32_t FinishPhase(uint32_t phase, int) override {
    return phase + 1 < kPhases ? phase + 1 : kNoPhase;
  }

 private:
  const int length_;
};

// Nanoseconds of a phase, the fastest and the median of many runs.
struct Times {
  double least = 0, median = 0;
};

Times Measure(uint32_t threads, uint32_t chunks, int length) {
  Phase phase;
  phase.chunks = chunks;
  phase.participants = threads;
  const std::vector<Phase> phases(kPhases, phase);
  Chain work(length);
  auto team = Team::Start(static_cast<int>(threads));
  if (!team.ok()) return {};
  std::vector<double> times;
  for (int i = 0; i < kRuns; ++i) {
    const int64_t begin = Nanoseconds();
    (*team)->Run(phases, work, 0);
    times.push_back(static_cast<double>(Nanoseconds() - begin) / kPhases);
  }
  std::sort(times.begin(), times.end());
  return {times.front(), times[times.size() / 2]};
}

int Main() {
  std::printf(
      "threads  chunk, ns  phase, ns: least  median   least beyond its work\n");
  const auto most = static_cast<uint32_t>(AvailableThreads());
  for (const int length : {0, 200, 500, 2000}) {
    const double chunk = Measure(1, 1, length).least;
    for (uint32_t threads = 1; threads <= most; threads *= 2) {
      const Times t = Measure(threads, threads, length);
      std::printf("%7u %10.0f %17.0f %7.0f %23.0f\n", threads, chunk, t.least,
                  t.median, t.least - chunk);
    }
  }
  return 0;
}

}  // namespace
}  // namespace mxc::runtime

int main() { return mxc::runtime::Main(); }
