// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/transport/address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

#include "runtime/base/file.h"

namespace mxc::kvstore {
namespace {

constexpr std::string_view kUnixPrefix = "unix:";

StatusOr<SocketAddress> UnixAddress(const std::string& path) {
  SocketAddress address;
  auto& un = reinterpret_cast<sockaddr_un&>(address.storage);
  if (path.empty() || path.size() >= sizeof un.sun_path) {
    return Fail(StatusCode::kInvalidArgument,
                "'%s' cannot be a socket's name: it has 1 to %zu bytes",
                path.c_str(), sizeof un.sun_path - 1);
  }
  un.sun_family = AF_UNIX;
  std::memcpy(un.sun_path, path.c_str(), path.size() + 1);
  address.size =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  return address;
}

StatusOr<SocketAddress> InternetAddress(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == text.npos || colon == 0 || colon + 1 == text.size()) {
    return Fail(StatusCode::kInvalidArgument,
                "address '%s' is neither HOST:PORT nor unix:PATH",
                text.c_str());
  }
  std::string host = text.substr(0, colon);
  if (host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const char* port = text.c_str() + colon + 1;
  int error = getaddrinfo(host.c_str(), port, &hints, &found);
  if (error != 0 && host == "localhost") {
    // RFC 6761, 6.3: that is the machine itself, also where no /etc/hosts says so.
    hints.ai_family = AF_INET;
    error = getaddrinfo(nullptr, port, &hints, &found);
  }
  if (error != 0) {
    return Fail(StatusCode::kNotFound, "address '%s': %s", text.c_str(),
                gai_strerror(error));
  }
  SocketAddress address;
  std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
  address.size = found->ai_addrlen;
  freeaddrinfo(found);
  return address;
}

}  // namespace

StatusOr<SocketAddress> ParseAddress(const std::string& text) {
  if (text.starts_with(kUnixPrefix)) {
    return UnixAddress(text.substr(kUnixPrefix.size()));
  }
  return InternetAddress(text);
}

// The address that a datagram to the other one would be sent from; connecting
// sends none.
StatusOr<std::string> OwnAddress(const SocketAddress& other) {
  if (other.family() == AF_UNIX) return std::string("127.0.0.1:0");
  const runtime::Descriptor fd(
      socket(other.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  SocketAddress own;
  own.size = sizeof own.storage;
  if (fd.get() < 0 || connect(fd.get(), other.get(), other.size) != 0 ||
      getsockname(fd.get(), reinterpret_cast<sockaddr*>(&own.storage),
                  &own.size) != 0) {
    return Fail(StatusCode::kIo, "there is no way to %s: %s",
                other.text().c_str(), std::strerror(errno));
  }
  const std::string text = own.text();
  return text.substr(0, text.rfind(':')) + ":0";
}

bool SocketAddress::local() const {
  if (family() == AF_UNIX) return true;
  if (family() == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(storage);
    return ntohl(in.sin_addr.s_addr) >> 24 == 127;
  }
  const auto& in6 = reinterpret_cast<const sockaddr_in6&>(storage);
  return family() == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&in6.sin6_addr);
}

std::string SocketAddress::text() const {
  if (family() == AF_UNIX) {
    const auto& un = reinterpret_cast<const sockaddr_un&>(storage);
    return std::string(kUnixPrefix) + un.sun_path;
  }
  char host[NI_MAXHOST], port[NI_MAXSERV];
  if (getnameinfo(get(), size, host, sizeof host, port, sizeof port,
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "an unknown address";
  }
  const bool v6 = family() == AF_INET6;
  return (v6 ? "[" + std::string(host) + "]" : host) + ":" + port;
}

}  // namespace mxc::kvstore
