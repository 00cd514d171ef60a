// SPDX-License-Identifier: Apache-2.0
// The wire format of protocol buffers, value by value; what a message's fields
// are, its readers know. Source: protobuf.dev/programming-guides/encoding.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#include "runtime/base/bytes.h"

namespace mxc::runtime::wire {

enum WireType : uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kLengthDelimited = 2,
  kStartGroup = 3,
  kEndGroup = 4,
  kFixed32 = 5,
};

struct Tag {
  uint64_t number = 0;
  uint8_t type = 0;
};

// A place in bytes, that never leaves them. Every function is false where there
// is not what it takes; the place is then no longer of use.
class Cursor {
 public:
  explicit Cursor(Bytes bytes) : left_(bytes) {}

  size_t left() const { return left_.size(); }

  bool Varint(uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (left_.empty()) return false;
      const auto byte = static_cast<uint64_t>(left_[0]);
      left_ = left_.subspan(1);
      if (shift < 64) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
  template <class T>
  bool Fixed(T& value) {
    if (left_.size() < sizeof(T)) return false;
    std::memcpy(&value, left_.data(), sizeof(T));
    left_ = left_.subspan(sizeof(T));
    return true;
  }
  bool Take(uint64_t size, Bytes& taken) {
    if (size > left_.size()) return false;
    taken = left_.first(static_cast<size_t>(size));
    left_ = left_.subspan(static_cast<size_t>(size));
    return true;
  }
  bool TakeTag(Tag& tag) {
    uint64_t key = 0;
    if (!Varint(key)) return false;
    tag = {key >> 3, static_cast<uint8_t>(key & 7)};
    return tag.number > 0 && tag.number < (uint64_t{1} << 29);
  }

 private:
  Bytes left_;
};

static_assert(std::endian::native == std::endian::little);

}  // namespace mxc::runtime::wire
