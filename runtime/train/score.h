// SPDX-License-Identifier: Apache-2.0
// How good a network is on all samples of a source.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runtime/data/iterator.h"
#include "runtime/train/metric.h"
#include "runtime/train/train_step.h"

namespace mxc::train {

// Names and values, in the order in which the metrics were asked for.
using MetricValues = std::vector<std::pair<std::string, double>>;
MetricValues ValuesOf(const MetricList& metrics);

// Updates metrics with what a network said about a batch. Keeps its memory.
class Judge {
 public:
  // The labels of the batch against the first outputs; where there are no
  // labels, all outputs. The last `skip` samples are not counted.
  Status Update(const data::Batch& batch, const std::vector<FloatView>& outputs,
                int64_t skip, MetricList& metrics);

 private:
  std::vector<std::vector<float>> labels_;
};

struct ScoreResult {
  double loss = 0;  // the mean over the batches, by their samples
  int64_t samples = 0;
  double seconds = 0;
  std::vector<std::string> warnings;  // of the samples
};

// One epoch of `samples`; what fills up the last batch is not counted, but in
// its loss. Metrics begin anew.
StatusOr<ScoreResult> ScoreAll(TrainStep& step, data::Iterator& samples,
                               MetricList& metrics);

}  // namespace mxc::train
