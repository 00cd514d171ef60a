// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/client.h"

#include <algorithm>
#include <utility>

#include "runtime/kvstore/client_server.h"
#include "runtime/kvstore/hello.h"

namespace mxc::kvstore {
namespace {

Status Unexpected(const char* what) {
  return Fail(StatusCode::kCorrupt, "the server sent %s that nobody asked for",
              what);
}

}  // namespace

Client::Client(Transport& transport, const KeyTable& keys,
               const ClientOptions& options)
    : transport_(transport),
      keys_(keys),
      options_(options),
      homes_(Assign(keys, static_cast<uint32_t>(options.servers.size()),
                    options.settings.placement)),
      keys_state_(keys.size()) {
  for (uint32_t i = 0; i < options.servers.size(); ++i) {
    servers_.push_back(std::make_unique<Server>());
    servers_.back()->index = i;
    servers_.back()->lost = transport.Now();
  }
  if (!options.settings.compression.has_residual()) return;
  for (size_t key = 0; key < keys.size(); ++key) {
    if (keys[key].trained)
      keys_state_[key].residual.resize(keys[key].elements());
  }
}

Client::~Client() = default;

// --- what the worker wants

void Client::Init(uint32_t key, Bytes value) {
  KeyState& state = keys_state_[key];
  state.init = Own({value.begin(), value.end()});
  for (const auto& server : servers_) {
    if (!keys_[key].everywhere && homes_[key] != server->index) continue;
    state.uninitialized.push_back(server->index);
    SendInit(*server, key);
  }
  ++open_;
}

void Client::BeginPush(uint32_t key, std::span<const float> gradient,
                       double rate, int64_t priority) {
  KeyState& state = keys_state_[key];
  const Compression& compression = options_.settings.compression;
  state.push = compression.codec == Codec::kNone
                   ? Lend(std::as_bytes(gradient))
                   : Own(Encode(compression, gradient, state.residual));
  ++state.seq;
  state.rate = rate;
  state.priority = priority;
  ++open_;
}

void Client::Push(uint32_t key, std::span<const float> gradient, double rate,
                  int64_t priority) {
  BeginPush(key, gradient, rate, priority);
  SendPush(*servers_[homes_[key]], key);
}

void Client::PushPull(uint32_t key, std::span<const float> gradient,
                      double rate, std::span<std::byte> out, int64_t priority) {
  BeginPush(key, gradient, rate, priority);
  keys_state_[key].want_value = true;
  keys_state_[key].out = out;
  keys_state_[key].received = 0;
  ++open_;
  SendPush(*servers_[homes_[key]], key);
}

void Client::Pull(uint32_t key, std::span<std::byte> out, int64_t priority) {
  KeyState& state = keys_state_[key];
  state.out = out;
  state.received = 0;
  state.priority = priority;
  ++open_;
  if (state.push == nullptr) SendPull(*servers_[homes_[key]], key);
}

void Client::Finish() {
  finishing_ = true;
  for (const auto& server : servers_) {
    if (server->welcome) server->channel->Send(HeaderOf(FrameType::kBye));
  }
}

void Client::Abort(const std::string& sentence) {
  for (const auto& server : servers_) {
    if (!server->welcome) continue;
    server->channel->Send(HeaderOf(FrameType::kAbort), EncodeText(sentence));
    (void)server->channel->Pump(transport_.Now()).ok();
  }
}

bool Client::finished() const {
  return std::ranges::all_of(servers_,
                             [](const auto& server) { return server->done; });
}

// --- what it sends

void Client::SendInit(Server& server, uint32_t key) {
  if (!server.welcome) return;
  server.channel->Send(HeaderOf(FrameType::kInit, key), keys_state_[key].init,
                       key);
}

void Client::SendPush(Server& server, uint32_t key) {
  if (!server.welcome) return;
  const KeyState& state = keys_state_[key];
  Header header = HeaderOf(FrameType::kPush, key);
  header.codec = static_cast<uint8_t>(options_.settings.compression.codec);
  header.flags = state.want_value ? kWantValue : 0;
  header.seq = state.seq;
  header.rate = state.rate;
  server.channel->Send(header, state.push, state.priority);
}

void Client::SendPull(Server& server, uint32_t key) {
  if (!server.welcome) return;
  server.channel->Send(HeaderOf(FrameType::kPull, key));
}

// All that is under way, from the beginning.
void Client::Welcome(Server& server) {
  server.welcome = server.ever = true;
  for (uint32_t key = 0; key < keys_.size(); ++key) {
    KeyState& state = keys_state_[key];
    if (std::ranges::count(state.uninitialized, server.index) > 0) {
      SendInit(server, key);
    }
    if (homes_[key] != server.index) continue;
    state.received = 0;
    if (state.push != nullptr) {
      SendPush(server, key);
    } else if (!state.out.empty()) {
      SendPull(server, key);
    }
  }
  if (finishing_) server.channel->Send(HeaderOf(FrameType::kBye));
  GoOnJoining();
}

// --- what it hears

Status Client::Handle(Server& server, const Frame& frame) {
  switch (frame.type) {
    case FrameType::kWelcome:
      if (server.welcome) return Unexpected("a welcome");
      replaces_ = replaces_ || (frame.flags & kReplaces) != 0;
      Welcome(server);
      return {};
    case FrameType::kReject:
    case FrameType::kAbort:
      return Reject(server, frame);
    case FrameType::kBye:
      if (!finishing_) return Unexpected("an end");
      server.done = true;
      server.channel = nullptr;
      return {};
    case FrameType::kJoin:
      OnJoin(server, frame);
      return {};
    case FrameType::kCommit:
    case FrameType::kValue:
      if (frame.key >= keys_.size() || homes_[frame.key] != server.index) {
        // Of keys that are everywhere, only commits of their first values.
        const bool init = frame.type == FrameType::kCommit &&
                          frame.key < keys_.size() &&
                          keys_[frame.key].everywhere;
        if (!init) return Unexpected("a key");
      }
      return frame.type == FrameType::kCommit ? OnCommit(server, frame)
                                              : OnValue(server, frame);
    default:
      return Unexpected("a frame");
  }
}

// Not the connection's end, but the worker's.
Status Client::Reject(const Server& server, const Frame& frame) const {
  return Fail(StatusCode::kFailed, "server %u (%s): %s", server.index,
              options_.servers[server.index].c_str(),
              std::string(frame.text().substr(0, kLongestSentence)).c_str());
}

Status Client::OnCommit(Server& server, const Frame& frame) {
  KeyState& state = keys_state_[frame.key];
  if (frame.seq == 0) {
    // A second one is the answer to what was sent again.
    if (std::erase(state.uninitialized, server.index) == 0) return {};
    if (!state.uninitialized.empty()) return {};
    state.init = nullptr;
    --open_;
    return {};
  }
  if (state.push == nullptr || frame.seq != state.seq) return {};
  state.push = nullptr;
  --open_;
  const bool follows = std::exchange(state.want_value, false);
  if (!state.out.empty() && !follows) SendPull(server, frame.key);
  return {};
}

// What was pushed again is answered again: that is not awaited.
bool Client::IsAwaited(const Server& server, const Header& value) const {
  if (value.key >= keys_.size() || homes_[value.key] != server.index) {
    return false;
  }
  const KeyState& state = keys_state_[value.key];
  return !state.out.empty() && (state.adopts || value.holds == state.seq);
}

// A value is read where it is wanted.
std::span<std::byte> Client::Place(const Server& server, const Header& header) {
  if (header.type != FrameType::kValue || !IsAwaited(server, header)) return {};
  const KeyState& state = keys_state_[header.key];
  if (header.total != state.out.size() || header.offset != state.received) {
    return {};
  }
  return state.out.subspan(header.offset, header.length);
}

Status Client::OnValue(const Server& server, const Frame& frame) {
  if (!IsAwaited(server, frame)) return {};
  KeyState& state = keys_state_[frame.key];
  if (std::exchange(state.adopts, false)) state.seq = frame.holds;
  if (frame.total != state.out.size() || frame.offset != state.received) {
    return Fail(StatusCode::kCorrupt,
                "the server's value of key '%s' does not fit",
                keys_[frame.key].name.c_str());
  }
  const auto to = state.out.subspan(frame.offset, frame.length);
  if (frame.payload.data() != to.data())
    std::ranges::copy(frame.payload, to.begin());
  state.received += frame.length;
  if (state.received < frame.total) return {};
  state.version = frame.seq;
  state.out = {};
  --open_;
  return {};
}

}  // namespace mxc::kvstore
