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

std::vector<std::string> PartsOf(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char byte : text) {
    if (byte == separator) {
      parts.emplace_back();
    } else {
      parts.back() += byte;
    }
  }
  return parts;
}

ClientOptions Agreed(ClientOptions options) {
  options.settings.servers = static_cast<uint32_t>(options.servers.size());
  return options;
}

}  // namespace

Client::Client(Transport& transport, const KeyTable& keys,
               const ClientOptions& options)
    : transport_(transport),
      options_(Agreed(options)),
      parts_(keys, options_.settings),
      states_(parts_.table.size()),
      residuals_(keys.size()) {
  for (uint32_t i = 0; i < options.servers.size(); ++i) {
    servers_.push_back(std::make_unique<Server>());
    servers_.back()->index = i;
    servers_.back()->addresses = PartsOf(options.servers[i], '|');
    servers_.back()->lost = transport.Now();
  }
  if (!options.settings.compression.has_residual()) return;
  for (size_t key = 0; key < keys.size(); ++key) {
    if (!keys[key].trained || keys[key].sparse()) continue;
    residuals_[key].resize(keys[key].elements());
  }
}

Client::~Client() = default;

// --- what the worker wants: of each part of a key

template <class T>
std::span<T> Client::Slice(uint32_t part, std::span<T> whole) const {
  if (whole.empty()) return whole;
  return whole.subspan(parts_.parts[part].begin * sizeof(float) / sizeof(T),
                       parts_.table[part].bytes / sizeof(T));
}

void Client::Init(uint32_t key, Bytes value) {
  for (uint32_t part = parts_.of[key]; part < parts_.of[key + 1]; ++part) {
    BeginInit(part, Slice(part, value));
  }
}

void Client::BeginInit(uint32_t part, Bytes value) {
  State& state = states_[part];
  state.init = Own({value.begin(), value.end()});
  for (const auto& server : servers_) {
    if (!parts_.table[part].everywhere &&
        parts_.parts[part].server != server->index) {
      continue;
    }
    state.uninitialized.push_back(server->index);
    SendInit(*server, part);
  }
  ++open_;
}

Body Client::Encoded(uint32_t part, std::span<const float> gradient) {
  const Compression& compression = options_.settings.compression;
  const std::span<float> residual(residuals_[parts_.parts[part].key]);
  return compression.codec == Codec::kNone
             ? Lend(std::as_bytes(gradient))
             : Own(Encode(compression, gradient, Slice(part, residual)));
}

void Client::BeginPush(uint32_t part, Body push, double rate,
                       int64_t priority) {
  State& state = states_[part];
  state.push = std::move(push);
  ++state.seq;
  state.rate = rate;
  state.priority = priority;
  ++open_;
}

void Client::Push(uint32_t key, std::span<const float> gradient, double rate,
                  int64_t priority) {
  for (uint32_t part = parts_.of[key]; part < parts_.of[key + 1]; ++part) {
    BeginPush(part, Encoded(part, Slice(part, gradient)), rate, priority);
    SendPush(ServerOf(part), part);
  }
}

void Client::BeginPull(uint32_t part, std::span<std::byte> out, Body rows) {
  states_[part].out = out;
  states_[part].rows = std::move(rows);
  states_[part].changes = false;
  states_[part].received = 0;
  ++open_;
}

void Client::PushPull(uint32_t key, std::span<const float> gradient,
                      double rate, std::span<std::byte> out, int64_t priority) {
  for (uint32_t part = parts_.of[key]; part < parts_.of[key + 1]; ++part) {
    BeginPush(part, Encoded(part, Slice(part, gradient)), rate, priority);
    states_[part].want_value = true;
    BeginPull(part, Slice(part, out));
    SendPush(ServerOf(part), part);
  }
}

void Client::Pull(uint32_t key, std::span<std::byte> out, int64_t priority) {
  for (uint32_t part = parts_.of[key]; part < parts_.of[key + 1]; ++part) {
    BeginPull(part, Slice(part, out));
    states_[part].priority = priority;
    if (states_[part].push == nullptr) SendPull(ServerOf(part), part);
  }
}

bool Client::idle(uint32_t key) const {
  const auto first = states_.begin() + parts_.of[key];
  const auto end = states_.begin() + parts_.of[key + 1];
  return std::all_of(first, end, [](const State& state) {
    return state.init == nullptr && state.push == nullptr && state.out.empty();
  });
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

void Client::SendInit(Server& server, uint32_t part) {
  if (!server.welcome) return;
  server.channel->Send(HeaderOf(FrameType::kInit, part), states_[part].init,
                       part);
}

void Client::SendPush(Server& server, uint32_t part) {
  if (!server.welcome) return;
  const State& state = states_[part];
  Header header = HeaderOf(FrameType::kPush, part);
  header.codec = static_cast<uint8_t>(
      parts_.table[part].sparse() ? Codec::kNone
                                  : options_.settings.compression.codec);
  header.flags = state.want_value ? kWantValue : 0;
  header.seq = state.seq;
  header.rate = state.rate;
  server.channel->Send(header, state.push, state.priority);
}

void Client::SendPull(Server& server, uint32_t part) {
  if (!server.welcome) return;
  const State& state = states_[part];
  Header header = HeaderOf(FrameType::kPull, part);
  if (state.adopts) {
    header.flags = kAsOfRound;
    header.seq = joined_;
  } else if (state.changes && state.has) {
    header.flags = kChanges;
    header.holds = *state.has;
  }
  server.channel->Send(header, state.rows, state.priority);
}

// Sends all that is under way, from the beginning; not to a pair's process that
// is the server no more.
Status Client::Welcome(Server& server, const Frame& frame) {
  if (frame.seq < server.term) {
    return Fail(StatusCode::kIo, "%s is not the server any more",
                server.addresses[server.at].c_str());
  }
  server.term = frame.seq;
  replaces_ = replaces_ || (frame.flags & kReplaces) != 0;
  server.welcome = server.ever = true;
  for (uint32_t part = 0; part < states_.size(); ++part) {
    State& state = states_[part];
    if (std::ranges::count(state.uninitialized, server.index) > 0) {
      SendInit(server, part);
    }
    if (parts_.parts[part].server != server.index) continue;
    state.received = 0;
    if (state.push != nullptr) {
      SendPush(server, part);
    } else if (!state.out.empty()) {
      SendPull(server, part);
    }
  }
  if (finishing_) server.channel->Send(HeaderOf(FrameType::kBye));
  GoOnJoining();
  return {};
}

// --- what it hears

Status Client::Handle(Server& server, const Frame& frame) {
  switch (frame.type) {
    case FrameType::kWelcome:
      return server.welcome ? Unexpected("a welcome") : Welcome(server, frame);
    case FrameType::kReject:
      if ((frame.flags & kElsewhere) != 0) {
        return Fail(StatusCode::kIo, "%s is not the server",
                    server.addresses[server.at].c_str());
      }
      return Reject(server, frame);
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
      if (frame.key >= states_.size() ||
          parts_.parts[frame.key].server != server.index) {
        // Of keys that are everywhere, only commits of their first values.
        const bool init = frame.type == FrameType::kCommit &&
                          frame.key < states_.size() &&
                          parts_.table[frame.key].everywhere;
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
              server.addresses[server.at].c_str(),
              std::string(frame.text().substr(0, kLongestSentence)).c_str());
}

Status Client::OnCommit(Server& server, const Frame& frame) {
  State& state = states_[frame.key];
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

}  // namespace mxc::kvstore
