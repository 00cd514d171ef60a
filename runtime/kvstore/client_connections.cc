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
// Of one of a pair, from the attempt to its answer: then the other is tried.
constexpr Time kAnswer = 3 * kSecond;

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

bool Client::IsLate(const Server& server, Time now) const {
  return server.addresses.size() > 1 && !server.welcome &&
         now - server.tried > kAnswer;
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
  const bool pair = server.addresses.size() > 1;
  const Time patience = !server.ever || pair     ? those.arrival
                        : server.silent && !pair ? those.absence
                                                 : those.comeback;
  if (now - server.lost <= patience) {
    if (now >= server.next) Reconnect(server, now);
    return {};
  }
  server.done = finishing_;
  if (finishing_) return {};
  return Fail(StatusCode::kIo, "server %u (%s) %s: %s", server.index,
              server.addresses[server.at].c_str(),
              server.ever ? "is lost" : "cannot be reached",
              server.cause.c_str());
}

void Client::Reconnect(Server& server, Time now) {
  server.next = now + kPause;
  server.tried = now;
  auto connected = transport_.Connect(server.addresses[server.at]);
  if (connected.ok() && options_.tls != nullptr) {
    connected = options_.tls->Secure(std::move(*connected));
  }
  if (!connected.ok()) {
    server.cause = connected.status().message();
    server.at = (server.at + 1) % server.addresses.size();
    return;
  }
  server.channel =
      std::make_unique<Channel>(std::move(*connected), options_.patience, now);
  Header header = HeaderOf(FrameType::kHello);
  header.seq = server.term;
  server.channel->Send(header, EncodeHello({options_.rank, options_.incarnation,
                                            Describe(options_.settings)}));
}

Status Client::PumpServer(Server& server, Time now) {
  Frame frame;
  const auto place = [&](const Header& header) {
    return Place(server, header);
  };
  Status status;
  // Nobody is silent who was not asked.
  const bool may =
      server.channel->IsSilent(now) || IsLate(server, now) ||
      transport_.MayRead(server.channel->connection().descriptor());
  while (may && status.ok() && server.channel != nullptr) {
    const StatusOr<bool> received = server.channel->Receive(now, frame, place);
    if (received.ok() && !*received) break;
    status = received.ok() ? Handle(server, frame) : received.status();
  }
  if (status.ok() && IsLate(server, now)) {
    status = Fail(StatusCode::kIo, "%s does not answer",
                  server.addresses[server.at].c_str());
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
  bool again = false;  // a connection that broke
  if (std::exchange(server.welcome, false)) {
    // More than that only if this process itself was stopped.
    const Time silence = options_.patience.silence;
    server.silent = now - heard >= silence;
    const bool own = server.silent || cause.code() == StatusCode::kCorrupt;
    if (own && options_.ends && !finishing_) {
      options_.ends(Format("worker %u ends its connection to server %u: %s",
                           options_.rank, server.index, server.cause.c_str()));
    }
    server.lost = server.silent ? now - silence : now;
    again = !server.silent;
  }
  if (!again) server.at = (server.at + 1) % server.addresses.size();
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
    if (server->channel != nullptr && !server->welcome &&
        server->addresses.size() > 1) {
      earliest = std::min(earliest, server->tried + kAnswer + 1);
    }
  }
  return earliest;
}

}  // namespace mxc::kvstore
