// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/score.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/base/clock.h"
#include "runtime/train/floats.h"

namespace mxc::train {
namespace {

// The mean of the terms of all batches.
class LossMean {
 public:
  // A batch whose loss is the mean of so many terms, which count `weight` times.
  void Add(double loss, double terms, double weight) {
    sum_ += loss * terms * weight;
    terms_ += terms * weight;
  }

  double Value() const { return terms_ > 0 ? sum_ / terms_ : 0; }

 private:
  double sum_ = 0, terms_ = 0;
};

// The batch with other samples in its rows: row r has those of `from(r)`.
template <class From>
StatusOr<data::Batch> Rearranged(const data::Batch& batch, From&& from) {
  data::Batch result = batch;
  const auto rows = static_cast<size_t>(batch.rows());
  for (auto* arrays : {&result.data, &result.labels}) {
    for (data::NamedArray& named : *arrays) {
      if (named.array.shape.empty() || named.array.shape[0] != batch.rows()) {
        continue;
      }
      auto copy = runtime::Array::Allocate(named.array.type, named.array.shape);
      if (!copy.ok()) return copy.status();
      const auto bytes = named.array.bytes();
      const size_t row = bytes.size() / rows;
      for (size_t r = 0; r < rows; ++r) {
        std::memcpy(copy->bytes().data() + r * row,
                    bytes.data() + from(r) * row, row);
      }
      named.array = std::move(*copy);
    }
  }
  return result;
}

// Outputs of a run, kept while others follow.
struct KeptOutputs {
  std::vector<std::vector<float>> values;
  std::vector<FloatView> views;

  explicit KeptOutputs(std::vector<FloatView> outputs)
      : views(std::move(outputs)) {
    for (FloatView& view : views) {
      values.emplace_back(view.values.begin(), view.values.end());
      view.values = values.back();
    }
  }
};

class Scoring {
 public:
  Scoring(TrainStep& step, data::Iterator& samples, MetricList& metrics,
          ScoreListener* listener)
      : step_(step),
        samples_(samples),
        metrics_(metrics),
        listener_(listener),
        judge_(step.facts().heads) {}

  Status Add(const data::Batch& batch) {
    if (batch.pad > 0) return AddPart(batch);
    MXC_RT_RETURN_IF_ERROR(Run(batch, 1));
    return Measure(batch, step_.outputs());
  }

  double loss() const { return loss_.Value(); }

 private:
  // Its loss counts `weight` times.
  Status Run(const data::Batch& batch, double weight) {
    const StatusOr<float> loss =
        step_.Score(batch, samples_.bucket_key(batch.bucket));
    if (!loss.ok()) return loss.status();
    loss_.Add(static_cast<double>(*loss), LossTerms(step_.facts(), batch),
              weight);
    return {};
  }

  // A batch with fewer samples than rows is filled with them over and over, so
  // that what the rows say together is so many times what the samples say. What
  // is left over are copies of one sample; a batch of that one alone says what
  // they add. So a loss needs no rows: a sum or mean over samples is enough.
  Status AddPart(const data::Batch& batch) {
    const auto rows = static_cast<size_t>(batch.rows());
    const size_t count = rows - static_cast<size_t>(batch.pad);
    if (count == 0) return {};
    const size_t times = rows / count, whole = times * count;
    const auto filled =
        Rearranged(batch, [&](size_t r) { return r < whole ? r % count : 0; });
    if (!filled.ok()) return filled.status();
    const double part = 1 / static_cast<double>(times);
    MXC_RT_RETURN_IF_ERROR(Run(*filled, part));
    KeptOutputs outputs(step_.outputs());
    if (whole < rows) {
      const auto same = Rearranged(batch, [](size_t) { return size_t{0}; });
      if (!same.ok()) return same.status();
      const double left =
          static_cast<double>(rows - whole) / static_cast<double>(rows);
      MXC_RT_RETURN_IF_ERROR(Run(*same, -left * part));
      TakeOut(step_.outputs(), left, rows, outputs);
    }
    return Measure(batch, outputs.views);
  }

  // Of outputs that are means over the batch: a share of the rows is of others.
  static void TakeOut(const std::vector<FloatView>& others, double share,
                      size_t rows, KeptOutputs& outputs) {
    for (size_t k = 0; k < outputs.views.size(); ++k) {
      if (!IsOfBatch(outputs.views[k], rows)) continue;
      std::vector<float>& values = outputs.values[k];
      for (size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(
            (static_cast<double>(values[i]) -
             share * static_cast<double>(others[k].values[i])) /
            (1 - share));
      }
    }
  }

  // Returns whether an output is one number for all samples.
  static bool IsOfBatch(const FloatView& output, size_t rows) {
    return output.values.size() == 1 && rows > 1;
  }

  // Such a number stands for each of the samples.
  Status Measure(const data::Batch& batch, std::vector<FloatView> outputs) {
    const auto rows = static_cast<size_t>(batch.rows());
    if (listener_ != nullptr) {
      MXC_RT_RETURN_IF_ERROR(listener_->OnBatch(batch, samples_, outputs));
    }
    repeated_.resize(outputs.size());
    for (size_t k = 0; k < outputs.size(); ++k) {
      if (!IsOfBatch(outputs[k], rows)) continue;
      repeated_[k].assign(rows, outputs[k].values[0]);
      outputs[k] = {repeated_[k], {batch.rows()}};
    }
    return judge_.Update(batch, outputs, batch.pad, metrics_);
  }

  TrainStep& step_;
  data::Iterator& samples_;
  MetricList& metrics_;
  ScoreListener* const listener_;
  Judge judge_;
  LossMean loss_;
  std::vector<std::vector<float>> repeated_;
};

}  // namespace

double LossTerms(const TrainFacts& facts, const data::Batch& batch) {
  const auto rows = static_cast<double>(batch.rows());
  if (facts.heads.size() != 1 || facts.heads[0].kind != HeadKind::kClasses) {
    return rows;
  }
  const auto index = static_cast<size_t>(facts.heads[0].label);
  const auto found =
      std::ranges::find(facts.class_labels, index, &ClassLabels::index);
  if (found == facts.class_labels.end() || index >= batch.labels.size()) {
    return rows;
  }
  const runtime::Array& array = batch.labels[index].array;
  std::vector<float> labels;
  ToFloats(array.type, array.bytes(), labels);
  return static_cast<double>(std::ranges::count_if(
      labels, [&](float label) { return found->Counts(label); }));
}

MetricValues ValuesOf(const MetricList& metrics) {
  MetricValues values;
  for (const auto& metric : metrics.metrics()) {
    values.emplace_back(metric->name(), metric->Value());
  }
  return values;
}

StatusOr<ScoreResult> ScoreAll(TrainStep& step, data::Iterator& samples,
                               MetricList& metrics, ScoreListener* listener) {
  ScoreResult result;
  Scoring scoring(step, samples, metrics, listener);
  LabelCheck labels(step.facts().class_labels, step.facts().heads);
  data::Batch batch;
  const int64_t start = runtime::Nanoseconds();
  metrics.Reset();
  MXC_RT_RETURN_IF_ERROR(samples.SeekEpoch(0));
  while (true) {
    const StatusOr<bool> more = samples.Next(batch);
    if (!more.ok()) return more.status();
    if (!*more) break;
    labels.Look(batch, samples, batch.pad);
    MXC_RT_RETURN_IF_ERROR(scoring.Add(batch));
    result.samples += batch.rows() - batch.pad;
  }
  if (result.samples == 0) {
    return Fail(StatusCode::kInvalidArgument, "there are no samples to score");
  }
  if (const std::string warning = labels.Warning(); !warning.empty()) {
    result.warnings.push_back(warning);
  }
  if (step.facts().reports_loss) result.loss = scoring.loss();
  result.seconds = runtime::SecondsOf(runtime::Nanoseconds() - start);
  return result;
}

}  // namespace mxc::train
