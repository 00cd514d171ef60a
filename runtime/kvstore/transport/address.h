// SPDX-License-Identifier: Apache-2.0
// Parses and prints addresses of sockets: "host:port", "[::1]:port", "unix:path".
#pragma once

#include <sys/socket.h>

#include <string>

#include "runtime/kvstore/status.h"

namespace mxc::kvstore {

struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t size = 0;

  int family() const { return storage.ss_family; }
  const sockaddr* get() const {
    return reinterpret_cast<const sockaddr*>(&storage);
  }
  // Returns whether it is this machine's: a path or a loopback address.
  bool local() const;
  std::string text() const;
};

// Where this machine can be reached by whoever reaches `other`, with a port
// that the system chooses.
StatusOr<std::string> OwnAddress(const SocketAddress& other);

// Host names are looked up, which may take its time.
StatusOr<SocketAddress> ParseAddress(const std::string& text);

}  // namespace mxc::kvstore
