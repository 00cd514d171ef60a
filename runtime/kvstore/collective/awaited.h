// SPDX-License-Identifier: Apache-2.0
// Messages of a mesh that a thread waits for, together.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>

#include "runtime/kvstore/collective/mesh.h"

namespace mxc::kvstore {

class Awaited {
 public:
  // For one more message to send or receive.
  Mesh::Done Teller();
  // Until all of them are done with: the first error that there was.
  Status Await();

 private:
  struct State {
    std::mutex mutex;  // of those that follow
    std::condition_variable changed;
    size_t open = 0;
    Status status;
  };

  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace mxc::kvstore
