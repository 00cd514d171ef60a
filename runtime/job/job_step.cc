// SPDX-License-Identifier: Apache-2.0
#include "runtime/job/job_step.h"

namespace mxc::job {

// A worker whose process was replaced goes on where the servers are by now.
StatusOr<train::Position> JobStep::Begin(const train::Position& own,
                                         const train::EpochLength& length) {
  begun_ = true;
  const StatusOr<uint64_t> round = worker_.Join();
  if (!round.ok()) return round.status();
  train::Position at = own;
  const auto position = std::as_writable_bytes(std::span(&at, 1));
  if (rank_ == 0) {
    for (uint32_t key = 0; key < keys_.position; ++key) {
      worker_.Init(key, ValueOf(key));
    }
    worker_.Init(keys_.position, position);
    MXC_RT_RETURN_IF_ERROR(worker_.Wait());
    if (!worker_.replaces()) return at;
  }
  MXC_RT_RETURN_IF_ERROR(PullAll(position));
  return After(*round, at, length);
}

Status JobStep::PullAll(std::span<std::byte> position) {
  for (uint32_t key = 0; key < keys_.position; ++key) {
    if (!keys_.table[key].trained) continue;
    worker_.Pull(key, ValueOf(key), keys_.table[key].priority);
  }
  worker_.Pull(keys_.position, position);
  return worker_.Wait();
}

}  // namespace mxc::job
