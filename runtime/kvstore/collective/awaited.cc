// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/collective/awaited.h"

namespace mxc::kvstore {

Mesh::Done Awaited::Teller() {
  {
    const std::lock_guard lock(state_->mutex);
    ++state_->open;
  }
  return [state = state_](const Status& status) {
    const std::lock_guard lock(state->mutex);
    --state->open;
    if (state->status.ok()) state->status = status;
    state->changed.notify_all();
  };
}

Status Awaited::Await() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [this] { return state_->open == 0; });
  return state_->status;
}

}  // namespace mxc::kvstore
