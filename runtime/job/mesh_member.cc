// SPDX-License-Identifier: Apache-2.0
#include "runtime/job/mesh_member.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace mxc::job {
namespace {

// What a mesh says once it is done with a message.
class Outcome {
 public:
  kvstore::Mesh::Done Teller() {
    return [this](const Status& status) {
      const std::lock_guard lock(mutex_);
      status_ = status;
      changed_.notify_all();
    };
  }

  Status Await() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return status_.has_value(); });
    return *status_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Status> status_;
};

}  // namespace

void MeshMember::RefuseSums() {
  status_ = Fail(StatusCode::kUnsupported,
                 "the stages of a pipeline sum nothing among themselves");
}

// That it cannot go shows where the answer does not come.
void MeshMember::Send(const void* from, uint64_t bytes, size_t device) {
  const auto* first = static_cast<const std::byte*>(from);
  const auto copy =
      std::make_shared<const std::vector<std::byte>>(first, first + bytes);
  mesh_->Send(static_cast<uint32_t>(device), kTensors, *copy,
              [copy](const Status&) {});
}

void MeshMember::Receive(void* to, uint64_t bytes, size_t device) {
  if (!status_.ok()) return;
  status_ = ReceiveIn(kTensors, device, {static_cast<std::byte*>(to), bytes});
}

Status MeshMember::ReceiveIn(Slot slot, size_t device,
                             std::span<std::byte> bytes) {
  Outcome outcome;
  mesh_->Receive(static_cast<uint32_t>(device), slot, bytes, outcome.Teller());
  return outcome.Await();
}

Status MeshMember::SendApart(size_t device, std::span<const std::byte> bytes) {
  Outcome outcome;
  mesh_->Send(static_cast<uint32_t>(device), kApart, bytes, outcome.Teller());
  return outcome.Await();
}

Status MeshMember::ReceiveApart(size_t device, std::span<std::byte> bytes) {
  return ReceiveIn(kApart, device, bytes);
}

}  // namespace mxc::job
