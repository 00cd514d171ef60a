// SPDX-License-Identifier: Apache-2.0
// SHA-256: unlike the checksums of runtime/base it resists an adversary.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"

namespace mxc::signature {

using Digest = std::array<std::byte, 32>;

// 64 hexadecimal digits in lower case, as sha256sum prints them.
std::string Hex(const Digest& digest);

// Of bytes that come in pieces. Fails where this machine has no libcrypto.
class RunningDigest {
 public:
  static runtime::StatusOr<RunningDigest> Begin();

  void Add(runtime::Bytes bytes);
  Digest Finish();

 private:
  struct Free {
    void operator()(void* context) const;
  };
  std::unique_ptr<void, Free> context_;
};

runtime::StatusOr<Digest> DigestOf(runtime::Bytes bytes);

}  // namespace mxc::signature
