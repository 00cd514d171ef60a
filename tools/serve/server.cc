// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/server.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "tools/run/failure.h"

namespace mxc::serve {
namespace {

constexpr auto kPause = std::chrono::milliseconds(20);

tcp::endpoint EndpointOf(asio::io_context& io, const ServerOptions& options) {
  error_code error;
  tcp::resolver resolver(io);
  const auto found = resolver.resolve(
      options.host, std::to_string(options.port),
      tcp::resolver::passive | tcp::resolver::numeric_service, error);
  if (error || found.empty()) {
    throw run::Failure("cannot listen on " + options.host + ":" +
                       std::to_string(options.port) + ": no such address here");
  }
  return found.begin()->endpoint();
}

}  // namespace

Server::Server(ConnectionSite& site, const ServerOptions& options)
    : site_(site), options_(options), acceptor_(site.io), timer_(site.io) {
  if (!options.certificate.empty()) {
    tls_ = std::make_unique<Tls>(options.certificate, options.private_key);
  }
  const tcp::endpoint endpoint = EndpointOf(site.io, options);
  error_code error;
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(endpoint, error);
  // The system cuts it down to what net.core.somaxconn allows.
  if (!error) acceptor_.listen(1 << 16, error);
  if (error) {
    throw run::Failure("cannot listen on " + options.host + ":" +
                       std::to_string(options.port) + ": " + error.message());
  }
  acceptor_.non_blocking(true);
  Accept();
}

std::string Server::url() const {
  const bool v6 = options_.host.find(':') != std::string::npos;
  return (tls_ ? "https://" : "http://") +
         (v6 ? "[" + options_.host + "]" : options_.host) + ":" +
         std::to_string(acceptor_.local_endpoint().port());
}

bool Server::open() const {
  return !acceptor_.local_endpoint().address().is_loopback();
}

void Server::Accept() {
  acceptor_.async_accept([this](error_code error, tcp::socket socket) {
    if (!error) Adopt(std::move(socket));
    if (site_.stopping || error == asio::error::operation_aborted) return;
    if (!error) return Accept();
    // No descriptor is free: the connection waits in the system's queue.
    timer_.expires_after(kPause);
    timer_.async_wait([this](error_code cancelled) {
      if (!cancelled && !site_.stopping) Accept();
    });
  });
}

void Server::Adopt(tcp::socket socket) {
  error_code error;
  const tcp::endpoint peer = socket.remote_endpoint(error);
  if (error) return;  // it is gone already
  socket.set_option(tcp::no_delay(true), error);
  const std::string client = peer.address().to_string();
  const auto connection = std::make_shared<Connection>(
      site_,
      tls_ ? tls_->Secure(std::move(socket)) : PlainStream(std::move(socket)),
      client, [this, client](Connection& ended) { Forget(ended, client); });
  connections_.emplace(connection.get(), connection);
  const size_t of_client = ++clients_[client];
  if (connections_.size() > options_.connections) {
    connection->StartRefusing(BusyResponse("too many connections are open"));
  } else if (options_.client_connections > 0 &&
             of_client > options_.client_connections) {
    connection->StartRefusing(BusyResponse(
        "this client has too many connections (--client-connections)"));
  } else {
    connection->Start();
  }
}

void Server::Forget(Connection& ended, const std::string& client) {
  if (--clients_[client] == 0) clients_.erase(client);
  connections_.erase(&ended);
  if (site_.stopping && connections_.empty()) timer_.cancel();
}

// Whoever has connected is answered, though the server has not looked yet.
void Server::AcceptWaiting() {
  for (error_code error; !error;) {
    tcp::socket socket(site_.io);
    acceptor_.accept(socket, error);
    if (!error) Adopt(std::move(socket));
  }
}

void Server::Stop() {
  AcceptWaiting();
  site_.stopping = true;
  error_code ignored;
  acceptor_.close(ignored);
  std::vector<std::shared_ptr<Connection>> open;
  for (const auto& [key, connection] : connections_) open.push_back(connection);
  timer_.expires_after(std::chrono::seconds(kStopSeconds));
  timer_.async_wait([this](error_code cancelled) {
    if (cancelled) return;
    std::vector<std::shared_ptr<Connection>> left;
    for (const auto& [key, connection] : connections_) {
      left.push_back(connection);
    }
    for (const auto& connection : left) connection->DropIncomplete();
  });
  for (const auto& connection : open) connection->FinishRequest();
  if (connections_.empty()) timer_.cancel();
}

size_t RaiseSocketLimit() {
  constexpr rlim_t kKept = 64;  // for files
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 256;
  limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &limit);
  (void)getrlimit(RLIMIT_NOFILE, &limit);
  return std::max<rlim_t>(limit.rlim_cur, 2 * kKept) - kKept;
}

}  // namespace mxc::serve
