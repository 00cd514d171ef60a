// SPDX-License-Identifier: Apache-2.0
// The wire format of Protocol Buffers.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "frontend/protobuf/message.h"

namespace mxc::protobuf {

// What a file may make us do at most; a message that lies in another one is one
// more of its depth.
struct WireLimits {
  int depth = 100;  // as in Google's own readers
  // Of all messages in the file. A message takes two bytes there, and hundreds in
  // memory.
  size_t messages = 2'000'000;
};

// Reads `bytes` into `message`, which is of that type; texts and Packed numbers
// point into the bytes. Fields that the type lacks are passed over, as every
// reader of the format does. What is wrong, with the path of fields and the
// byte: "graph.node[3].input: 12 bytes are announced, 4 are left (byte 120)".
std::optional<std::string> ParseWire(std::span<const std::byte> bytes,
                                     const MessageType& type, Message& message,
                                     const WireLimits& limits = {});

// Returns whether the bytes begin like such a file: so many fields in turn that
// the type has, in the wire types that it has. Never looks past `bytes`, and
// into no message.
bool LooksLike(std::span<const std::byte> bytes, const MessageType& type);

}  // namespace mxc::protobuf
