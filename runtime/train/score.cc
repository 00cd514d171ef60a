// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/score.h"

#include <algorithm>

#include "runtime/base/clock.h"
#include "runtime/train/floats.h"

namespace mxc::train {
namespace {

// All but the rows of the last `skip` of `batch` samples, where the first axis
// is made of samples.
FloatView Trim(FloatView view, int64_t batch, int64_t skip) {
  if (skip == 0 || view.shape.empty() || batch < 1 ||
      view.shape[0] % batch != 0) {
    return view;
  }
  const size_t kept = view.values.size() / static_cast<size_t>(batch) *
                      static_cast<size_t>(batch - skip);
  view.shape[0] = view.shape[0] / batch * (batch - skip);
  view.values = view.values.first(kept);
  return view;
}

}  // namespace

MetricValues ValuesOf(const MetricList& metrics) {
  MetricValues values;
  for (const auto& metric : metrics.metrics()) {
    values.emplace_back(metric->name(), metric->Value());
  }
  return values;
}

Status Judge::Update(const data::Batch& batch,
                     const std::vector<FloatView>& outputs, int64_t skip,
                     MetricList& metrics) {
  if (metrics.metrics().empty()) return {};
  const int64_t rows = batch.rows();
  labels_.resize(std::max(labels_.size(), batch.labels.size()));
  std::vector<FloatView> labels, predictions;
  for (size_t i = 0; i < batch.labels.size(); ++i) {
    const runtime::Array& array = batch.labels[i].array;
    labels_[i].resize(array.bytes().size() /
                      static_cast<size_t>(ElementBytes(array.type)));
    ToFloats(array.type, array.bytes(), labels_[i]);
    labels.push_back(Trim({labels_[i], array.shape}, rows, skip));
  }
  const size_t judged =
      labels.empty() ? outputs.size() : std::min(labels.size(), outputs.size());
  for (size_t i = 0; i < judged; ++i) {
    predictions.push_back(Trim(outputs[i], rows, skip));
  }
  return metrics.Update(labels, predictions);
}

StatusOr<ScoreResult> ScoreAll(TrainStep& step, data::Iterator& samples,
                               MetricList& metrics) {
  ScoreResult result;
  Judge judge;
  LabelCheck labels(step.facts().class_labels);
  data::Batch batch;
  const int64_t start = runtime::Nanoseconds();
  metrics.Reset();
  MXC_RT_RETURN_IF_ERROR(samples.SeekEpoch(0));
  double losses = 0;
  while (true) {
    const StatusOr<bool> more = samples.Next(batch);
    if (!more.ok()) return more.status();
    if (!*more) break;
    labels.Look(batch, samples, batch.pad);
    const StatusOr<float> loss =
        step.Score(batch, samples.bucket_key(batch.bucket));
    if (!loss.ok()) return loss.status();
    MXC_RT_RETURN_IF_ERROR(
        judge.Update(batch, step.outputs(), batch.pad, metrics));
    const int64_t counted = batch.rows() - batch.pad;
    losses += static_cast<double>(*loss) * static_cast<double>(counted);
    result.samples += counted;
  }
  if (result.samples == 0) {
    return Fail(StatusCode::kInvalidArgument, "there are no samples to score");
  }
  if (const std::string warning = labels.Warning(); !warning.empty()) {
    result.warnings.push_back(warning);
  }
  result.loss = losses / static_cast<double>(result.samples);
  result.seconds = static_cast<double>(runtime::Nanoseconds() - start) * 1e-9;
  return result;
}

}  // namespace mxc::train
