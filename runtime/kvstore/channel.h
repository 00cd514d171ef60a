// SPDX-License-Identifier: Apache-2.0
// Frames over a connection. What is urgent overtakes what is not between two
// payloads; who is silent for too long is lost.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "runtime/kvstore/body.h"
#include "runtime/kvstore/frame.h"
#include "runtime/kvstore/transport/transport.h"

namespace mxc::kvstore {

struct Patience {
  Time heartbeat = kSecond;      // something is sent at least so often
  Time silence = 4 * kSecond;    // nothing has come for so long: it is broken
  Time handshake = 5 * kSecond;  // from the connection to the hello
  Time absence = 8 * kSecond;    // nothing was heard for so long: it is lost
  Time comeback = 20 * kSecond;  // who has closed the connection is back within
  Time arrival = 60 * kSecond;   // all have come within
};

class Channel {
 public:
  Channel(std::unique_ptr<Connection> connection, const Patience& patience,
          Time now);

  // The header's offset, total and length are the channel's affair. Smaller
  // numbers
  // are more urgent; equal ones keep their order. Frames without a body come
  // before all others.
  void Send(const Header& header, Body body = nullptr, int64_t priority = 0);

  // Sends what there is room for. An error is the connection's end, as of
  // Receive.
  Status Pump(Time now);
  // True: `frame` is the next one, until the next call.
  StatusOr<bool> Receive(Time now, Frame& frame, const Place& place = {});

  bool idle() const { return waiting_.empty() && !partly_sent(); }
  Interest interest() const {
    return {connection_->descriptor(), !idle() || connection_->unsent()};
  }
  // When Pump has something to do even if nothing moves.
  Time deadline() const;
  const Connection& connection() const { return *connection_; }
  // Returns whether a part of a frame has come.
  bool partly_received() const { return decoder_.begun(); }
  // When something came last.
  Time heard() const { return heard_; }
  // Unless something comes by the next Receive, Pump finds it broken.
  bool IsSilent(Time now) const { return now - heard_ >= patience_.silence; }

 private:
  struct Outgoing {
    Header header;
    Body body;
  };
  // By urgency, then in order.
  using Waiting = std::map<std::pair<int64_t, uint64_t>, Outgoing>;

  bool partly_sent() const { return sent_ < head_bytes_ + payload_bytes_; }
  Bytes unsent_head() const {
    return Bytes(head_).subspan(std::min(sent_, kHeaderBytes));
  }
  // Where the body is by now.
  Bytes unsent_payload() const;
  void EncodeNext();

  const std::unique_ptr<Connection> connection_;
  const Patience patience_;
  Time heard_, spoken_;
  FrameDecoder decoder_;
  Waiting waiting_;
  uint64_t order_ = 0;
  // The frame that is being sent.
  std::array<std::byte, kHeaderBytes> head_ = {};
  Body body_;  // null: it has no payload
  size_t payload_begin_ = 0, payload_bytes_ = 0, head_bytes_ = 0, sent_ = 0;
};

}  // namespace mxc::kvstore
