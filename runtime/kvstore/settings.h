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
  kSsp,    // so, too; but no worker gets a value before all others have pushed
           // the key nearly as often as it has (stale synchronous parallel, Ho
           // et al. 2013)
};

struct Settings {
  Mode mode = Mode::kSync;
  uint32_t workers = 1, servers = 1;
  bool mean = false;       // a sync update gets the mean of the gradients
  uint32_t staleness = 0;  // of kSsp: by how many pushes others may lack
  Compression compression;
  Placement placement = Placement::kBySize;
  // A key of at least so many elements is cut over all servers.
  uint64_t cut_from = 1'000'000;
  // What a server has of a key travels in slices of at most so many elements,
  // each a key of its own to it (P3, Jayarajan et al. 2019): it answers one while
  // the next one comes, and what is urgent waits for no more than one. 0: whole.
  uint64_t slice = 0;
  // What servers make of pushes, where it is not the artifact's optimizer.
  std::string rule;
  // Of code for a target "A@B": B, in whose order all workers add. Empty: each adds
  // in its own.
  std::string order;
  uint64_t keys = 0;  // Digest
};

// "dist_sync", "dist_async", MXNet's other names of them, and "dist_ssp".
StatusOr<Mode> ParseMode(std::string_view name);
// Equal for equal settings, to be sent and to be read in a message.
std::string Describe(const Settings& settings);

}  // namespace mxc::kvstore
