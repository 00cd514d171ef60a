// SPDX-License-Identifier: Apache-2.0
#include "runtime/job/metrics_server.h"

#include <doctest/doctest.h>

#include <span>
#include <string>

#include "runtime/kvstore/transport/memory.h"

namespace mxc::job {
namespace {

using kvstore::Connection;
using kvstore::kSecond;

struct Scrape {
  // What comes until the connection ends, or nothing comes any more.
  std::string Answer(Connection& connection) {
    std::string text;
    for (int turn = 0; turn < 100; ++turn) {
      server.Pump();
      network.Advance(network.now() + kSecond / 1000);
      std::byte bytes[512];
      const auto size = connection.Read(bytes);
      if (!size.ok()) return text + "<end>";
      text.append(reinterpret_cast<const char*>(bytes), *size);
    }
    return text;
  }
  std::unique_ptr<Connection> Connect() {
    auto connection = client->Connect(server.address());
    REQUIRE(connection.ok());
    return std::move(*connection);
  }
  static void Send(Connection& connection, const std::string& text) {
    const auto sent = connection.Write(std::as_bytes(std::span(text)));
    REQUIRE(sent.ok());
    REQUIRE(*sent == text.size());
  }
  std::string Get(const std::string& request) {
    const auto connection = Connect();
    Send(*connection, request);
    return Answer(*connection);
  }

  kvstore::MemoryNetwork network;
  std::unique_ptr<kvstore::Transport> transport = network.Join();
  std::unique_ptr<kvstore::Transport> client = network.Join();
  std::unique_ptr<MetricsServer> listening =
      std::move(*MetricsServer::Listen(*transport, "launcher:9400"));
  MetricsServer& server = *listening;
};

TEST_CASE("a scrape gets what was published last") {
  Scrape scrape;
  scrape.server.Publish("old 1\n");
  scrape.server.Publish("up 1\n");
  const std::string head =
      "HTTP/1.1 200 OK\r\n"
      "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
      "Content-Length: 5\r\nConnection: close\r\n\r\n";
  CHECK(scrape.Get("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n") ==
        head + "up 1\n<end>");
  CHECK(scrape.Get("GET /metrics?a=b HTTP/1.0\r\n\r\n") ==
        head + "up 1\n<end>");
  CHECK(scrape.Get("HEAD /metrics HTTP/1.1\r\n\r\n") == head + "<end>");
}

TEST_CASE("other requests are refused with HTTP's words") {
  Scrape scrape;
  const auto status = [&](const std::string& request) {
    const std::string answer = scrape.Get(request);
    CHECK(answer.ends_with("\r\n\r\n<end>"));
    return answer.substr(0, answer.find('\r'));
  };
  CHECK(status("GET / HTTP/1.1\r\n\r\n") == "HTTP/1.1 404 Not Found");
  CHECK(status("POST /metrics HTTP/1.1\r\n\r\n") ==
        "HTTP/1.1 405 Method Not Allowed");
  for (const std::string line :
       {"", "GET", "GET /metrics", "GET  ", " ", "GET /metrics SSH/2"}) {
    CHECK(status(line + "\r\n\r\n") == "HTTP/1.1 400 Bad Request");
  }
  CHECK(status(std::string(9000, 'a')) ==
        "HTTP/1.1 431 Request Header Fields Too Large");
}

TEST_CASE("whoever dawdles holds nobody up, and is cut off") {
  Scrape scrape;
  scrape.server.Publish("up 1\n");
  std::vector<std::unique_ptr<Connection>> idle;
  for (size_t i = 0; i < 10 * MetricsServer::kMostClients; ++i) {
    idle.push_back(scrape.Connect());
    Scrape::Send(*idle.back(), "GET /metrics HT");
    scrape.server.Pump();
    CHECK(scrape.server.interests().size() <= 1 + MetricsServer::kMostClients);
  }
  CHECK(scrape.Get("GET /metrics HTTP/1.1\r\n\r\n").ends_with("up 1\n<end>"));
  CHECK(scrape.server.interests().size() == MetricsServer::kMostClients);
  // A byte now and then buys no time.
  for (int i = 0; i < 6; ++i) {
    scrape.network.Advance(scrape.network.now() + kSecond);
    Scrape::Send(*idle.back(), "T");
    scrape.server.Pump();
    if (scrape.server.interests().size() == 1) break;
  }
  CHECK(scrape.server.interests().size() == 1);
}

TEST_CASE("a long answer leaves in pieces, and is of one moment") {
  Scrape scrape;
  kvstore::MemoryFaults small;
  small.most_bytes = 1000;
  scrape.network.SetFaults(small);
  const std::string text(20'000, 'a');
  scrape.server.Publish(text);
  const auto connection = scrape.Connect();
  Scrape::Send(*connection, "GET /metrics HTTP/1.1\r\n\r\n");
  scrape.network.Advance(scrape.network.now() + kSecond / 1000);
  scrape.server.Pump();
  scrape.server.Publish("b");
  CHECK(scrape.Answer(*connection).ends_with("\r\n\r\n" + text + "<end>"));
}

}  // namespace
}  // namespace mxc::job
