// SPDX-License-Identifier: Apache-2.0
// The keys of a job that trains an artifact: the states that its entries
// `update` read and write. All nodes open the same artifact and find the same.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "runtime/artifact/communication.h"
#include "runtime/executor/model.h"
#include "runtime/kvstore/keys.h"

namespace mxc::train {

struct ArtifactKeys {
  kvstore::KeyTable table;
  kvstore::Placement placement = kvstore::Placement::kBySize;
  std::vector<size_t> states;   // of each key: its row in the tables; see below
  std::vector<size_t> entries;  // of each trained key: its update; else unused
  // Keys of the optimizer that count for each parameter by itself: how many
  // updates there were, and whether there was one.
  std::vector<size_t> counters;
  // The updates of parameters change something that all of them share, beside
  // counters: then it matters which updates a process makes.
  bool shares = false;
  // Of one that trains in f16: the scale of the loss, whose gradient is not
  // finite where any gradient is not; then no other key is to be updated.
  std::optional<uint32_t> loss_scale;
  // The key behind those of the states: where the job begins, a
  // Position.
  uint32_t position = 0;

  // Of workers that keep all states themselves: where the job begins.
  static ArtifactKeys OfPositionAlone();
  // Returns whether the key is what an optimizer keeps for one parameter.
  bool IsOptimizers(uint32_t key) const {
    const kvstore::KeySpec& spec = table[key];
    return !spec.trained && !spec.everywhere && key < position;
  }
  bool IsParameter(uint32_t key) const {
    return table[key].trained && key != loss_scale;
  }
  // Of a state, by its row in the tables: its key, which there is.
  uint32_t KeyOfState(size_t state) const;
};

// What of a parameter is a key; what others share is one in any case.
enum class Kept {
  kAll,         // it, and what the optimizer keeps for it
  kParameters,  // it alone: servers are not to have the rest
  kNothing,     // workers share it, too
};
runtime::StatusOr<ArtifactKeys> KeysOf(const runtime::Tables& tables,
                                       Kept kept = Kept::kAll);
// Of one whose workers train by themselves: the parameters, and where they have
// a block momentum "NAME/speed" behind each, which is no state of the model.
runtime::StatusOr<ArtifactKeys> ParametersOf(const runtime::Model& model,
                                             bool speeds);

}  // namespace mxc::train
