// SPDX-License-Identifier: Apache-2.0
// Fields of protocol buffers, appended to a message.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mxc::train {

enum WireType { kVarint = 0, kFixed64 = 1, kCounted = 2, kFixed32 = 5 };

inline void PutVarint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

inline void PutKey(std::string& out, int field, WireType type) {
  PutVarint(out, static_cast<uint64_t>(field) << 3 | type);
}

template <class T>
void PutFixed(std::string& out, int field, T value) {
  PutKey(out, field, sizeof value == 8 ? kFixed64 : kFixed32);
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline void PutCounted(std::string& out, int field, std::string_view bytes) {
  PutKey(out, field, kCounted);
  PutVarint(out, bytes.size());
  out += bytes;
}

}  // namespace mxc::train
