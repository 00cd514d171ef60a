// SPDX-License-Identifier: Apache-2.0
// Milliseconds of a training step of workers and servers, each behind a link of
// its own, of which all is real but the computation: processes, connections
// under TLS, sums and updates. A worker sleeps for as long as each of its steps
// takes, so that four of them have a processor's time each, on a machine with
// fewer processors.
//
//   links_bench SCHEDULE ORDER SLICE STEPS SERVERS MACHINE...
//
// ORDER: barrier, gradients leave after the step; fifo, when they are final;
// priority, and those that are needed first come first. SLICE: Settings::slice.
// MACHINE: NAMESPACE@IP, of a server or a worker; the servers come first.
// SCHEDULE: what tests/bench/link_schedule.py writes. tests/bench/links.sh makes
// namespaces.
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/file.h"
#include "runtime/kvstore/server.h"
#include "runtime/kvstore/transport/sockets.h"
#include "runtime/kvstore/worker.h"

namespace mxc::kvstore {
namespace {

constexpr int kWarmUp = 3;  // steps
constexpr double kRate = 0.25;

[[noreturn]] void Stop(const std::string& why) {
  std::fprintf(stderr, "links_bench: %s\n", why.c_str());
  std::_Exit(1);
}

template <class T>
T Value(StatusOr<T> value) {
  if (!value.ok()) Stop(value.status().message());
  return std::move(*value);
}

void Require(const Status& status) {
  if (!status.ok()) Stop(status.message());
}

// A parameter's way: runtime::Exchange, by key.
struct Exchange {
  uint32_t key = 0;
  size_t ready = 0, needed = 0;
};

struct Schedule {
  std::vector<int64_t> steps;  // nanoseconds of each
  KeyTable keys;
  std::vector<Exchange> by_ready, by_needed;
};

// Lines "step NANOSECONDS" and "exchange BYTES READY NEEDED PRIORITY NAME".
Schedule ReadSchedule(const char* path, bool urgent) {
  Schedule schedule;
  std::ifstream file(path);
  for (std::string kind; file >> kind;) {
    if (kind == "step") {
      file >> schedule.steps.emplace_back();
      continue;
    }
    KeySpec& key = schedule.keys.emplace_back();
    Exchange& exchange = schedule.by_ready.emplace_back();
    exchange.key = key.group = static_cast<uint32_t>(schedule.keys.size() - 1);
    key.trained = true;
    file >> key.bytes >> exchange.ready >> exchange.needed >> key.priority >>
        key.name;
    if (!urgent) key.priority = 0;
  }
  if (schedule.keys.empty()) Stop(std::string(path) + " is no schedule");
  std::ranges::stable_sort(schedule.by_ready, {}, &Exchange::ready);
  schedule.by_needed = schedule.by_ready;
  std::ranges::stable_sort(schedule.by_needed, {}, &Exchange::needed);
  return schedule;
}

struct Machine {
  std::string space, address;
};

struct Job {
  Schedule schedule;
  bool barrier = false;
  int steps = 0;
  uint64_t slice = 0;
  std::vector<Machine> servers, workers;
  Credentials secret;

  Settings Agreed() const {
    Settings settings;
    settings.workers = static_cast<uint32_t>(workers.size());
    settings.servers = static_cast<uint32_t>(servers.size());
    settings.slice = slice;
    settings.keys = Digest(schedule.keys);
    return settings;
  }
};

// In a child: what follows happens on that machine.
void Enter(const Machine& machine) {
  const std::string path = "/run/netns/" + machine.space;
  const runtime::Descriptor space(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (setns(space.get(), CLONE_NEWNET) != 0) Stop("cannot enter " + path);
  prctl(PR_SET_TIMERSLACK, 1);
}

// Plain gradient descent.
class Descent final : public Shelf {
 public:
  explicit Descent(const KeyTable& keys) : values_(keys) {}

  std::span<std::byte> Value(uint32_t key) override {
    return values_.Value(key);
  }
  void OnWritten(uint32_t) override {}
  Status Update(uint32_t key, uint64_t first, std::span<const float> gradient,
                double rate) override {
    auto* value = reinterpret_cast<float*>(Value(key).data()) + first;
    const auto factor = static_cast<float>(rate);
    for (size_t i = 0; i < gradient.size(); ++i) {
      value[i] -= factor * gradient[i];
    }
    return {};
  }

 private:
  PlainShelf values_;
};

int Serve(const Job& job, const Machine& machine) {
  Enter(machine);
  const auto transport = Value(MakeSockets());
  const auto listener = Value(transport->Listen(machine.address + ":4711"));
  Descent shelf(job.schedule.keys);
  const auto tls = Value(Tls::Make(Side::kServer, job.secret));
  Server server(*transport, *listener, job.schedule.keys, shelf,
                {job.Agreed(), {}, tls.get(), ""});
  Require(Serve(server, *transport));
  return 0;
}

void SleepUntil(int64_t moment) {
  const timespec until = {moment / 1'000'000'000, moment % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) !=
         0) {
  }
}

// Does what tools/run/distributed_step.cc does around an executor's steps.
class Trainee {
 public:
  Trainee(const Job& job, Worker& worker) : job_(job), worker_(worker) {
    for (const KeySpec& key : job.schedule.keys) {
      values_.emplace_back(key.elements());
      gradients_.emplace_back(key.elements(), 1.f);
    }
  }

  void Begin(bool first) {
    for (uint32_t key = 0; key < values_.size(); ++key) {
      if (first) worker_.Init(key, BytesOf(key));
    }
    Require(worker_.Wait());
    for (uint32_t key = 0; key < values_.size(); ++key) {
      worker_.Pull(key, BytesOf(key));
    }
    Require(worker_.Wait());
    at_ = runtime::Nanoseconds();
  }

  // Returns the moment of its end.
  int64_t Step() {
    const Schedule& schedule = job_.schedule;
    if (job_.barrier) Await([&] { return worker_.Wait(); });
    auto ready = schedule.by_ready.begin();
    auto needed = schedule.by_needed.begin();
    for (size_t row = 0; row < schedule.steps.size(); ++row) {
      for (; !job_.barrier && ready != schedule.by_ready.end() &&
             ready->ready < row;
           ++ready) {
        SleepUntil(at_);
        Push(ready->key);
      }
      for (; needed != schedule.by_needed.end() && needed->needed <= row;
           ++needed) {
        Await([&] { return worker_.Wait(needed->key); });
      }
      at_ += schedule.steps[row];
    }
    SleepUntil(at_);
    for (; ready != schedule.by_ready.end(); ++ready) Push(ready->key);
    return at_;
  }

  // Every gradient is 1, so that what came of all updates is known.
  void Check() {
    Require(worker_.Wait());
    const double workers = static_cast<double>(job_.workers.size());
    const auto expected = static_cast<float>(-kRate * workers * job_.steps);
    for (const auto& value : values_) {
      if (value.front() != expected || value.back() != expected) {
        Stop("a value is not what all gradients make of it");
      }
    }
  }

 private:
  std::span<std::byte> BytesOf(uint32_t key) {
    return std::as_writable_bytes(std::span(values_[key]));
  }

  void Push(uint32_t key) {
    worker_.PushPull(key, gradients_[key], kRate, BytesOf(key),
                     job_.schedule.keys[key].priority);
  }

  template <class Wait>
  void Await(const Wait& wait) {
    SleepUntil(at_);
    Require(wait());
    at_ = std::max(at_, runtime::Nanoseconds());
  }

  const Job& job_;
  Worker& worker_;
  std::vector<std::vector<float>> values_, gradients_;
  int64_t at_ = 0;  // when what was computed so far is done
};

void Report(const Job& job, const std::vector<int64_t>& ends) {
  const auto& steps = job.schedule.steps;
  const double alone =
      1e-6 * double(std::accumulate(steps.begin(), steps.end(), int64_t{0}));
  const double mean = 1e-6 * double(ends.back() - ends[kWarmUp]) /
                      double(ends.size() - 1 - kWarmUp);
  std::printf("%.1f ms a step, exposed %.1f ms", mean, mean - alone);
  std::fflush(stdout);
}

int Work(const Job& job, uint32_t rank) {
  Enter(job.workers[rank]);
  const auto transport = Value(MakeSockets());
  Credentials own{WorkerIdentity(rank), {}};
  own.key = DeriveKey(job.secret.key, own.identity);
  const auto tls = Value(Tls::Make(Side::kClient, own));
  ClientOptions options;
  options.rank = rank;
  for (const Machine& server : job.servers) {
    options.servers.push_back(server.address + ":4711");
  }
  options.settings = job.Agreed();
  options.tls = tls.get();
  Worker worker(*transport, job.schedule.keys, options);
  Trainee trainee(job, worker);
  trainee.Begin(rank == 0);
  std::vector<int64_t> ends;
  for (int i = 0; i < job.steps; ++i) ends.push_back(trainee.Step());
  trainee.Check();
  if (rank == 0) Report(job, ends);
  Require(worker.Finish());
  return 0;
}

template <class Body>
void Fork(const Body& body) {
  const pid_t child = fork();
  if (child < 0) Stop("cannot fork");
  if (child == 0) std::_Exit(body());
}

bool AwaitChildren() {
  bool well = true;
  for (int status = 0; wait(&status) > 0;) well = well && status == 0;
  return well;
}

int Run(const Job& job) {
  const int64_t begun = runtime::Nanoseconds();
  for (const Machine& machine : job.servers) {
    Fork([&] { return Serve(job, machine); });
  }
  for (uint32_t rank = 0; rank < job.workers.size(); ++rank) {
    Fork([&] { return Work(job, rank); });
  }
  const bool well = AwaitChildren();
  rusage usage = {};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& time) {
    return double(time.tv_sec) + double(time.tv_usec) * 1e-6;
  };
  std::printf(", %.2f processors busy\n",
              (seconds(usage.ru_utime) + seconds(usage.ru_stime)) /
                  (1e-9 * double(runtime::Nanoseconds() - begun)));
  return well ? 0 : 1;
}

int Main(int argc, char** argv) {
  constexpr int kMachines = 6;
  if (argc < kMachines + 2)
    Stop("SCHEDULE ORDER SLICE STEPS SERVERS MACHINE...");
  const std::string order = argv[2];
  Job job;
  job.schedule = ReadSchedule(argv[1], order == "priority");
  job.barrier = order == "barrier";
  job.slice = std::strtoull(argv[3], nullptr, 10);
  job.steps = std::max(std::atoi(argv[4]), kWarmUp + 2);
  job.secret = Value(MakeSecret());
  for (int i = kMachines; i < argc; ++i) {
    const std::string text = argv[i];
    const size_t at = text.find('@');
    const bool serves = i < kMachines + std::atoi(argv[5]);
    (serves ? job.servers : job.workers)
        .push_back({text.substr(0, at), text.substr(at + 1)});
  }
  return Run(job);
}

}  // namespace
}  // namespace mxc::kvstore

int main(int argc, char** argv) { return mxc::kvstore::Main(argc, argv); }
