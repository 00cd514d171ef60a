// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/batch_queue.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <system_error>
#include <utility>

#include "runtime/base/clock.h"
#include "runtime/base/start_thread.h"
#include "tools/run/failure.h"

namespace mxc::serve {
namespace {

// A job whose question is known.
struct Asked {
  Job job;
  Question question;
  std::optional<Samples> samples;
};

void Send(const Asked& asked, Answer answer) {
  const Predictor& predictor = *asked.job.predictor;
  auto doubts = predictor.DoubtsOf(asked.question);
  answer.warnings.insert(answer.warnings.begin(), doubts.begin(), doubts.end());
  asked.job.respond(JsonResponse(AnswerJson(
      asked.question, answer, predictor.name(), predictor.labels())));
}

// What goes wrong in `action` is the answer.
template <class Action>
void Answering(const Respond& respond, Action action) {
  try {
    action();
  } catch (const run::Failure& failure) {
    respond(ErrorResponse(400, failure.messages()));
  } catch (const std::bad_alloc&) {
    respond(ErrorResponse(500, {"out of memory"}));
  } catch (const std::exception& failure) {
    respond(ErrorResponse(500, {failure.what()}));
  }
}

void RunTogether(std::span<Asked> group) {
  if (group.empty()) return;
  std::vector<Samples> samples;
  for (const Asked& asked : group) samples.push_back(*asked.samples);
  std::vector<Answer> answers;
  try {
    answers = group.front().job.predictor->Run(samples);
  } catch (const std::exception&) {
    for (const Asked& asked : group) {
      Answering(asked.job.respond, [] { throw; });
    }
    return;
  }
  for (size_t k = 0; k < group.size(); ++k) {
    Answering(group[k].job.respond,
              [&] { Send(group[k], std::move(answers[k])); });
  }
}

// Jobs of one network: those whose samples fit into a batch run together.
void AnswerAll(std::vector<Job> jobs) {
  std::vector<Asked> group;
  int64_t held = 0;
  for (Job& job : jobs) {
    const Respond respond = job.respond;
    Answering(respond, [&] {
      Predictor& predictor = *job.predictor;
      Asked asked = {std::move(job), {}, {}};
      asked.question = QuestionOf(*asked.job.request);
      asked.samples = predictor.SamplesOf(asked.question);
      if (!asked.samples) {
        return Send(asked, predictor.RunAlone(asked.question));
      }
      const int64_t count = asked.samples->count();
      if (held + count > predictor.most_together()) {
        RunTogether(group);
        group.clear();
        held = 0;
      }
      group.push_back(std::move(asked));
      held += count;
    });
  }
  RunTogether(group);
}

}  // namespace

BatchQueue::BatchQueue(const Options& options) : options_(options) {
  for (size_t i = 0; i < options.workers; ++i) {
    try {
      threads_.push_back(
          runtime::StartThread("answers requests", [this] { Work(); }));
    } catch (const std::system_error&) {
      if (threads_.empty()) throw;
      break;  // fewer answer
    }
  }
}

BatchQueue::~BatchQueue() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool BatchQueue::Push(Job job) {
  job.since = runtime::Nanoseconds();
  {
    const std::lock_guard lock(mutex_);
    if (jobs_.size() >= options_.most_waiting) return false;
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
  return true;
}

size_t BatchQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return jobs_.size();
}

// Waits for other requests, as long as the oldest may wait for them. False: it
// is another worker's by now.
bool BatchQueue::Complete(std::unique_lock<std::mutex>& lock) {
  const auto most =
      static_cast<size_t>(jobs_.front().predictor->most_together());
  while (!ended_ && !jobs_.empty() && jobs_.size() < most) {
    const int64_t left =
        jobs_.front().since + options_.delay - runtime::Nanoseconds();
    if (left <= 0) break;
    changed_.wait_for(lock, std::chrono::nanoseconds(left));
  }
  return !jobs_.empty();
}

std::vector<Job> BatchQueue::Take() {
  std::unique_lock lock(mutex_);
  do {
    changed_.wait(lock, [this] { return !jobs_.empty() || ended_; });
    if (jobs_.empty()) return {};
  } while (!Complete(lock));
  std::vector<Job> taken;
  const std::shared_ptr<Predictor> predictor = jobs_.front().predictor;
  while (!jobs_.empty() && jobs_.front().predictor == predictor &&
         std::ssize(taken) < predictor->most_together()) {
    taken.push_back(std::move(jobs_.front()));
    jobs_.pop_front();
  }
  return taken;
}

void BatchQueue::Work() {
  for (;;) {
    std::vector<Job> jobs = Take();
    if (jobs.empty()) return;
    const int64_t oldest = runtime::Nanoseconds() - options_.patience;
    std::erase_if(jobs, [&](const Job& job) {
      const bool late = job.since < oldest;
      if (late) job.respond(BusyResponse("the request has waited too long"));
      return late;
    });
    ++batches_;
    requests_ += jobs.size();
    AnswerAll(std::move(jobs));
  }
}

}  // namespace mxc::serve
