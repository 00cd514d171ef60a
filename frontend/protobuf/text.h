// SPDX-License-Identifier: Apache-2.0
// The text format of Protocol Buffers, as people write it ("prototxt").
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "frontend/protobuf/message.h"
#include "ir/support/diagnostic.h"
#include "ir/support/result.h"

namespace mxc::protobuf {

// What a text may make us do at most.
struct TextLimits {
  int depth = 100;              // of messages in messages
  size_t messages = 2'000'000;  // in all
  size_t bytes = size_t{256} << 20;
};

// Reads the text into `message`, which is of that type and knows afterwards, as
// do all in it, where it stands. Texts point into the source or, where they have
// escapes or several parts, into `storage`. Fails with all that is wrong: fields
// that the type lacks (with the nearest that it has), values of other kinds,
// fields that are there twice and may be once. What is written wrongly as a text
// ends the reading.
Status ParseText(std::shared_ptr<const SourceFile> source,
                 const MessageType& type, Message& message, Storage& storage,
                 const TextLimits& limits = {});

// Returns whether the text begins like such a message: after blanks and
// comments comes a field that the type has, with its value's beginning.
bool LooksLike(std::string_view text, const MessageType& type);

// The place of a message in the text that it was read from.
SourceLoc LocateIn(const std::shared_ptr<const SourceFile>& source,
                   const Message& message);

}  // namespace mxc::protobuf
