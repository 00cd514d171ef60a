// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/collective/introduction.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "runtime/kvstore/transport/address.h"
#include "runtime/kvstore/transport/sockets.h"

namespace mxc::kvstore {
namespace {

// The value of a mesh's key.
struct Way {
  std::array<char, 96> address = {};  // ends with zeros
  Key key = {};                       // of who connects
};

// Of those before: 0-1, 0-2, …, 0-(n-1), 1-2, …
uint32_t KeyOf(const Introduction& in, uint32_t from, uint32_t to) {
  const uint32_t before = from * in.workers - from * (from + 1) / 2;
  return in.first_key + before + to - from - 1;
}

// Gives those behind this worker its address.
Status Tell(Worker& worker, const Introduction& in, Transport& transport,
            MeshOptions& options) {
  const auto server = ParseAddress(in.server);
  if (!server.ok()) return server.status();
  const auto own = OwnAddress(*server);
  if (!own.ok()) return own.status();
  auto listener = transport.Listen(*own);
  if (!listener.ok()) return listener.status();
  options.listener = std::move(*listener);
  Credentials secret;
  if (in.encrypted) {
    const auto made = MakeSecret();
    if (!made.ok()) return made.status();
    secret = *made;
    auto tls = Tls::Make(Side::kServer, secret);
    if (!tls.ok()) return tls.status();
    options.accepting = std::move(*tls);
  }
  const std::string address = options.listener->address();
  for (uint32_t to = in.rank + 1; to < in.workers; ++to) {
    Way way;
    if (in.encrypted) way.key = DeriveKey(secret.key, WorkerIdentity(to));
    std::memcpy(way.address.data(), address.data(),
                std::min(address.size(), way.address.size() - 1));
    worker.Init(KeyOf(in, in.rank, to), std::as_bytes(std::span(&way, 1)));
  }
  return {};
}

StatusOr<MeshPeer> PeerAt(const Introduction& in, uint32_t rank,
                          const Way& way) {
  MeshPeer peer{rank, std::string(way.address.data()), nullptr};
  if (!in.encrypted) return peer;
  auto tls = Tls::Make(Side::kClient, {WorkerIdentity(in.rank), way.key});
  if (!tls.ok()) return tls.status();
  peer.tls = std::move(*tls);
  return peer;
}

}  // namespace

uint32_t AddMeshKeys(KeyTable& keys, uint32_t workers) {
  const auto first = static_cast<uint32_t>(keys.size());
  for (uint32_t from = 0; from < workers; ++from) {
    for (uint32_t to = from + 1; to < workers; ++to) {
      KeySpec& key = keys.emplace_back();
      key.name = Format("mesh/%u-%u", from, to);
      key.bytes = sizeof(Way);
      key.group = static_cast<uint32_t>(keys.size() - 1);
      key.writer = from;
      key.reader = to;
    }
  }
  return first;
}

StatusOr<std::unique_ptr<Mesh>> MakeMesh(Worker& worker,
                                         const Introduction& in) {
  auto transport = MakeSockets();
  if (!transport.ok()) return transport.status();
  MeshOptions options;
  options.rank = in.rank;
  options.workers = in.workers;
  options.most_early = in.most_early;
  if (in.rank + 1 < in.workers) {
    MXC_RT_RETURN_IF_ERROR(Tell(worker, in, **transport, options));
  }
  std::vector<Way> ways(in.rank);
  for (uint32_t from = 0; from < in.rank; ++from) {
    worker.Pull(KeyOf(in, from, in.rank),
                std::as_writable_bytes(std::span(&ways[from], 1)));
  }
  MXC_RT_RETURN_IF_ERROR(worker.Wait());
  for (uint32_t from = 0; from < in.rank; ++from) {
    ways[from].address.back() = '\0';
    auto peer = PeerAt(in, from, ways[from]);
    if (!peer.ok()) return peer.status();
    options.peers.push_back(std::move(*peer));
  }
  return std::make_unique<Mesh>(std::move(*transport), std::move(options));
}

}  // namespace mxc::kvstore
