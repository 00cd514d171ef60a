// SPDX-License-Identifier: Apache-2.0
// Who is let in: one worker by his own key, of some 500 others nobody.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/kvstore/transport/memory.h"
#include "runtime/kvstore/transport/tls.h"

namespace mxc::kvstore {
namespace {

template <class T>
T Need(StatusOr<T> value) {
  REQUIRE_MESSAGE(value.ok(), value.status().message());
  return std::move(*value);
}

// Notes what goes through.
class Recorder final : public Connection {
 public:
  Recorder(std::unique_ptr<Connection> plain, std::vector<std::byte>& notes)
      : plain_(std::move(plain)), notes_(notes) {}

  StatusOr<size_t> Read(std::span<std::byte> bytes) override {
    return plain_->Read(bytes);
  }
  using Connection::Write;
  StatusOr<size_t> Write(Bytes first, Bytes second) override {
    const auto count = plain_->Write(first, second);
    if (!count.ok()) return count;
    const size_t ahead = std::min(*count, first.size());
    notes_.insert(notes_.end(), first.begin(),
                  first.begin() + static_cast<ptrdiff_t>(ahead));
    notes_.insert(notes_.end(), second.begin(),
                  second.begin() + static_cast<ptrdiff_t>(*count - ahead));
    return count;
  }
  std::string peer() const override { return plain_->peer(); }
  bool local() const override { return true; }
  int descriptor() const override { return -1; }

 private:
  const std::unique_ptr<Connection> plain_;
  std::vector<std::byte>& notes_;
};

// A server's door, and what happens to those who knock.
class Door {
 public:
  Door()
      : transport_(network_.Join()),
        listener_(Need(transport_->Listen("door"))),
        secret(Need(MakeSecret())),
        server_(Need(Tls::Make(Side::kServer, secret))) {}

  Credentials Worker(const std::string& key_of, const std::string& name) const {
    return {name, DeriveKey(secret.key, key_of)};
  }

  // Whether one with these credentials gets a byte through; `notes`: all that
  // he sends.
  bool LetsIn(const Credentials& own, std::vector<std::byte>* notes = nullptr) {
    const auto client = Need(Tls::Make(Side::kClient, own));
    auto plain = Need(transport_->Connect("door"));
    if (notes != nullptr) {
      plain = std::make_unique<Recorder>(std::move(plain), *notes);
    }
    const auto end = Need(client->Secure(std::move(plain)));
    return Talks([&] { return end->Write(Bytes(kGreeting)).status(); },
                 [&] {
                   std::byte room[16];
                   return end->Read(room).status();
                 });
  }

  // The same of one who sends what somebody else has sent before.
  bool LetsInAgain(Bytes notes) {
    const auto plain = Need(transport_->Connect("door"));
    return Talks(
        [&] {
          const auto count = plain->Write(notes);
          if (count.ok()) notes = notes.subspan(*count);
          return count.status();
        },
        [&] {
          std::byte room[4096];
          return plain->Read(room).status();
        });
  }

 private:
  static constexpr std::byte kGreeting[4] = {};

  template <class Send, class Hear>
  bool Talks(Send send, Hear hear) {
    network_.Advance(network_.now() + kSecond);
    auto accepted = Need(listener_->Accept());
    REQUIRE(accepted != nullptr);
    const auto inside = Need(server_->Secure(std::move(accepted)));
    for (int turn = 0; turn < 50; ++turn) {
      if (!send().ok() || !hear().ok()) return false;
      network_.Advance(network_.now() + kSecond);
      std::byte room[16];
      const auto read = inside->Read(room);
      if (!read.ok()) return false;
      if (*read > 0) return !inside->identity().empty();
      network_.Advance(network_.now() + kSecond);
    }
    return false;
  }

  MemoryNetwork network_;
  const std::unique_ptr<Transport> transport_;
  const std::unique_ptr<Listener> listener_;

 public:
  const Credentials secret;

 private:
  const std::unique_ptr<Tls> server_;
};

TEST_CASE("a worker is let in by his own key, by no key a bit away from it") {
  Door door;
  Credentials own = door.Worker("worker-3", "worker-3");
  CHECK(door.LetsIn(own));
  for (size_t bit = 0; bit < 8 * own.key.size(); ++bit) {
    own.key[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    CHECK_FALSE(door.LetsIn(own));
    own.key[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
  }
  CHECK(door.LetsIn(own));
}

TEST_CASE("nobody is let in under another's name or with another job's key") {
  Door door;
  const Credentials other = Need(MakeSecret());
  for (uint32_t a = 0; a < 12; ++a) {
    for (uint32_t b = 0; b < 12; ++b) {
      CHECK(door.LetsIn(door.Worker(WorkerIdentity(a), WorkerIdentity(b))) ==
            (a == b));
    }
    CHECK_FALSE(door.LetsIn(
        {WorkerIdentity(a), DeriveKey(other.key, WorkerIdentity(a))}));
    CHECK_FALSE(door.LetsIn({WorkerIdentity(a), {}}));
    CHECK_FALSE(door.LetsIn({WorkerIdentity(a), other.key}));
    CHECK_FALSE(door.LetsIn(door.Worker(WorkerIdentity(a), "server")));
  }
}

TEST_CASE("what a worker has sent before lets nobody in, whole or cut") {
  Door door;
  std::vector<std::byte> notes;
  REQUIRE(door.LetsIn(door.Worker("worker-0", "worker-0"), &notes));
  REQUIRE(notes.size() > 200);
  for (size_t cut = 0; cut < 60; ++cut) {
    const size_t size = notes.size() - cut * notes.size() / 60;
    CHECK_FALSE(door.LetsInAgain(Bytes(notes).first(size)));
  }
}

}  // namespace
}  // namespace mxc::kvstore
