// SPDX-License-Identifier: Apache-2.0
// Which trial is trained next, and until which epoch: asynchronous successive
// halving (Li et al., A System for Massively Parallel Hyperparameter Tuning,
// arXiv 1810.05934, algorithm 2). Whoever is free takes the deepest rung in
// which a trial is among the best 1/reduction and was not promoted, else a new
// trial; nobody waits for a rung to be full.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace mxc::tune {

// Train `trial`, which has made `from` epochs, until it has made `to`.
struct Task {
  int64_t trial = 0, from = 0, to = 0;
};

struct AshaOptions {
  int64_t trials = 1;
  int64_t epochs = 1;        // of a trial that is never stopped
  int64_t first_epochs = 1;  // of every trial
  int64_t reduction = 4;     // one of so many goes on
  bool prunes = true;        // false: every trial makes all epochs
};

class Asha {
 public:
  explicit Asha(const AshaOptions& options);

  // The epochs at which trials are compared, the last one being all of them.
  const std::vector<int64_t>& rungs() const { return rungs_; }
  // Nothing: until a task is reported there is nothing to do, or nothing ever
  // again.
  std::optional<Task> Next();
  // How a task ended: less is better; infinity: the trial has failed, and never
  // goes on.
  void Report(const Task& task, double score);

 private:
  struct Entry {
    double score;
    int64_t trial;
    auto operator<=>(const Entry&) const = default;
  };
  struct Rung {
    std::set<Entry> entries;  // the best first; equal ones by number
    std::set<int64_t> promoted;
  };

  std::optional<int64_t> Promotable(const Rung& rung) const;

  const AshaOptions options_;
  std::vector<int64_t> rungs_;
  std::vector<Rung> results_;  // of each rung
  int64_t begun_ = 0;
};

}  // namespace mxc::tune
