// SPDX-License-Identifier: Apache-2.0
// One suite over every transport, plain and under TLS: what a Connection
// promises, and frames over it.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/kvstore/channel.h"
#include "runtime/kvstore/transport/memory.h"
#include "runtime/kvstore/transport/sockets.h"
#include "runtime/kvstore/transport/tls.h"

namespace mxc::kvstore {
namespace {

template <class T>
T Take(StatusOr<T> value) {
  REQUIRE_MESSAGE(value.ok(), value.status().message());
  return std::move(*value);
}

// A transport with a listener, and both ends of connections.
class Pair {
 public:
  explicit Pair(const std::string& kind) {
    if (kind.starts_with("memory")) {
      MemoryFaults faults;
      if (kind == "memory in small pieces") faults.most_bytes = 7;
      network_ = std::make_unique<MemoryNetwork>(faults);
      transport_ = network_->Join();
    } else {
      transport_ = Take(MakeSockets());
    }
    std::string address = "a";
    if (kind.starts_with("TCP")) address = "127.0.0.1:0";
    if (kind.starts_with("unix")) {
      address = "unix:/tmp/mxc-transport-" + std::to_string(getpid());
    }
    listener_ = Take(transport_->Listen(address));
    if (!kind.ends_with("TLS")) return;
    const Credentials secret = Take(MakeSecret());
    Credentials worker{WorkerIdentity(1), {}};
    worker.key = DeriveKey(secret.key, worker.identity);
    UseTls(secret, worker);
  }

  void UseTls(const Credentials& secret, const Credentials& worker) {
    server_tls_ = Take(Tls::Make(Side::kServer, secret));
    client_tls_ = Take(Tls::Make(Side::kClient, worker));
  }

  void Connect() {
    client = Take(transport_->Connect(listener_->address()));
    while (server == nullptr) {
      server = Take(listener_->Accept());
      if (server == nullptr) Wait();
    }
    if (server_tls_ == nullptr) return;
    client = Take(client_tls_->Secure(std::move(client)));
    server = Take(server_tls_->Secure(std::move(server)));
  }

  void Wait() {
    std::vector<Interest> interests = {{listener_->descriptor(), false}};
    for (const auto* end : {&client, &server}) {
      if (*end != nullptr) {
        interests.push_back({(*end)->descriptor(), (*end)->unsent()});
      }
    }
    constexpr Time kMoment = 1'000'000;
    transport_->Wait(interests, transport_->Now() + kMoment);
  }
  Time Now() { return transport_->Now(); }
  bool MayRead(const Connection& end) const {
    return transport_->MayRead(end.descriptor());
  }

  std::unique_ptr<Connection> client, server;

 private:
  std::unique_ptr<MemoryNetwork> network_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Listener> listener_;
  std::unique_ptr<Tls> server_tls_, client_tls_;
};

void ForEachKind(const std::function<void(const std::string&)>& check) {
  for (const char* kind : {"memory", "memory in small pieces", "unix", "TCP",
                           "memory TLS", "unix TLS", "TCP TLS"}) {
    CAPTURE(kind);
    check(kind);
  }
}

std::vector<std::byte> Pattern(size_t size, unsigned seed) {
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) {
    seed = seed * 1664525 + 1013904223;
    byte = static_cast<std::byte>(seed >> 24);
  }
  return bytes;
}

TEST_CASE("bytes go both ways in order and unchanged") {
  ForEachKind([](const std::string& kind) {
    Pair pair(kind);
    pair.Connect();
    const size_t size = kind.find("small") == kind.npos ? 3'000'001 : 30'001;
    const auto up = Pattern(size, 1), down = Pattern(size, 2);
    std::vector<std::byte> got_up, got_down;
    size_t sent_up = 0, sent_down = 0;
    const auto move = [](Connection& from, Connection& to,
                         const std::vector<std::byte>& bytes, size_t& sent,
                         std::vector<std::byte>& got) {
      sent += Take(from.Write(Bytes(bytes).subspan(sent)));
      std::byte room[5000];
      const size_t count = Take(to.Read(room));
      got.insert(got.end(), room, room + count);
      return count;
    };
    while (got_up.size() < size || got_down.size() < size) {
      const size_t moved =
          move(*pair.client, *pair.server, up, sent_up, got_up) +
          move(*pair.server, *pair.client, down, sent_down, got_down);
      if (moved == 0) pair.Wait();
    }
    CHECK(got_up == up);
    CHECK(got_down == down);
  });
}

TEST_CASE("the end of one side is an error on the other, after its bytes") {
  ForEachKind([](const std::string& kind) {
    Pair pair(kind);
    pair.Connect();
    const auto bytes = Pattern(5, 3);
    size_t sent = 0;
    std::byte room[16];
    while (sent < bytes.size()) {
      sent += Take(pair.client->Write(Bytes(bytes).subspan(sent)));
      if (kind.ends_with("TLS") && sent < bytes.size()) {
        CHECK(Take(pair.server->Read(room)) == 0);
      }
      pair.Wait();
    }
    REQUIRE(pair.client->Flush().ok());
    pair.client.reset();
    size_t got = 0;
    StatusOr<size_t> read = size_t{0};
    while (read.ok()) {
      read = pair.server->Read(room);
      if (read.ok()) got += *read;
      if (read.ok() && *read == 0) pair.Wait();
    }
    CHECK(got == bytes.size());
    CHECK(read.status().message().find("closed") != std::string::npos);
  });
}

TEST_CASE("a wait tells at which connections nothing has come") {
  for (const char* kind : {"unix", "TCP"}) {
    CAPTURE(kind);
    Pair pair(kind);
    pair.Connect();
    CHECK(pair.MayRead(*pair.server));  // nobody has waited for it
    pair.Wait();
    CHECK(!pair.MayRead(*pair.server));
    REQUIRE(Take(pair.client->Write(Pattern(5, 3))) == 5);
    while (!pair.MayRead(*pair.server)) pair.Wait();
    CHECK(!pair.MayRead(*pair.client));
    std::byte room[16];
    CHECK(Take(pair.server->Read(room)) == 5);
  }
}

TEST_CASE("who has proved to be whom") {
  for (const char* kind : {"memory TLS", "unix TLS", "TCP TLS"}) {
    Pair pair(kind);
    pair.Connect();
    CHECK(pair.server->identity() == "");
    std::byte room[1];
    while (pair.server->identity().empty() || pair.client->identity().empty()) {
      CHECK(Take(pair.server->Read(room)) == 0);
      CHECK(Take(pair.client->Read(room)) == 0);
      pair.Wait();
    }
    CHECK(pair.server->identity() == "worker-1");
    CHECK(pair.client->identity() == "server");
  }
}

// Both ends try to talk until one of them fails; nothing may have come through.
std::string Refusal(Pair& pair) {
  pair.Connect();
  std::byte room[64];
  const auto bytes = Pattern(10, 4);
  for (int turn = 0; turn < 10'000; ++turn) {
    for (Connection* end : {pair.client.get(), pair.server.get()}) {
      const auto written = end->Write(bytes);
      if (!written.ok()) return written.status().message();
      const auto read = end->Read(room);
      if (!read.ok()) return read.status().message();
      CHECK(*read == 0);
    }
    pair.Wait();
  }
  return "";
}

TEST_CASE("wrong keys are refused before a byte comes through") {
  const Credentials secret = Take(MakeSecret()), other = Take(MakeSecret());
  const auto worker = [&](const Credentials& of, const std::string& key_of,
                          const std::string& identity) {
    return Credentials{identity, DeriveKey(of.key, key_of)};
  };
  const Credentials intruders[] = {
      worker(other, "worker-0", "worker-0"),   // another job's
      worker(secret, "worker-0", "worker-1"),  // speaks for another
      worker(secret, "worker-0", "server"),    // a worker as server
      {"worker-0", {}},                        // none
      {std::string(63, 'x'), {}},
  };
  for (const Credentials& intruder : intruders) {
    CAPTURE(intruder.identity);
    Pair pair("memory");
    pair.UseTls(secret, intruder);
    CHECK(Refusal(pair) != "");
    CHECK(pair.server->identity() == "");
  }
  Pair changed("memory");
  changed.UseTls(other, worker(secret, "worker-0", "worker-0"));
  CHECK(Refusal(changed) != "");
}

TEST_CASE("frames of any size arrive whole, and urgent ones overtake") {
  ForEachKind([](const std::string& kind) {
    Pair pair(kind);
    pair.Connect();
    const size_t large = kind.find("small") == kind.npos ? 1'000'000 : 300'000;
    Channel from(std::move(pair.client), {}, 0);
    Channel to(std::move(pair.server), {}, 0);
    const auto send = [&](uint32_t key, size_t size, int64_t priority) {
      Header header;
      header.type = FrameType::kPush;
      header.key = key;
      header.rate = 0.25;
      from.Send(header, Own(Pattern(size, key)), priority);
    };
    send(1, large, 5);
    send(2, 100, 1);
    std::vector<std::vector<std::byte>> got(3);
    std::vector<uint32_t> order;
    Frame frame;
    while (order.size() < 2) {
      REQUIRE(from.Pump(0).ok());
      REQUIRE(to.Pump(0).ok());
      if (!Take(to.Receive(0, frame))) {
        REQUIRE(from.Pump(0).ok());
        CHECK_FALSE(Take(from.Receive(0, frame)));  // it drives TLS on
        pair.Wait();
        continue;
      }
      CHECK(frame.type == FrameType::kPush);
      CHECK(frame.rate == 0.25);
      CHECK(frame.offset == got[frame.key].size());
      got[frame.key].insert(got[frame.key].end(), frame.payload.begin(),
                            frame.payload.end());
      if (got[frame.key].size() == frame.total) order.push_back(frame.key);
    }
    CHECK(order == std::vector<uint32_t>{2, 1});
    CHECK(got[1] == Pattern(large, 1));
    CHECK(got[2] == Pattern(100, 2));
  });
}

TEST_CASE("silence ends a channel, heartbeats keep it") {
  MemoryNetwork network;
  const auto transport = network.Join();
  const auto listener = Take(transport->Listen("a"));
  Channel one(Take(transport->Connect("a")), {}, 0);
  Channel two(Take(listener->Accept()), {}, 0);
  Frame frame;
  for (int second = 1; second <= 30; ++second) {
    CHECK(one.Pump(second * kSecond).ok());
    CHECK(two.Pump(second * kSecond).ok());
    CHECK_FALSE(Take(one.Receive(second * kSecond, frame)));
    CHECK_FALSE(Take(two.Receive(second * kSecond, frame)));
  }
  CHECK(one.Pump(33 * kSecond).ok());
  const Status lost = one.Pump(34 * kSecond);
  CHECK(lost.message() == "a: nothing was heard for 4 s");
}

TEST_CASE("frames that are changed in any bit are refused") {
  const auto payload = Pattern(40, 5);
  Header header;
  header.type = FrameType::kPush;
  header.total = payload.size();
  const auto head = EncodeHeader(header, payload);
  std::vector<std::byte> whole(head.begin(), head.end());
  whole.insert(whole.end(), payload.begin(), payload.end());
  const auto decode = [](const std::vector<std::byte>& bytes) {
    FrameDecoder decoder;
    for (size_t at = 0; at < bytes.size();) {
      const auto room = decoder.Room();
      const size_t count = std::min(room.size(), bytes.size() - at);
      std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(at), count,
                  room.begin());
      at += count;
      const auto done = decoder.Advance(count);
      if (!done.ok()) return done.status();
      if (*done) return Status();
    }
    return Status(StatusCode::kCorrupt, "it is not whole");
  };
  CHECK(decode(whole).ok());
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    auto changed = whole;
    changed[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    CHECK_FALSE(decode(changed).ok());
  }
}

}  // namespace
}  // namespace mxc::kvstore
