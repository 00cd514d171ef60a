// SPDX-License-Identifier: Apache-2.0
// Which worker of a job updates which part of the parameters, and alone keeps
// what the optimizer keeps for it, and that part itself where workers share
// parameters, too. A function of the artifact and the number of workers: nobody
// needs to be told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
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
  // updates end, a part for each worker; others go to the worker that has least.
  // One whose update needs a norm, or whose tasks are uneven, is not cut.
  // kUnsupported where the optimizer keeps something for all parameters together
  // that each update changes.
  static runtime::StatusOr<StateShares> Of(const ArtifactKeys& keys,
                                           uint32_t workers, uint64_t cut_from);

  // In the order of elements; those of a parameter and of what the optimizer
  // keeps for each of its elements are alike.
  const std::vector<Part>& Parts(uint32_t key) const { return parts_[key]; }
  // The bytes of a part of a key's value, of which `value` are all.
  std::span<std::byte> In(std::span<std::byte> value, uint32_t key,
                          const Part& part) const;
  // Gives back the memory of what others than `worker` have of the value.
  void ReleaseOthers(std::span<std::byte> value, uint32_t key,
                     uint32_t worker) const;

  // Returns whether a worker of those that share parameters has a part of this
  // one alone. All have what is small, unless it is cut: that costs less than to
  // ask for it.
  bool IsShared(const kvstore::KeySpec& key) const {
    return key.trained && key.elements() >= least_shared_;
  }

  // How much all workers have together, and at most one of them.
  struct Bytes {
    uint64_t all = 0, most = 0;
  };
  Bytes OfOptimizer() const { return Sum(optimizer_); }
  // Of parameters that IsShared says.
  Bytes OfParameters() const { return Sum(parameters_); }

 private:
  static Bytes Sum(const std::vector<uint64_t>& by_worker);

  std::vector<std::vector<Part>> parts_;          // by key
  std::vector<uint64_t> optimizer_, parameters_;  // bytes by worker
  uint64_t least_shared_ = 0;                     // elements
};

}  // namespace mxc::train
