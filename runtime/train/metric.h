// SPDX-License-Identifier: Apache-2.0
// How good predictions are: MXNet's metrics (MXNet 1.9.1
// python/mxnet/metric.py) over plain arrays of floats.
//
//   accuracy (acc)        axis=1
//   top_k_accuracy (top_k_acc), top_5
//                         top_k
//   f1, mcc               average=micro|macro|batch
//   perplexity            ignore_label, axis=-1
//   mae, mse, rmse        average=micro|batch
//   cross-entropy (ce), nll_loss
//                         eps=1e-12
//   pearsonr              average=micro|batch
//   pcc
//   loss (torch, caffe)
//
// A value is that of all samples, however they were dealt to batches (micro).
// MXNet takes the mean of the batches' values where average=batch is named, which
// is its default: a last batch of few samples then counts as much as others. f1
// and mcc tell two classes apart; macro: the mean over the classes, each of which
// is told apart from the others (scikit-learn's, not MXNet's, which calls the
// mean over batches so).
//
// Arguments are written as in perplexity:ignore_label=0.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/train/specification.h"
#include "runtime/train/status.h"

namespace mxc::train {

// A dense row-major array; the memory is the caller's.
struct FloatView {
  std::span<const float> values;  // as many as `shape` says
  std::vector<int64_t> shape;
};

// Adds up over batches. An update that fails changes nothing.
class Metric {
 public:
  explicit Metric(std::string name) : name_(std::move(name)) {}
  virtual ~Metric() = default;
  Metric(const Metric&) = delete;
  Metric& operator=(const Metric&) = delete;

  // What a metric has to be told of a network's outputs.
  enum class Asks {
    kClasses,        // which class is the likeliest
    kRanking,        // which are the likeliest
    kProbabilities,  // how likely the right class is
    kValues,         // elements, label beside label
    kOutputs,        // the outputs alone
    kAsGiven,        // labels and outputs in their order, whatever they are
  };

  const std::string& name() const { return name_; }  // "top_k_accuracy_5"
  virtual Asks asks() const { return Asks::kAsGiven; }
  // Refuses a number of classes; 0: it is not known.
  virtual Status RequireClasses(int64_t) const { return {}; }

  // Labels are the numbers of classes where the metric is about classes; they
  // are cut to integers as MXNet cuts them.
  virtual Status Update(const FloatView& label,
                        const FloatView& prediction) = 0;
  // False where Update never looks at the label.
  virtual bool needs_labels() const { return true; }

  // NaN before the first update.
  virtual double Value() const;
  virtual void Reset() { totals_.assign(2, 0); }

  // All that updates have changed, to go on from in another process.
  const std::vector<double>& State() const { return totals_; }
  // False, and nothing changes, where `state` is not of this metric.
  virtual bool Restore(std::span<const double> state);

 protected:
  void Add(double sum, double count) {
    totals_[0] += sum;
    totals_[1] += count;
  }

  std::string name_;
  std::vector<double> totals_ = {0, 0};  // sum, count, and what else it needs
};

// The user's own: `function` gives the value of one pair; averaged over pairs.
class CustomMetric : public Metric {
 public:
  using Function = std::function<double(const FloatView&, const FloatView&)>;

  CustomMetric(std::string name, Function function)
      : Metric("custom(" + name + ")"), function_(std::move(function)) {}

  Status Update(const FloatView& label, const FloatView& prediction) override {
    Add(function_(label, prediction), 1);
    return {};
  }

 private:
  Function function_;
};

StatusOr<std::unique_ptr<Metric>> MakeMetric(
    const Specification& specification);

// Several metrics of the same predictions (MXNet's composite).
class MetricList {
 public:
  MetricList() = default;

  // "accuracy,top_5"; nothing in an empty text. A metric that is named twice is
  // refused.
  static StatusOr<MetricList> Parse(std::string_view text);

  void Add(std::unique_ptr<Metric> metric) {
    metrics_.push_back(std::move(metric));
  }
  const std::vector<std::unique_ptr<Metric>>& metrics() const {
    return metrics_;
  }

  // Pairs labels and predictions in their order; there must be equally many of
  // them where a metric needs labels.
  Status Update(std::span<const FloatView> labels,
                std::span<const FloatView> predictions);
  void Reset();

  // As Metric's, one after the other.
  std::vector<double> State() const;
  bool Restore(std::span<const double> state);

 private:
  std::vector<std::unique_ptr<Metric>> metrics_;
};

// MetricList::Update of one metric.
Status UpdatePairs(std::span<const FloatView> labels,
                   std::span<const FloatView> predictions, Metric& metric);

}  // namespace mxc::train
