// SPDX-License-Identifier: Apache-2.0
// A Client with a thread of its own, so that a worker's computing hides its
// communication, and its heartbeats go on while it computes.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/kvstore/client.h"

namespace mxc::kvstore {

// Used by one thread at a time.
class Worker {
 public:
  // Both must outlive the worker.
  Worker(Transport& transport, const KeyTable& keys,
         const ClientOptions& options);
  // Servers that have not been told Finish see a lost worker.
  ~Worker();

  // The client's calls; they begin, and return.
  void Init(uint32_t key, Bytes value);
  void Push(uint32_t key, std::span<const float> gradient, double rate,
            int64_t priority = 0);
  void Pull(uint32_t key, std::span<std::byte> out, int64_t priority = 0);
  void PushPull(uint32_t key, std::span<const float> gradient, double rate,
                std::span<std::byte> out, int64_t priority = 0);
  void PushRows(uint32_t key, const Rows& gradient, double rate,
                int64_t priority = 0);
  // The numbers are copied.
  void PullRows(uint32_t key, std::span<const uint64_t> numbers,
                std::span<float> out, int64_t priority = 0);
  void PullChanges(uint32_t key, std::span<std::byte> out,
                   int64_t priority = 0);
  // Until it is known whether another process was this worker before, and
  // where the job is then (Client::Join): the rounds.
  StatusOr<uint64_t> Join();
  bool replaces();
  // Client::Residual, while nothing is under way.
  std::span<float> Residual(uint32_t key);
  // Until all that was begun is done, or cannot be done any more.
  Status Wait();
  // The same of one key.
  Status Wait(uint32_t key);
  // Tells the servers that this worker has finished.
  Status Finish();
  // The same, for a reason for which the whole job ends.
  void Abort(const std::string& sentence);

 private:
  // What has left and is not back, for a trace.
  struct Flight {
    uint32_t key = 0;
    int64_t begin = 0;
  };

  void Loop();
  Status Pump();
  void NoteArrivals();
  void Begin(const std::function<void(Client&)>& call);
  Status WaitFor(const std::function<bool(const Client&)>& done);

  Transport& transport_;
  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  Client client_;
  Status status_;
  bool stop_ = false;
  std::vector<std::string> names_;  // of the keys
  std::vector<Flight> flights_;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace mxc::kvstore
