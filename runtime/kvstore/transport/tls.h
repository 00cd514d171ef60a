// SPDX-License-Identifier: Apache-2.0
// TLS 1.3 over any connection: mutual authentication by the keys of a job
// (external PSK with Diffie-Hellman, RFC 8446, so that a key that leaks later
// opens nothing that was recorded), TLS_AES_128_GCM_SHA256, no resumption.
#pragma once

#include <memory>

#include "runtime/kvstore/credentials.h"
#include "runtime/kvstore/transport/transport.h"

namespace mxc::kvstore {

enum class Side { kClient, kServer };

// Connections of one node. Handshakes run within Read and Write; until one is
// done no byte of the caller's is sent or handed out.
class Tls {
 public:
  // A worker is the client and proves its identity; a server knows the keys of
  // all workers by the job's secret.
  static StatusOr<std::unique_ptr<Tls>> Make(Side side, const Credentials& own);
  ~Tls();

  // The Tls must outlive the connection.
  StatusOr<std::unique_ptr<Connection>> Secure(
      std::unique_ptr<Connection> plain);

  struct State;

 private:
  explicit Tls(std::unique_ptr<State> state);

  const std::unique_ptr<State> state_;
};

}  // namespace mxc::kvstore
