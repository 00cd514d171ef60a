// SPDX-License-Identifier: Apache-2.0
// What a worker keeps that shares parameters with others: of each, and of what the
// optimizer keeps for it, its own part. It is cut out of every state as soon as that
// has its first value, before the next one has, so that no worker ever has all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "runtime/executor/model.h"
#include "runtime/job/status.h"
#include "runtime/train/step/artifact_keys.h"
#include "runtime/train/step/state_shares.h"

namespace mxc::job {

// Used by one thread at a time.
class OwnParts {
 public:
  static StatusOr<OwnParts> Of(const runtime::Model& model, uint32_t rank,
                               uint32_t workers, uint64_t cut_from);

  // Of a state, by its row in the tables, on the host: gives back the memory of
  // what others have of it. All workers have the same first values, from the same
  // files or the same seed: their checksums tell. Empty: what is here is this
  // worker's part already, of a checkpoint that all read.
  void Cut(size_t state, std::span<std::byte> value);

  // By key, of the values that were cut last; 0: there was none.
  const std::vector<uint64_t>& checksums() const { return checksums_; }
  // Keys and shares are those of all workers.
  const train::ArtifactKeys& keys() const { return keys_; }
  const train::StateShares& shares() const { return shares_; }

 private:
  OwnParts(train::ArtifactKeys keys, train::StateShares shares, uint32_t rank)
      : keys_(std::move(keys)),
        shares_(std::move(shares)),
        rank_(rank),
        checksums_(keys_.position) {}

  train::ArtifactKeys keys_;
  train::StateShares shares_;
  uint32_t rank_;
  std::vector<uint64_t> checksums_;
};

}  // namespace mxc::job
