// SPDX-License-Identifier: Apache-2.0
// The gradients of several batches, added up for one update.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "runtime/artifact/communication.h"
#include "runtime/executor/executor.h"
#include "runtime/kvstore/rows.h"
#include "runtime/train/step/artifact_step.h"

namespace mxc::train {

class GradientSums {
 public:
  // `step` is one of gradients, and must outlive this.
  explicit GradientSums(const ArtifactStep& step) : step_(step) {}

  // Returns whether nothing was ever added.
  bool empty() const { return sums_.empty(); }
  // Adds what a run of the executor has left in an exchange's output, once it is
  // final. What came before the last Finish is forgotten.
  void Add(const runtime::Executor& executor,
           const runtime::Exchange& exchange);
  // The same of the last batch. Returns what the update takes: the mean of all
  // batches, or the sum where the optimizer was told rescale_grad; of a table
  // nothing, but see Rows. It stays where it is until the next Add.
  std::span<const float> Finish(const runtime::Executor& executor,
                                const runtime::Exchange& exchange);

  // What Finish returned of a state last.
  std::span<const float> Values(uint32_t state) const {
    return sums_.at(state).values;
  }
  // The same of a table: the rows that any of the batches has used.
  const kvstore::OwnRows& Rows(uint32_t state) const {
    return sums_.at(state).rows;
  }
  // As TrainStep::gradient_norms, of what Finish returned.
  std::vector<float> Norms() const;

 private:
  struct Sum {
    std::vector<float> values;
    kvstore::OwnRows rows;
    int64_t batches = 0;
  };

  static void AddRows(const runtime::Executor& executor,
                      const runtime::Exchange& exchange, Sum& sum);

  const ArtifactStep& step_;
  std::map<uint32_t, Sum> sums_;  // by state, as its row in the tables
};

}  // namespace mxc::train
