// SPDX-License-Identifier: Apache-2.0
// Messages between the workers of a job, each with each: what a collective
// sends. They travel as frames over channels of their own (channel.h), so they
// are authenticated, encrypted and checked as pushes are, and a worker that is
// silent is noticed.
//
// A message is received where the receiver has asked for it, by its sender and
// slot; those of one sender and slot in the order in which they were sent. Once
// a worker is lost nothing more can be sent or received: a collective without
// it has no result.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "runtime/kvstore/collective/mesh_loop.h"

namespace mxc::kvstore {

// Used by any threads.
class Mesh {
 public:
  // Called once, on the mesh's thread; an error is for good.
  using Done = Inbox::Done;

  // Begins to connect.
  Mesh(std::unique_ptr<Transport> transport, MeshOptions options);
  // Waits for the others to end, too, for a moment.
  ~Mesh();

  uint32_t rank() const { return rank_; }
  uint32_t workers() const { return workers_; }
  // Until all workers are connected, or one cannot be.
  Status AwaitAll();
  // Until `done` the bytes are read, or written.
  void Send(uint32_t to, uint64_t slot, Bytes bytes, Done done);
  void Receive(uint32_t from, uint64_t slot, std::span<std::byte> bytes,
               Done done);
  // As if a worker were lost.
  void Break();

 private:
  void Begin(MeshRequest request);
  void Run();

  const uint32_t rank_, workers_;
  const std::unique_ptr<Transport> transport_;
  std::mutex mutex_;  // of those that follow
  std::condition_variable changed_;
  std::vector<MeshRequest> requests_;
  bool connected_ = false, break_ = false, stop_ = false;
  Status failed_;
  const std::unique_ptr<MeshLoop> loop_;  // the thread's alone
  std::thread thread_;                    // last: it uses the rest
};

}  // namespace mxc::kvstore
