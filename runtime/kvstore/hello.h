// SPDX-License-Identifier: Apache-2.0
// The first frame of a worker.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/kvstore/body.h"
#include "runtime/kvstore/frame.h"

namespace mxc::kvstore {

struct Hello {
  uint32_t rank = 0;
  // Differs from start to start of a worker, the same in all its connections.
  uint64_t incarnation = 0;
  std::string settings;  // Describe
};

inline constexpr size_t kLongestSentence = 4096;  // and settings

Body EncodeHello(const Hello& hello);
StatusOr<Hello> DecodeHello(const Frame& frame);
Body EncodeText(const std::string& text);

}  // namespace mxc::kvstore
