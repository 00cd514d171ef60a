// SPDX-License-Identifier: Apache-2.0
// Writes the wire format of Protocol Buffers.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace mxc::protobuf {

// The bytes of one message, field after field, in the order of the calls.
class WireWriter {
 public:
  const std::string& bytes() const { return bytes_; }

  // int32, int64, bool, an enumeration.
  void Int(int field, int64_t value) {
    Tag(field, 0);
    Varint(static_cast<uint64_t>(value));
  }
  void Float(int field, float value) {
    Tag(field, 5);
    char four[4];
    std::memcpy(four, &value, 4);
    bytes_.append(four, 4);
  }
  void Bytes(int field, std::string_view bytes) {
    Tag(field, 2);
    Varint(bytes.size());
    bytes_.append(bytes);
  }
  void Message(int field, const WireWriter& message) {
    Bytes(field, message.bytes());
  }

 private:
  void Tag(int field, int type) {
    Varint(static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(type));
  }
  void Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
      bytes_ += static_cast<char>((value & 0x7f) | 0x80);
    }
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace mxc::protobuf
