// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/channel.h"

#include <algorithm>
#include <limits>

namespace mxc::kvstore {
namespace {

constexpr int64_t kAtOnce = std::numeric_limits<int64_t>::min();

}  // namespace

Channel::Channel(std::unique_ptr<Connection> connection,
                 const Patience& patience, Time now)
    : connection_(std::move(connection)),
      patience_(patience),
      heard_(now),
      spoken_(now) {}

void Channel::Send(const Header& header, Body body, int64_t priority) {
  Outgoing outgoing{header, std::move(body)};
  outgoing.header.offset = 0;
  outgoing.header.total = outgoing.body == nullptr ? 0 : outgoing.body->size();
  if (outgoing.header.total == 0) priority = kAtOnce;
  waiting_.emplace(std::pair(priority, order_++), std::move(outgoing));
}

// The next payload of what is most urgent.
void Channel::EncodeNext() {
  const auto next = waiting_.begin();
  Outgoing& outgoing = next->second;
  Header& header = outgoing.header;
  Bytes payload;
  if (outgoing.body != nullptr) {
    payload = Bytes(*outgoing.body).subspan(header.offset);
    payload = payload.first(std::min(payload.size(), kMaxPayload));
  }
  const auto encoded = EncodeHeader(header, payload);
  frame_.assign(encoded.begin(), encoded.end());
  frame_.insert(frame_.end(), payload.begin(), payload.end());
  sent_ = 0;
  header.offset += payload.size();
  if (header.offset == header.total) waiting_.erase(next);
}

Status Channel::Pump(Time now) {
  if (now - heard_ >= patience_.silence) {
    return Fail(StatusCode::kIo, "%s: nothing was heard for %lld s",
                connection_->peer().c_str(),
                static_cast<long long>((now - heard_) / kSecond));
  }
  if (now - spoken_ >= patience_.heartbeat && idle()) Send(Header());
  while (!idle()) {
    if (!partly_sent()) EncodeNext();
    const StatusOr<size_t> count =
        connection_->Write(Bytes(frame_).subspan(sent_));
    if (!count.ok()) return count.status();
    if (*count == 0) break;
    sent_ += *count;
    spoken_ = now;
  }
  return connection_->Flush();
}

StatusOr<bool> Channel::Receive(Time now, Frame& frame) {
  while (true) {
    const StatusOr<size_t> count = connection_->Read(decoder_.Room());
    if (!count.ok()) return count.status();
    if (*count == 0) return false;
    heard_ = now;
    const StatusOr<bool> whole = decoder_.Advance(*count);
    if (!whole.ok()) {
      return Fail(whole.status().code(), "%s: %s", connection_->peer().c_str(),
                  whole.status().message().c_str());
    }
    if (!*whole) continue;
    std::swap(frame, decoder_.frame());
    if (frame.type != FrameType::kHeartbeat) return true;
  }
}

Time Channel::deadline() const {
  return std::min(heard_ + patience_.silence, spoken_ + patience_.heartbeat);
}

}  // namespace mxc::kvstore
