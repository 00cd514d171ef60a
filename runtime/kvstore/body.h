// SPDX-License-Identifier: Apache-2.0
// What frames carry, and memory for it that is used again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/kvstore/status.h"

namespace mxc::kvstore {

// Bytes that any number of channels send, each at its own pace: its own, or
// lent by somebody who does not change them before all have sent them.
struct Content {
  Bytes bytes;
  std::vector<std::byte> owned;
  std::vector<uint64_t> sums;  // checksums of its payloads, as far as known
  uint8_t codec = 0;           // of a value (compression.h)
  bool changes = false;        // of a value: rows that have changed, numbered
};

// Used by the channels of one thread.
using Body = std::shared_ptr<Content>;

inline Body Lend(Bytes bytes) {
  return std::make_shared<Content>(Content{bytes, {}, {}});
}

inline Body Own(std::vector<std::byte> bytes) {
  auto body = std::make_shared<Content>();
  body->owned = std::move(bytes);
  body->bytes = body->owned;
  return body;
}

// From now on they are its own, of equal values.
inline void MakeOwn(Content& content) {
  if (!content.owned.empty()) return;
  content.owned.assign(content.bytes.begin(), content.bytes.end());
  content.bytes = content.owned;
}

// Memory of few sizes that come again and again. The system's own is slower to
// hand out, page by page, than the network is to fill it.
class Buffers {
 public:
  std::vector<std::byte> Take(size_t bytes) {
    auto& free = free_[bytes];
    if (free.empty()) return std::vector<std::byte>(bytes);
    std::vector<std::byte> taken = std::move(free.back());
    free.pop_back();
    return taken;
  }
  void Give(std::vector<std::byte> buffer) {
    const size_t bytes = buffer.size();
    if (bytes > 0) free_[bytes].push_back(std::move(buffer));
  }

 private:
  std::map<size_t, std::vector<std::vector<std::byte>>> free_;
};

}  // namespace mxc::kvstore
