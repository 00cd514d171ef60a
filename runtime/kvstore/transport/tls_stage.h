// SPDX-License-Identifier: Apache-2.0
// Encrypted bytes on their way between OpenSSL and the connection below it.
// What comes is read to where OpenSSL decrypts it; what leaves is collected to
// one piece: by themselves records of 16 KiB would each be a call of the system.
#pragma once

#include <span>
#include <vector>

#include "runtime/kvstore/openssl.h"
#include "runtime/kvstore/transport/transport.h"

namespace mxc::kvstore {

class Stage {
 public:
  size_t size() const { return end_ - begin_; }
  Bytes bytes() const { return Bytes(memory_).subspan(begin_, size()); }
  std::span<std::byte> room() { return std::span(memory_).subspan(end_); }
  void Add(size_t count) { end_ += count; }
  void Drop(size_t count) {
    begin_ += count;
    if (begin_ == end_) begin_ = end_ = 0;
  }

 private:
  static constexpr size_t kBytes = 256 << 10;

  std::vector<std::byte> memory_ = std::vector<std::byte>(kBytes);
  size_t begin_ = 0, end_ = 0;
};

struct Stages {
  Connection* in = nullptr;
  Status in_failed;  // why nothing more can be read
  Stage out;
};

// OpenSSL reads from `in` and writes to `out`, which must outlive it. For who
// has OpenSSL; null: there is no memory.
BIO* MakeBio(Stages& stages);

}  // namespace mxc::kvstore
