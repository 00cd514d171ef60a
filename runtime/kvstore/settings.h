// SPDX-License-Identifier: Apache-2.0
// How the nodes of a job work together; all must say the same.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/kvstore/channel.h"
#include "runtime/kvstore/compression.h"
#include "runtime/kvstore/keys.h"

namespace mxc::kvstore {

enum class Mode {
  kSync,   // a key is updated once all workers have pushed: by their sum
  kAsync,  // a key is updated by each push, when it arrives
};

struct Settings {
  Mode mode = Mode::kSync;
  uint32_t workers = 1;
  bool mean = false;  // a sync update gets the mean of the gradients
  Compression compression;
  Placement placement = Placement::kBySize;
  uint64_t keys = 0;  // Digest
};

// "dist_sync", "dist_async", and MXNet's other names of them.
StatusOr<Mode> ParseMode(std::string_view name);
// Equal for equal settings, to be sent and to be read in a message.
std::string Describe(const Settings& settings);

}  // namespace mxc::kvstore
