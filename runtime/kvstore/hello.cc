// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/hello.h"

#include <cstring>

#include "runtime/formats/byte_reader.h"

namespace mxc::kvstore {

Body EncodeText(const std::string& text) {
  const Bytes bytes = std::as_bytes(std::span(text));
  const size_t size = std::min(bytes.size(), kLongestSentence);
  return Own({bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size)});
}

Body EncodeHello(const Hello& hello) {
  std::vector<std::byte> bytes(sizeof hello.rank + sizeof hello.incarnation);
  std::memcpy(bytes.data(), &hello.rank, sizeof hello.rank);
  std::memcpy(bytes.data() + sizeof hello.rank, &hello.incarnation,
              sizeof hello.incarnation);
  const Bytes text = std::as_bytes(std::span(hello.settings));
  bytes.insert(bytes.end(), text.begin(), text.end());
  return Own(std::move(bytes));
}

StatusOr<Hello> DecodeHello(const Frame& frame) {
  Hello hello;
  runtime::ByteReader reader(frame.payload);
  Bytes text;
  if (frame.type != FrameType::kHello || frame.total != frame.payload.size() ||
      !reader.Read(&hello.rank) || !reader.Read(&hello.incarnation) ||
      reader.left() > kLongestSentence || !reader.Take(reader.left(), &text)) {
    return Fail(StatusCode::kCorrupt, "a worker does not say who it is");
  }
  hello.settings.assign(reinterpret_cast<const char*>(text.data()),
                        text.size());
  return hello;
}

}  // namespace mxc::kvstore
