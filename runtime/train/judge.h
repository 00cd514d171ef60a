// SPDX-License-Identifier: Apache-2.0
// Labels beside predictions, in the form that metrics understand.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/data/iterator.h"
#include "runtime/train/head.h"
#include "runtime/train/metric.h"

namespace mxc::train {

// A label and a prediction of the same samples.
struct Judged {
  HeadKind kind;
  FloatView label, prediction;
};

// Returns whether metrics that ask this can be asked of such an output.
bool Fits(Metric::Asks asks, HeadKind kind);

// What is said of a network where nobody names metrics; empty: nothing.
std::string DefaultMetrics(const std::vector<Head>& heads);

// Refuses metrics that the network's outputs cannot answer. Nothing is known of
// a network without heads.
Status RequireFit(const MetricList& metrics, const std::vector<Head>& heads);

// Updates metrics with what a network said about batches. Keeps its memory.
class Judge {
 public:
  explicit Judge(std::vector<Head> heads = {}) : heads_(std::move(heads)) {}

  // The labels of the batch against the outputs: of the heads, each metric of
  // those that it fits; where there are none, the labels against the first
  // outputs, and all outputs where there are no labels. The last `skip` samples
  // are not counted.
  //
  // Labels and predictions of a head come as: numbers of classes [n] against
  // [n, classes]; distributions [n, classes] against the same; for metrics
  // about values, all elements [n] against [n]. An element of kProbabilities
  // tells two classes apart, [n] against [n, 2].
  Status Update(const data::Batch& batch, const std::vector<FloatView>& outputs,
                int64_t skip, MetricList& metrics);

 private:
  Status UpdateByHeads(const std::vector<FloatView>& labels,
                       const std::vector<FloatView>& outputs, Metric& metric);
  Judged Arrange(const Head& head, FloatView label, FloatView prediction,
                 bool as_values);

  std::vector<Head> heads_;
  std::vector<std::vector<float>> labels_;
  std::vector<float> arranged_label_, arranged_prediction_;
};

}  // namespace mxc::train
