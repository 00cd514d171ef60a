// SPDX-License-Identifier: Apache-2.0
#include "runtime/job/metrics_server.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

namespace mxc::job {
namespace {

constexpr std::string_view kEndOfRequest = "\r\n\r\n";

kvstore::Bytes BytesOf(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// What follows the first line is of no interest. RFC 9112, section 3.
const char* StatusFor(std::string_view request) {
  const std::string_view line = request.substr(0, request.find('\r'));
  const size_t first = line.find(' '), last = line.rfind(' ');
  if (first == line.npos || first == last ||
      !line.substr(last).starts_with(" HTTP/1.")) {
    return "400 Bad Request";
  }
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  if (method != "GET" && method != "HEAD") return "405 Method Not Allowed";
  const bool known = target.substr(0, target.find('?')) == "/metrics";
  return known ? "200 OK" : "404 Not Found";
}

std::string PlaceOf(const std::string& place) {
  return place.find(':') == std::string::npos ? "127.0.0.1:" + place : place;
}

}  // namespace

struct MetricsServer::Client {
  std::unique_ptr<kvstore::Connection> connection;
  kvstore::Time until = 0;
  std::string request;
  std::string head;  // of the answer; empty: the request has not come
  std::shared_ptr<const std::string> body;
  size_t sent = 0;  // of both
};

StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::Listen(
    kvstore::Transport& transport, const std::string& place) {
  MXC_RT_ASSIGN(auto listener, transport.Listen(PlaceOf(place)));
  return std::unique_ptr<MetricsServer>(
      new MetricsServer(transport, std::move(listener)));
}

MetricsServer::MetricsServer(kvstore::Transport& transport,
                             std::unique_ptr<kvstore::Listener> listener)
    : transport_(transport),
      listener_(std::move(listener)),
      metrics_(std::make_shared<const std::string>()) {}

MetricsServer::~MetricsServer() = default;

std::string MetricsServer::address() const { return listener_->address(); }

void MetricsServer::Publish(std::string metrics) {
  metrics_ = std::make_shared<const std::string>(std::move(metrics));
}

std::vector<kvstore::Interest> MetricsServer::interests() const {
  std::vector<kvstore::Interest> interests = {{listener_->descriptor()}};
  for (const auto& client : clients_) {
    const bool answers = !client->head.empty();
    interests.push_back({client->connection->descriptor(), answers, !answers});
  }
  return interests;
}

void MetricsServer::Pump() {
  Accept();
  const kvstore::Time now = transport_.Now();
  std::erase_if(clients_, [&](const auto& client) {
    return now >= client->until || !Serve(*client);
  });
}

// No more at once than there may be: the job has its turn, too.
void MetricsServer::Accept() {
  for (size_t i = 0; i < kMostClients; ++i) {
    auto accepted = listener_->Accept();
    if (!accepted.ok() || *accepted == nullptr) return;
    if (clients_.size() == kMostClients) clients_.erase(clients_.begin());
    auto client = std::make_unique<Client>();
    client->connection = std::move(*accepted);
    client->until = transport_.Now() + kPatience;
    clients_.push_back(std::move(client));
  }
}

// False: it is done with.
bool MetricsServer::Serve(Client& client) {
  if (client.head.empty()) {
    std::byte bytes[1024];
    const auto size = client.connection->Read(bytes);
    if (!size.ok()) return false;
    client.request.append(reinterpret_cast<const char*>(bytes), *size);
    const bool whole = client.request.find(kEndOfRequest) != std::string::npos;
    if (!whole && client.request.size() <= kLongestRequest) return true;
    Answer(client);
  }
  const auto rest = [&](std::string_view text, size_t before) {
    const size_t sent = client.sent > before ? client.sent - before : 0;
    return BytesOf(text.substr(std::min(sent, text.size())));
  };
  const auto size = client.connection->Write(
      rest(client.head, 0), rest(*client.body, client.head.size()));
  if (!size.ok()) return false;
  client.sent += *size;
  return client.sent < client.head.size() + client.body->size() ||
         client.connection->unsent();
}

void MetricsServer::Answer(Client& client) {
  const std::string status = client.request.size() > kLongestRequest
                                 ? "431 Request Header Fields Too Large"
                                 : StatusFor(client.request);
  const bool found = status.starts_with("200");
  const bool told = found && !client.request.starts_with("HEAD");
  client.body = told ? metrics_ : std::make_shared<const std::string>();
  client.head = "HTTP/1.1 " + status + "\r\n";
  if (status.starts_with("405")) client.head += "Allow: GET, HEAD\r\n";
  if (found) {
    client.head += "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n";
  }
  client.head +=
      "Content-Length: " + std::to_string(found ? metrics_->size() : 0) +
      "\r\nConnection: close\r\n\r\n";
}

}  // namespace mxc::job
