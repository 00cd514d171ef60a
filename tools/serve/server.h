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
#include "tools/serve/tls.h"

namespace mxc::serve {

struct ServerOptions {
  std::string host;
  int port = 0;  // 0: any that is free
  size_t connections = 0;
  size_t client_connections = 0;         // of one address; 0: any number
  std::string certificate, private_key;  // "": no TLS
};

class Server {
 public:
  static constexpr int kStopSeconds = 5;  // for requests that still come

  // Listens. Throws a run::Failure where it cannot.
  Server(ConnectionSite& site, const ServerOptions& options);

  // "http://127.0.0.1:8080"
  std::string url() const;
  // Returns whether other machines reach it.
  bool open() const;
  size_t connections() const { return connections_.size(); }
  // No connection is accepted any more; what has begun is answered. The
  // io_context runs out of work when it is done.
  void Stop();

 private:
  void Accept();
  void Adopt(tcp::socket socket);
  void AcceptWaiting();
  void Forget(Connection& ended, const std::string& client);

  ConnectionSite& site_;
  const ServerOptions options_;
  std::unique_ptr<Tls> tls_;
  tcp::acceptor acceptor_;
  asio::steady_timer timer_;
  std::unordered_map<Connection*, std::shared_ptr<Connection>> connections_;
  std::unordered_map<std::string, size_t> clients_;  // their connections
};

// The most sockets that this process may have open; raises the limit first.
size_t RaiseSocketLimit();

}  // namespace mxc::serve
