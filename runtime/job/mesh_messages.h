// SPDX-License-Identifier: Apache-2.0
// What two workers tell each other beside what they compute; both wait until it
// has gone, or come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "runtime/job/status.h"
#include "runtime/kvstore/collective/mesh.h"

namespace mxc::job {

// The slots of a mesh's messages.
enum MeshSlot : uint64_t { kTensorSlot, kApartSlot };

Status SendIn(MeshSlot slot, kvstore::Mesh& mesh, size_t to,
              std::span<const std::byte> bytes);
Status ReceiveIn(MeshSlot slot, kvstore::Mesh& mesh, size_t from,
                 std::span<std::byte> bytes);

// Something large, of which both ends have no more than a piece in memory: one
// follows once the one before was taken.
using TakePiece = std::function<Status(std::span<const std::byte>)>;
Status SendPieces(kvstore::Mesh& mesh, size_t to,
                  std::span<const std::byte> bytes);
Status ReceivePieces(kvstore::Mesh& mesh, size_t from, uint64_t bytes,
                     const TakePiece& take);

// Returns what worker 0 says, of all of which each says something.
StatusOr<bool> AskFirst(kvstore::Mesh& mesh, bool own);

// Until all workers have come to it.
Status AwaitOthers(kvstore::Mesh& mesh);

}  // namespace mxc::job
