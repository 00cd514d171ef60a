// SPDX-License-Identifier: Apache-2.0
// How good a network is on all samples of a source.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/data/iterator.h"
#include "runtime/train/judge.h"
#include "runtime/train/metric.h"
#include "runtime/train/train_step.h"

namespace mxc::train {

// Names and values, in the order in which the metrics were asked for.
using MetricValues = std::vector<std::pair<std::string, double>>;
MetricValues ValuesOf(const MetricList& metrics);

// Of how many terms the loss of a batch is the mean, where samples may have more
// or fewer of them: of softmax losses those labels count that are classes and not
// ignored. Else one for each row.
double LossTerms(const TrainFacts& facts, const data::Batch& batch);

// Whoever wants to know what the network says of each batch.
class ScoreListener {
 public:
  virtual ~ScoreListener() = default;

  // `outputs` as TrainStep's. The last `batch.pad` rows are no samples.
  virtual Status OnBatch(const data::Batch& batch,
                         const data::Iterator& samples,
                         const std::vector<FloatView>& outputs) = 0;
};

struct ScoreResult {
  // The mean of the terms of all samples; nothing where the step reports none.
  std::optional<double> loss;
  int64_t samples = 0;
  double seconds = 0;
  std::vector<std::string> warnings;  // of the samples
};

// One epoch of `samples`, each of which counts once, whatever fills up the last
// batch. Metrics begin anew.
StatusOr<ScoreResult> ScoreAll(TrainStep& step, data::Iterator& samples,
                               MetricList& metrics,
                               ScoreListener* listener = nullptr);

}  // namespace mxc::train
