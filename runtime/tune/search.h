// SPDX-License-Identifier: Apache-2.0
// A search: trials are drawn, trained side by side, compared and stopped.
//
// Which trial comes next depends on how others did, never on how long they took:
// tasks end in the order in which they would if every epoch took equally long.
// So one seed gives the same trials and the same result every time, also where
// the search was killed and went on from its record.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "runtime/tune/asha.h"
#include "runtime/tune/record.h"
#include "runtime/tune/sampler.h"
#include "runtime/tune/space.h"

namespace mxc::tune {

struct SearchOptions {
  Space space;
  AshaOptions pruning;
  std::string sampler = "random";
  uint64_t seed = 0;
  int parallel = 1;            // trials at once
  bool less_is_better = true;  // of the objective
};

struct SearchResult {
  int64_t best = -1;  // the trial; -1: none has a value
  int64_t epoch = 0;  // its best one
  double value = 0;
  bool interrupted = false;
};

// Trains. Called by several threads, each with another trial.
class Trainee {
 public:
  virtual ~Trainee() = default;

  // Goes on with the trial until it has made `task.to` epochs, of which it adds
  // every one to the record before the epoch's checkpoint may be seen. A trial
  // that cannot go on for its parameters ends in the record, and is no error.
  virtual Status Train(const Task& task, const Texts& parameters,
                       Record& record) = 0;
};

// What a person sees of it; on the thread that runs the search.
class Watcher {
 public:
  virtual ~Watcher() = default;

  // Something may have changed: about ten times a second and after every task.
  virtual void Look(const Record& record, const std::vector<Task>& running) = 0;
};

class Search {
 public:
  // All must outlive it; `interrupted` is set by a signal's handler, and the
  // trainee looks at it, too.
  Search(SearchOptions options, Trainee& trainee, Record& record,
         Watcher& watcher, const std::atomic<int>& interrupted);

  StatusOr<SearchResult> Run();

 private:
  struct Running;

  Status Start(const Task& task, int64_t now, std::list<Running>& running);
  Status Await(Running& task, const std::list<Running>& running);
  void Report(const Task& task);
  StatusOr<Texts> ParametersOf(const Task& task);
  bool Done(const Task& task) const;
  SearchResult Result() const;

  const SearchOptions options_;
  Trainee& trainee_;
  Record& record_;
  Watcher& watcher_;
  const std::atomic<int>& interrupted_;
  Asha asha_;
  const std::unique_ptr<Sampler> sampler_;
  std::vector<Position> positions_;  // of each trial that has begun
  std::vector<Observation> known_;   // in the order of the reports
};

}  // namespace mxc::tune
