// SPDX-License-Identifier: Apache-2.0
// TLS 1.2 and 1.3 by OpenSSL's libssl, which is loaded when it is asked for.
#pragma once

#include <memory>
#include <string>

#include "tools/serve/stream.h"

namespace mxc::serve {

class Tls {
 public:
  // Two files in PEM. Throws a run::Failure.
  Tls(const std::string& certificate, const std::string& key);
  ~Tls();

  // The handshake is part of what is read and written first. The Tls must
  // outlive the stream.
  std::unique_ptr<Stream> Secure(tcp::socket socket) const;

  struct State;

 private:
  const std::unique_ptr<State> state_;
};

}  // namespace mxc::serve
