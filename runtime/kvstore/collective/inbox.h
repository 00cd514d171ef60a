// SPDX-License-Identifier: Apache-2.0
// The messages that come from one worker of a mesh, each to where it is asked
// for. What nobody has asked for yet is kept, up to a limit.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "runtime/kvstore/frame.h"

namespace mxc::kvstore {

// Most bytes of messages that nobody has asked for yet: a ring has two segments
// of 2 MiB under way.
inline constexpr uint64_t kMostEarly = uint64_t{64} << 20;

// Of a message without bytes: it carries one that does not count, so that it
// keeps its place among the others.
inline constexpr uint8_t kNoBytes = 1;

class Inbox {
 public:
  using Done = std::function<void(const Status&)>;

  explicit Inbox(uint64_t most_early = kMostEarly) : most_early_(most_early) {}

  // `done` is called once, perhaps within; until then the bytes are written.
  // An error: what has come does not fit.
  Status Ask(uint64_t slot, std::span<std::byte> bytes, Done done);
  // Where the payload of a message belongs; empty: anywhere. The memory is
  // there until its frame has come.
  std::span<std::byte> Place(const Header& header);
  // It has come, there or elsewhere.
  Status Take(const Frame& frame);
  // Returns whether somebody has asked for what has not come.
  bool waits() const;
  // Nothing more comes.
  void Fail(const Status& cause);

 private:
  // Asked for, coming, or both.
  struct Message {
    uint64_t size = 0, have = 0;
    std::span<std::byte> to;     // who has asked wants it there
    Done done;                   // null: nobody has asked
    std::vector<std::byte> own;  // where it lies, if it came before that
    bool whole = false;

    std::span<std::byte> memory() { return own.empty() ? to : own; }
  };
  using Messages = std::deque<Message>;  // of a slot, in order

  // The one that comes next; null: nobody has asked for it.
  Message* Next(uint64_t slot);
  Status Keep(const Frame& frame);
  void Finish(uint64_t slot);

  uint64_t most_early_;
  std::map<uint64_t, Messages> slots_;
  uint64_t early_ = 0;  // bytes that nobody has asked for
};

}  // namespace mxc::kvstore
