// SPDX-License-Identifier: Apache-2.0
// A client's way to its servers: into the job, and back when a connection
// breaks.
#include <algorithm>
#include <utility>

#include "runtime/kvstore/client.h"
#include "runtime/kvstore/client_server.h"
#include "runtime/kvstore/hello.h"

namespace mxc::kvstore {
namespace {

constexpr Time kPause = kSecond / 20;  // between attempts to connect

}  // namespace

// Workers that begin together are in the job from its first round. Another one
// asks all servers after which rounds it can take part, and then does so after
// the last one that all keys have made: where some are a round ahead, it gets
// their values before. If rounds were made without it, it is after the newest.
void Client::Join() {
  joining_ = 1;
  ++open_;
  GoOnJoining();
}

void Client::GoOnJoining() {
  if (joining_ == 0) return;
  for (const auto& server : servers_) {
    if (!server->welcome) return;
  }
  if (!replaces_) {
    joining_ = 0;
    --open_;
    return;
  }
  Header header = HeaderOf(FrameType::kJoin);
  header.seq = joined_;
  header.flags = joining_ == 2 ? kTakesPart : 0;
  for (const auto& server : servers_) {
    if (server->joined < joining_) server->channel->Send(header);
  }
}

void Client::OnJoin(Server& server, const Frame& frame) {
  if (joining_ == 0) return;
  server.joined = joining_;
  if (joining_ == 1) {
    server.earliest = frame.seq;
    server.latest = frame.holds;
  }
  for (const auto& other : servers_) {
    if (other->joined < joining_) return;
  }
  if (joining_ == 1) {
    uint64_t earliest = 0, latest = UINT64_MAX;
    for (const auto& other : servers_) {
      earliest = std::max(earliest, other->earliest);
      latest = std::min(latest, other->latest);
    }
    joined_ = latest == UINT64_MAX ? earliest : std::max(earliest, latest);
    joining_ = 2;
    return GoOnJoining();
  }
  joining_ = 0;
  --open_;
  for (State& state : states_) state.adopts = true;
}

Status Client::Pump() {
  if (!ended_.ok()) return ended_;
  const Time now = transport_.Now();
  for (const auto& server : servers_) {
    if (server->done) continue;
    ended_ = server->channel == nullptr ? Wait(*server, now)
                                        : PumpServer(*server, now);
    if (!ended_.ok()) return ended_;
  }
  return {};
}

// A server that accepts connections and says nothing is lost, too; one that
// does not come back after the end has heard of it.
Status Client::Wait(Server& server, Time now) {
  const Patience& those = options_.patience;
  const Time patience = !server.ever    ? those.arrival
                        : server.silent ? those.absence
                                        : those.comeback;
  if (now - server.lost <= patience) {
    if (now >= server.next) Reconnect(server, now);
    return {};
  }
  server.done = finishing_;
  if (finishing_) return {};
  return Fail(StatusCode::kIo, "server %u (%s) %s: %s", server.index,
              options_.servers[server.index].c_str(),
              server.ever ? "is lost" : "cannot be reached",
              server.cause.c_str());
}

void Client::Reconnect(Server& server, Time now) {
  server.next = now + kPause;
  auto connected = transport_.Connect(options_.servers[server.index]);
  if (connected.ok() && options_.tls != nullptr) {
    connected = options_.tls->Secure(std::move(*connected));
  }
  if (!connected.ok()) {
    server.cause = connected.status().message();
    return;
  }
  server.channel =
      std::make_unique<Channel>(std::move(*connected), options_.patience, now);
  server.channel->Send(HeaderOf(FrameType::kHello),
                       EncodeHello({options_.rank, options_.incarnation,
                                    Describe(options_.settings)}));
}

Status Client::PumpServer(Server& server, Time now) {
  Frame frame;
  const auto place = [&](const Header& header) {
    return Place(server, header);
  };
  Status status = server.channel->Pump(now);
  const bool may =
      transport_.MayRead(server.channel->connection().descriptor());
  while (may && status.ok() && server.channel != nullptr) {
    const StatusOr<bool> received = server.channel->Receive(now, frame, place);
    if (received.ok() && !*received) break;
    status = received.ok() ? Handle(server, frame) : received.status();
  }
  if (status.ok() && server.channel != nullptr) {
    status = server.channel->Pump(now);
  }
  return status.ok() ? status : Lose(server, status, now);
}

Status Client::Lose(Server& server, const Status& cause, Time now) {
  if (cause.code() == StatusCode::kFailed) return cause;
  const Time heard = server.channel->heard();
  server.channel = nullptr;
  server.cause = cause.message();
  if (std::exchange(server.welcome, false)) {
    // More than that only if this process itself was stopped.
    const Time silence = options_.patience.silence;
    server.silent = now - heard >= silence;
    server.lost = server.silent ? now - silence : now;
  }
  server.next = now + kPause;
  return {};
}

std::vector<Interest> Client::interests() const {
  std::vector<Interest> interests;
  for (const auto& server : servers_) {
    if (server->channel != nullptr) {
      interests.push_back(server->channel->interest());
    }
  }
  return interests;
}

Time Client::deadline() const {
  Time earliest = transport_.Now() + kSecond;
  for (const auto& server : servers_) {
    if (server->done) continue;
    earliest = std::min(earliest, server->channel != nullptr
                                      ? server->channel->deadline()
                                      : server->next);
  }
  return earliest;
}

}  // namespace mxc::kvstore
