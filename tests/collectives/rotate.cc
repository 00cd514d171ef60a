// SPDX-License-Identifier: Apache-2.0
// A collective as somebody might add one: each device hands its tensor to the
// next, the last one to the first.
#include "tests/collectives/rotate.h"

namespace mxc::runtime {

void Rotate(Member& member, const CollectiveTensor& tensor) {
  const size_t count = member.count(), here = member.number();
  member.Send(tensor.from, tensor.from_bytes, (here + 1) % count);
  member.Receive(tensor.to, tensor.to_bytes, (here + count - 1) % count);
}

}  // namespace mxc::runtime
