// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/channel.h"

#include <algorithm>
#include <limits>

#include "runtime/base/checksum.h"

namespace mxc::kvstore {
namespace {

constexpr int64_t kAtOnce = std::numeric_limits<int64_t>::min();

// Who sends a body to many sums it up once.
uint64_t SumOf(const Body& body, size_t offset) {
  if (body == nullptr) return runtime::Checksum({});
  const size_t payload = offset / kMaxPayload;
  if (payload >= body->sums.size()) {
    const Bytes rest = body->bytes.subspan(offset);
    body->sums.resize(payload);
    body->sums.push_back(
        runtime::Checksum(rest.first(std::min(rest.size(), kMaxPayload))));
  }
  return body->sums[payload];
}

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
  outgoing.header.total =
      outgoing.body == nullptr ? 0 : outgoing.body->bytes.size();
  if (outgoing.header.total == 0) priority = kAtOnce;
  waiting_.emplace(std::pair(priority, order_++), std::move(outgoing));
}

// The next payload of what is most urgent.
void Channel::EncodeNext() {
  const auto next = waiting_.begin();
  Header& header = next->second.header;
  body_ = next->second.body;
  payload_begin_ = header.offset;
  payload_bytes_ = std::min<size_t>(header.total - header.offset, kMaxPayload);
  head_bytes_ = kHeaderBytes;
  sent_ = 0;
  head_ = EncodeHeader(
      header, unsent_payload(),
      HasSum(header.type) ? SumOf(body_, payload_begin_) : uint64_t{0});
  header.offset += payload_bytes_;
  if (header.offset == header.total) waiting_.erase(next);
}

Bytes Channel::unsent_payload() const {
  if (body_ == nullptr) return {};
  const size_t sent = sent_ - std::min(sent_, kHeaderBytes);
  return body_->bytes.subspan(payload_begin_ + sent, payload_bytes_ - sent);
}

Status Channel::Pump(Time now) {
  if (IsSilent(now)) {
    return Fail(StatusCode::kIo, "%s: nothing was heard for %lld s",
                connection_->peer().c_str(),
                static_cast<long long>((now - heard_) / kSecond));
  }
  if (now - spoken_ >= patience_.heartbeat && idle()) Send(Header());
  while (!idle()) {
    if (!partly_sent()) EncodeNext();
    const StatusOr<size_t> count =
        connection_->Write(unsent_head(), unsent_payload());
    if (!count.ok()) return count.status();
    if (*count == 0) break;
    sent_ += *count;
    spoken_ = now;
    if (!partly_sent()) body_ = nullptr;
  }
  return connection_->Flush();
}

StatusOr<bool> Channel::Receive(Time now, Frame& frame, const Place& place) {
  while (true) {
    const StatusOr<size_t> count = connection_->Read(decoder_.Room());
    if (!count.ok()) return count.status();
    if (*count == 0) return false;
    heard_ = now;
    const StatusOr<bool> whole = decoder_.Advance(*count, place);
    if (!whole.ok()) {
      return Fail(whole.status().code(), "%s: %s", connection_->peer().c_str(),
                  whole.status().message().c_str());
    }
    if (!*whole) continue;
    frame = decoder_.frame();
    if (frame.type != FrameType::kHeartbeat) return true;
  }
}

// While something waits for room no heartbeat is due: only room helps.
Time Channel::deadline() const {
  const Time silent = heard_ + patience_.silence;
  return idle() ? std::min(silent, spoken_ + patience_.heartbeat) : silent;
}

}  // namespace mxc::kvstore
