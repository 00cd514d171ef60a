// SPDX-License-Identifier: Apache-2.0
#include "runtime/tune/search.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <list>
#include <system_error>
#include <thread>
#include <utility>

#include "runtime/base/start_thread.h"

namespace mxc::tune {

// A task on its thread.
struct Search::Running {
  Task task;
  int64_t end = 0;  // in epochs since the search began
  std::future<Status> done;
  std::thread thread;

  Running() = default;
  Running(Running&&) = default;
  ~Running() {
    if (thread.joinable()) thread.join();
  }
};

Search::Search(SearchOptions options, Trainee& trainee, Record& record,
               Watcher& watcher, const std::atomic<int>& interrupted)
    : options_(std::move(options)),
      trainee_(trainee),
      record_(record),
      watcher_(watcher),
      interrupted_(interrupted),
      asha_(options_.pruning),
      sampler_(MakeSampler(options_.sampler, options_.space, options_.seed)) {}

StatusOr<Texts> Search::ParametersOf(const Task& task) {
  const auto trial = static_cast<size_t>(task.trial);
  if (trial == positions_.size()) {
    positions_.push_back(sampler_->Draw(task.trial, known_));
  }
  Texts parameters;
  for (size_t i = 0; i < options_.space.size(); ++i) {
    const Dimension& dimension = options_.space[i];
    parameters.emplace_back(dimension.name, dimension.At(positions_[trial][i]));
  }
  if (task.from == 0) {
    MXC_RT_RETURN_IF_ERROR(record_.Begin(task.trial, parameters));
  }
  return parameters;
}

// Returns whether the record has all that the task would find.
bool Search::Done(const Task& task) const {
  const TrialRecord trial = record_.trial(task.trial);
  if (!trial.over.empty()) return true;
  for (int64_t epoch = task.from + 1; epoch <= task.to; ++epoch) {
    if (!trial.epochs.contains(epoch)) return false;
  }
  return true;
}

Status Search::Start(const Task& task, int64_t now,
                     std::list<Running>& running) {
  MXC_RT_ASSIGN(Texts parameters, ParametersOf(task));
  Running started;
  started.task = task;
  started.end = now + task.to - task.from;
  std::promise<Status> promise;
  started.done = promise.get_future();
  if (Done(task)) {
    promise.set_value({});
  } else {
    try {
      started.thread = runtime::StartThread(
          "trains a trial", [this, task, parameters = std::move(parameters),
                             promise = std::move(promise)]() mutable {
            promise.set_value(trainee_.Train(task, parameters, record_));
          });
    } catch (const std::system_error& error) {
      return {StatusCode::kIo, error.what()};
    }
  }
  running.push_back(std::move(started));
  return {};
}

Status Search::Await(Running& awaited, const std::list<Running>& running) {
  constexpr std::chrono::milliseconds kLook(100);
  std::vector<Task> tasks;
  for (const Running& task : running) tasks.push_back(task.task);
  while (awaited.done.wait_for(kLook) != std::future_status::ready) {
    watcher_.Look(record_, tasks);
  }
  watcher_.Look(record_, tasks);
  return awaited.done.get();
}

void Search::Report(const Task& task) {
  const TrialRecord trial = record_.trial(task.trial);
  const auto [value, epoch] = trial.Best(task.to, options_.less_is_better);
  double score = options_.less_is_better ? value : -value;
  // A record that is read again may tell of a failure in a later task.
  const bool failed = trial.failed() && !trial.epochs.contains(task.to);
  if (failed || epoch == 0) score = HUGE_VAL;
  asha_.Report(task, score);
  known_.push_back(
      {positions_[static_cast<size_t>(task.trial)], task.to, score});
}

StatusOr<SearchResult> Search::Run() {
  std::list<Running> running;
  int64_t now = 0;
  while (true) {
    while (std::ssize(running) < options_.parallel) {
      const std::optional<Task> task = asha_.Next();
      if (!task) break;
      MXC_RT_RETURN_IF_ERROR(Start(*task, now, running));
    }
    if (running.empty()) break;
    const auto first = std::ranges::min_element(running, {}, &Running::end);
    MXC_RT_RETURN_IF_ERROR(Await(*first, running));
    if (interrupted_ != 0) break;
    now = first->end;
    Report(first->task);
    running.erase(first);
  }
  running.clear();  // waits
  SearchResult result = Result();
  result.interrupted = interrupted_ != 0;
  return result;
}

SearchResult Search::Result() const {
  SearchResult result;
  const std::vector<TrialRecord> trials = record_.trials();
  for (size_t i = 0; i < trials.size(); ++i) {
    if (trials[i].failed()) continue;
    const auto [value, epoch] =
        trials[i].Best(options_.pruning.epochs, options_.less_is_better);
    const bool better =
        options_.less_is_better ? value < result.value : value > result.value;
    if (epoch == 0 || (result.best >= 0 && !better)) continue;
    result = {.best = static_cast<int64_t>(i),
              .epoch = epoch,
              .value = value,
              .interrupted = false};
  }
  return result;
}

}  // namespace mxc::tune
