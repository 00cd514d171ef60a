// SPDX-License-Identifier: Apache-2.0
// Sums over all workers of a job, of equal bytes on all, without a server: by
// gloo over a mesh. The first values have to be alike; then so are all that
// follow, if workers make of them the same.
//
// Gradients travel in buckets, in an order that was compiled: workers agree
// about it when they begin, and never talk about it again.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "runtime/kvstore/collective/exchange_thread.h"
#include "runtime/kvstore/collective/mesh.h"

struct mxc_gloo;
struct mxc_mesh;

namespace mxc::kvstore {

// Used by one thread at a time.
class AllReduce {
 public:
  // Waits until all workers are connected. kUnsupported where there is no gloo
  // and it is needed: for more than one worker.
  static StatusOr<std::unique_ptr<AllReduce>> Make(std::unique_ptr<Mesh> mesh);
  ~AllReduce();

  // Begins, and returns; sums are made one after the other. Until Wait the
  // values belong to the sum. All workers begin the same ones in the same
  // order. An error is for good: Wait tells it.
  void Begin(std::span<float> values) {
    thread_->Begin([this, values] { return Sum(values); });
  }
  // Until so many of those that were begun are there, from the first on.
  Status Wait(uint64_t sums) { return thread_->Wait(sums); }
  Status Wait() { return Wait(begun()); }
  // How many were begun.
  uint64_t begun() const { return thread_->begun(); }

 private:
  explicit AllReduce(std::unique_ptr<Mesh> mesh);
  Status Load();
  Status Sum(std::span<float> values);

  const std::unique_ptr<Mesh> mesh_;
  const std::unique_ptr<mxc_mesh> calls_;
  mxc_gloo* gloo_ = nullptr;
  std::optional<ExchangeThread> thread_;  // uses the rest
};

}  // namespace mxc::kvstore
