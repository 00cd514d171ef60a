// SPDX-License-Identifier: Apache-2.0
#include "runtime/job/mesh_messages.h"

#include <algorithm>
#include <vector>

#include "runtime/kvstore/collective/awaited.h"

namespace mxc::job {
namespace {

constexpr uint64_t kPiece = 4 << 20;

}  // namespace

Status SendIn(MeshSlot slot, kvstore::Mesh& mesh, size_t to,
              std::span<const std::byte> bytes) {
  kvstore::Awaited awaited;
  mesh.Send(static_cast<uint32_t>(to), slot, bytes, awaited.Teller());
  return awaited.Await();
}

Status ReceiveIn(MeshSlot slot, kvstore::Mesh& mesh, size_t from,
                 std::span<std::byte> bytes) {
  kvstore::Awaited awaited;
  mesh.Receive(static_cast<uint32_t>(from), slot, bytes, awaited.Teller());
  return awaited.Await();
}

Status SendPieces(kvstore::Mesh& mesh, size_t to,
                  std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min<uint64_t>(bytes.size(), kPiece));
    std::byte taken;
    MXC_RT_RETURN_IF_ERROR(SendIn(kApartSlot, mesh, to, piece));
    MXC_RT_RETURN_IF_ERROR(ReceiveIn(kApartSlot, mesh, to, {&taken, 1}));
    bytes = bytes.subspan(piece.size());
  }
  return {};
}

Status ReceivePieces(kvstore::Mesh& mesh, size_t from, uint64_t bytes,
                     const TakePiece& take) {
  std::vector<std::byte> piece(std::min(bytes, kPiece));
  while (bytes > 0) {
    const auto part = std::span(piece).first(std::min(bytes, kPiece));
    const std::byte taken{1};
    MXC_RT_RETURN_IF_ERROR(ReceiveIn(kApartSlot, mesh, from, part));
    MXC_RT_RETURN_IF_ERROR(take(part));
    MXC_RT_RETURN_IF_ERROR(SendIn(kApartSlot, mesh, from, {&taken, 1}));
    bytes -= part.size();
  }
  return {};
}

StatusOr<bool> AskFirst(kvstore::Mesh& mesh, bool own) {
  auto says = static_cast<std::byte>(own);
  if (mesh.rank() > 0) {
    MXC_RT_RETURN_IF_ERROR(ReceiveIn(kApartSlot, mesh, 0, {&says, 1}));
    return says != std::byte{0};
  }
  for (uint32_t worker = 1; worker < mesh.workers(); ++worker) {
    MXC_RT_RETURN_IF_ERROR(SendIn(kApartSlot, mesh, worker, {&says, 1}));
  }
  return own;
}

Status AwaitOthers(kvstore::Mesh& mesh) {
  std::byte here{1};
  for (uint32_t worker = 1; worker < mesh.workers(); ++worker) {
    if (mesh.rank() == 0) {
      MXC_RT_RETURN_IF_ERROR(ReceiveIn(kApartSlot, mesh, worker, {&here, 1}));
    } else if (mesh.rank() == worker) {
      MXC_RT_RETURN_IF_ERROR(SendIn(kApartSlot, mesh, 0, {&here, 1}));
    }
  }
  return AskFirst(mesh, true).status();
}

}  // namespace mxc::job
