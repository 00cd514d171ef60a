// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/collective/mesh_loop.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/kvstore/hello.h"

namespace mxc::kvstore {
namespace {

constexpr size_t kMostUnknownPeers = 64;
// Of one worker, before somebody is heard who asks for what comes next: what
// comes first is copied.
constexpr int kMostPeerFrames = 4;
constexpr std::byte kOneByte[1] = {};

Status Ended() { return Fail(StatusCode::kFailed, "it has ended"); }

}  // namespace

MeshLoop::MeshLoop(Transport& transport, MeshOptions options)
    : transport_(transport),
      options_(std::move(options)),
      began_(transport.Now()),
      peers_(options_.workers),
      missing_(options_.workers - 1) {
  for (Peer& peer : peers_) peer.inbox = Inbox(options_.most_early);
  failed_ = Connect();
}

MeshLoop::~MeshLoop() {
  Break(Fail(StatusCode::kFailed, "the worker has ended"));
}

Status MeshLoop::Connect() {
  for (const MeshPeer& peer : options_.peers) {
    auto connection = transport_.Connect(peer.address);
    if (connection.ok() && peer.tls != nullptr) {
      connection = peer.tls->Secure(std::move(*connection));
    }
    if (!connection.ok()) return connection.status();
    auto& channel = peers_[peer.rank].channel;
    channel = std::make_unique<Channel>(std::move(*connection),
                                        options_.patience, began_);
    channel->Send(HeaderOf(FrameType::kHello),
                  EncodeHello({options_.rank, 0, ""}));
    --missing_;
  }
  return {};
}

Status MeshLoop::Pump(std::vector<MeshRequest> requests) {
  std::ranges::move(requests, std::back_inserter(early_));
  Status status = failed_.ok() ? Step(transport_.Now()) : failed_;
  if (!status.ok()) Break(status);
  return failed_;
}

Status MeshLoop::Of(size_t rank, const Status& status) {
  return Fail(status.code(), "worker %zu: %s", rank, status.message().c_str());
}

Status MeshLoop::Step(Time now) {
  Accept(now);
  ServeStrangers(now);
  if (connected()) {
    options_.listener = nullptr;
    strangers_.clear();
    for (; !early_.empty(); early_.pop_front()) {
      const uint32_t peer = early_.front().peer;
      const Status status = Begin(early_.front());
      if (!status.ok()) return Of(peer, status);
    }
  } else if (now - began_ > options_.patience.arrival) {
    return Fail(StatusCode::kIo, "%u of %u workers did not come", missing_,
                options_.workers - 1);
  }
  more_ = false;
  for (size_t rank = 0; rank < peers_.size(); ++rank) {
    if (peers_[rank].channel == nullptr) continue;
    const Status status = PumpPeer(peers_[rank], now);
    if (status.ok()) continue;
    if (peers_[rank].left) {
      peers_[rank].channel = nullptr;
      continue;
    }
    return Of(rank, status);
  }
  return {};
}

void MeshLoop::Accept(Time now) {
  while (options_.listener != nullptr) {
    auto accepted = options_.listener->Accept();
    if (!accepted.ok() || *accepted == nullptr) return;
    if (strangers_.size() >= kMostUnknownPeers) continue;
    if (options_.accepting == nullptr && !(*accepted)->local()) continue;
    if (options_.accepting != nullptr) {
      accepted = options_.accepting->Secure(std::move(*accepted));
      if (!accepted.ok()) continue;
    }
    strangers_.push_back({std::make_unique<Channel>(std::move(*accepted),
                                                    options_.patience, now),
                          now});
  }
}

// Who does not prove to be a worker that is missing is sent away.
void MeshLoop::ServeStrangers(Time now) {
  std::erase_if(strangers_, [&](Stranger& stranger) {
    const StatusOr<bool> admitted = Admit(stranger, now);
    return !admitted.ok() || *admitted;
  });
}

StatusOr<bool> MeshLoop::Admit(Stranger& stranger, Time now) {
  const auto refused = [] {
    return Fail(StatusCode::kInvalidArgument, "it is no worker of this job");
  };
  Frame frame;
  const StatusOr<bool> received = stranger.channel->Receive(now, frame);
  if (!received.ok()) return received.status();
  if (!*received) {
    if (now - stranger.since > options_.patience.handshake) return refused();
    MXC_RT_RETURN_IF_ERROR(stranger.channel->Pump(now));
    return false;
  }
  const StatusOr<Hello> hello = DecodeHello(frame);
  if (!hello.ok()) return hello.status();
  const bool fits = hello->rank > options_.rank &&
                    hello->rank < options_.workers &&
                    peers_[hello->rank].channel == nullptr;
  const std::string identity = stranger.channel->connection().identity();
  if (!fits || (options_.accepting != nullptr &&
                identity != WorkerIdentity(hello->rank))) {
    return refused();
  }
  peers_[hello->rank].channel = std::move(stranger.channel);
  --missing_;
  return true;
}

Status MeshLoop::PumpPeer(Peer& peer, Time now) {
  MXC_RT_RETURN_IF_ERROR(peer.channel->Pump(now));
  Frame frame;
  const auto place = [&peer](const Header& header) {
    return header.type == FrameType::kMessage ? peer.inbox.Place(header)
                                              : std::span<std::byte>();
  };
  for (int i = 0; i < kMostPeerFrames; ++i) {
    const auto received = peer.channel->Receive(now, frame, place);
    if (!received.ok()) return received.status();
    if (!*received) return peer.channel->Pump(now);
    MXC_RT_RETURN_IF_ERROR(Take(peer, frame));
  }
  more_ = true;
  return peer.channel->Pump(now);
}

// Who leaves has sent all that it had to.
Status MeshLoop::Take(Peer& peer, const Frame& frame) {
  if (frame.type == FrameType::kMessage) return peer.inbox.Take(frame);
  if (frame.type != FrameType::kBye) {
    return Fail(StatusCode::kCorrupt, "it does not send type %d",
                static_cast<int>(frame.type));
  }
  if (peer.inbox.waits()) return Ended();
  peer.left = true;
  return {};
}

Status MeshLoop::Begin(MeshRequest& request) {
  const auto done = std::exchange(request.done, [](const Status&) {});
  Peer& peer = peers_[request.peer];
  if (!request.sends) {
    MXC_RT_RETURN_IF_ERROR(peer.inbox.Ask(request.slot, request.bytes, done));
    return peer.left && peer.inbox.waits() ? Ended() : Status();
  }
  Send(request, done);
  return peer.left ? Ended() : Status();
}

// The channel lets go of the body when it has sent it, or is broken.
void MeshLoop::Send(const MeshRequest& request, const Inbox::Done& done) {
  Header header = HeaderOf(FrameType::kMessage);
  header.seq = request.slot;
  Bytes bytes = request.bytes;
  if (bytes.empty()) {
    header.flags = kNoBytes;
    bytes = kOneByte;
  }
  const Body body(new Content{bytes, {}, {}, 0},
                  [this, done](Content* content) {
                    delete content;
                    done(failed_);
                  });
  const auto& channel = peers_[request.peer].channel;
  if (channel != nullptr) channel->Send(header, body);
}

// Behind all messages.
void MeshLoop::Leave() {
  constexpr int64_t kLast = INT64_MAX;
  for (Peer& peer : peers_) {
    if (peer.channel == nullptr) continue;
    peer.channel->Send(HeaderOf(FrameType::kBye), EncodeText("bye"), kLast);
  }
}

bool MeshLoop::over() const {
  return std::ranges::all_of(peers_, [](const Peer& peer) {
    return peer.channel == nullptr ||
           (peer.left && !peer.channel->interest().write);
  });
}

void MeshLoop::Break(const Status& cause) {
  failed_ = cause;
  options_.listener = nullptr;
  strangers_.clear();
  for (MeshRequest& request : std::exchange(early_, {})) request.done(cause);
  for (Peer& peer : peers_) {
    peer.channel = nullptr;
    peer.inbox.Fail(cause);
  }
}

std::vector<Interest> MeshLoop::interests() const {
  std::vector<Interest> interests;
  if (options_.listener != nullptr) {
    interests.push_back({options_.listener->descriptor(), false});
  }
  for (const Stranger& stranger : strangers_) {
    interests.push_back(stranger.channel->interest());
  }
  for (const Peer& peer : peers_) {
    if (peer.channel != nullptr) interests.push_back(peer.channel->interest());
  }
  return interests;
}

Time MeshLoop::deadline() const {
  Time earliest = transport_.Now() + (more_ ? 0 : kSecond);
  for (const Peer& peer : peers_) {
    if (peer.channel == nullptr) continue;
    earliest = std::min(earliest, peer.channel->deadline());
  }
  return earliest;
}

}  // namespace mxc::kvstore
