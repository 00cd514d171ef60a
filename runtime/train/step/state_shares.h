// SPDX-License-Identifier: Apache-2.0
// Which worker of a job updates which part of the parameters, and alone keeps
// what the optimizer keeps for it. A function of the artifact and the number of
// workers: nobody needs to be told.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/train/step/artifact_keys.h"

namespace mxc::train {

class StateShares {
 public:
  // Elements of a key.
  struct Part {
    uint64_t begin = 0, count = 0;
    uint32_t worker = 0;
  };

  // Parameters of at least `cut_from` elements are cut where the tasks of their
  // updates end, a part for each worker; others go to the worker that has least. One whose update needs a
  // norm, or whose tasks are uneven, is not cut. kUnsupported where the optimizer
  // keeps something for all parameters together that each update changes.
  static runtime::StatusOr<StateShares> Of(const ArtifactKeys& keys,
                                           uint32_t workers, uint64_t cut_from);

  // In the order of elements; those of a parameter and of what the optimizer
  // keeps for each of its elements are alike.
  const std::vector<Part>& Parts(uint32_t key) const { return parts_[key]; }
  // Of what the optimizer keeps for each parameter: what the worker has of it,
  // and all of it.
  uint64_t BytesOf(uint32_t worker) const { return bytes_[worker]; }
  uint64_t bytes() const;
  uint64_t most() const;  // that any worker has

 private:
  std::vector<std::vector<Part>> parts_;  // by key
  std::vector<uint64_t> bytes_;           // by worker
};

}  // namespace mxc::train
