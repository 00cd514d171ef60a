// SPDX-License-Identifier: Apache-2.0
#include "runtime/job/mesh_member.h"

#include <memory>
#include <vector>

#include "runtime/job/mesh_messages.h"

namespace mxc::job {

void MeshMember::RefuseSums() {
  status_ = Fail(StatusCode::kUnsupported,
                 "the stages of a pipeline sum nothing among themselves");
}

// That it cannot go shows where the answer does not come.
void MeshMember::Send(const void* from, uint64_t bytes, size_t device) {
  const auto* first = static_cast<const std::byte*>(from);
  const auto copy =
      std::make_shared<const std::vector<std::byte>>(first, first + bytes);
  mesh_->Send(static_cast<uint32_t>(device), kTensorSlot, *copy,
              [copy](const Status&) {});
}

void MeshMember::Receive(void* to, uint64_t bytes, size_t device) {
  if (!status_.ok()) return;
  status_ = ReceiveIn(kTensorSlot, *mesh_, device,
                      {static_cast<std::byte*>(to), bytes});
}

}  // namespace mxc::job
