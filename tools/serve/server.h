// SPDX-License-Identifier: Apache-2.0
// Accepts connections, and ends when a signal asks for it.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>

#include "tools/serve/connection.h"

namespace mxc::serve {

struct ServerOptions {
  std::string host;
  int port = 0;  // 0: any that is free
  size_t connections = 0;
};

class Server {
 public:
  static constexpr int kStopSeconds = 5;  // for requests that still come

  // Listens. Throws a run::Failure where it cannot.
  Server(ConnectionSite& site, const ServerOptions& options);

  // "http://127.0.0.1:8080"
  std::string url() const;
  size_t connections() const { return connections_.size(); }
  // No connection is accepted any more; what has begun is answered. The
  // io_context runs out of work when it is done.
  void Stop();

 private:
  void Accept();
  void Adopt(tcp::socket socket);
  void AcceptWaiting();

  ConnectionSite& site_;
  const ServerOptions options_;
  tcp::acceptor acceptor_;
  asio::steady_timer timer_;
  std::unordered_map<Connection*, std::shared_ptr<Connection>> connections_;
};

// The most sockets that this process may have open; raises the limit first.
size_t RaiseSocketLimit();

}  // namespace mxc::serve
