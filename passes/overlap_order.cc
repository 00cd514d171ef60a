// SPDX-License-Identifier: Apache-2.0
#include "passes/overlap_order.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace mxc {
namespace {

// Steps are named by their place in the given order.
class Overlapping {
 public:
  Overlapping(std::span<const double> seconds, const Program& program,
              const Schedule& schedule, const Order& given, int64_t reach)
      : seconds_(seconds),
        program_(program),
        given_(given),
        reach_(reach),
        waiting_(given.size()),
        awaited_(given.size(), 0),
        begin_(given.size(), 0),
        has_run_(given.size(), false) {
    std::vector<int> place(given.size());
    for (int i = 0; i < count(); ++i) place[given[i]] = i;
    for (int i = 0; i < count(); ++i) {
      for (const int b : schedule.before(given[i])) {
        waiting_[place[b]].push_back(i);
        ++awaited_[i];
      }
    }
  }

  TimedOrder Run() && {
    for (int i = 0; i < count(); ++i) {
      if (awaited_[i] == 0) Offer(i);
    }
    while (static_cast<int>(result_.order.size()) < count()) Put(Next());
    result_.seconds = std::max(now_, beside_);
    return std::move(result_);
  }

 private:
  int count() const { return static_cast<int>(given_.size()); }
  const Step& step(int i) const { return program_.steps[given_[i]]; }

  // What it waits for has been put.
  void Offer(int i) {
    if (step(i).body.beside()) {
      free_.insert(i);
    } else if (begin_[i] <= now_) {
      due_.insert(i);
    } else {
      later_.emplace(begin_[i], i);
    }
  }

  // The first step that has not been put waits for nobody but the clock.
  int Next() {
    if (!free_.empty()) return *free_.begin();
    while (has_run_[first_]) ++first_;
    const bool near = !due_.empty() && *due_.begin() - first_ <= reach_;
    return near ? *due_.begin() : first_;
  }

  void Put(int i) {
    free_.erase(i);
    due_.erase(i);
    later_.erase({begin_[i], i});
    has_run_[i] = true;
    result_.order.push_back(given_[i]);
    double& clock = step(i).body.beside() ? beside_ : now_;
    clock = std::max(clock, begin_[i]) + seconds_[given_[i]];
    const double end = clock;
    while (!later_.empty() && later_.begin()->first <= now_) {
      due_.insert(later_.begin()->second);
      later_.erase(later_.begin());
    }
    for (const int w : waiting_[i]) {
      begin_[w] = std::max(begin_[w], end);
      if (--awaited_[w] == 0) Offer(w);
    }
  }

  const std::span<const double> seconds_;  // by step
  const Program& program_;
  const Order& given_;
  const int64_t reach_;
  std::vector<std::vector<int>> waiting_;  // on each step
  std::vector<int> awaited_;               // steps that have not been put
  std::vector<double> begin_;              // seconds: not earlier than this
  std::vector<bool> has_run_;
  int first_ = 0;                           // all before it have been put
  std::set<int> free_;                      // ready, and may run beside
  std::set<int> due_;                       // ready at `now_`
  std::set<std::pair<double, int>> later_;  // ready by then
  double now_ = 0, beside_ = 0;             // when each queue is empty
  TimedOrder result_;
};

}  // namespace

TimedOrder OverlapOrder(std::span<const double> seconds, const Program& program,
                        const Schedule& schedule, const Order& given,
                        int64_t reach) {
  return Overlapping(seconds, program, schedule, given, reach).Run();
}

}  // namespace mxc
