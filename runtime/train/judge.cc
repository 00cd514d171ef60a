// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/judge.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "runtime/train/floats.h"

namespace mxc::train {
namespace {

using Asks = Metric::Asks;

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

int64_t Product(std::span<const int64_t> extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t{1},
                         std::multiplies<>());
}

FloatView Flat(FloatView view) {
  view.shape = {static_cast<int64_t>(view.values.size())};
  return view;
}

// The view as [rows, classes]; its values go to `memory` where the classes are
// not on the last axis.
FloatView ClassesLast(FloatView view, int64_t axis,
                      std::vector<float>& memory) {
  const std::span<const int64_t> shape = view.shape;
  if (axis < 0 || axis >= std::ssize(shape)) return view;
  const auto at = static_cast<size_t>(axis);
  const auto classes = static_cast<size_t>(shape[at]);
  const auto inner = static_cast<size_t>(Product(shape.subspan(at + 1)));
  const auto outer = static_cast<size_t>(Product(shape.first(at)));
  if (inner != 1) {
    memory.resize(view.values.size());
    for (size_t o = 0; o < outer; ++o) {
      for (size_t k = 0; k < classes; ++k) {
        for (size_t i = 0; i < inner; ++i) {
          memory[(o * inner + i) * classes + k] =
              view.values[(o * classes + k) * inner + i];
        }
      }
    }
    view.values = memory;
  }
  view.shape = {static_cast<int64_t>(outer * inner),
                static_cast<int64_t>(classes)};
  return view;
}

// Probabilities p to be true as those of two classes, (1 − p, p).
FloatView TwoClasses(const FloatView& view, std::vector<float>& memory) {
  memory.clear();
  for (const float p : view.values) {
    memory.push_back(1 - p);
    memory.push_back(p);
  }
  return {memory, {static_cast<int64_t>(view.values.size()), 2}};
}

// The classes that labels between 0 and 1 are nearest to.
FloatView NearestClasses(const FloatView& view, std::vector<float>& memory) {
  memory.clear();
  for (const float p : view.values) {
    memory.push_back(p > 0.5f ? 1.0f : p >= 0 ? 0.0f : p);
  }
  return Flat({memory, {}});
}

// An artifact for inference takes no labels: data may have the probabilities of
// classes where the network was written for their numbers.
bool AreSharesInstead(const Head& head, const FloatView& label,
                      const FloatView& prediction) {
  const bool numbers =
      head.kind == HeadKind::kClasses || head.kind == HeadKind::kMargins;
  return numbers && label.shape == prediction.shape && head.axis >= 0 &&
         head.axis < std::ssize(label.shape) &&
         label.shape[static_cast<size_t>(head.axis)] > 1;
}

std::string_view Wants(Asks asks) {
  switch (asks) {
    case Asks::kClasses:
    case Asks::kRanking:
      return "classes";
    case Asks::kProbabilities:
      return "probabilities of classes";
    case Asks::kValues:
      return "values";
    default:
      return "anything";
  }
}

std::string Described(const Head& head) {
  switch (head.kind) {
    case HeadKind::kClasses:
      return Format("numbers of %lld classes",
                    static_cast<long long>(head.classes));
    case HeadKind::kDistribution:
      return Format("distributions over %lld classes",
                    static_cast<long long>(head.classes));
    case HeadKind::kMargins:
      return Format("numbers of %lld classes, the outputs margins",
                    static_cast<long long>(head.classes));
    case HeadKind::kProbabilities:
      return "probabilities to be true";
    case HeadKind::kValues:
      return "values";
    case HeadKind::kLoss:
      return "unknown, for its outputs are losses";
  }
  return "";
}

std::string Suggested(const Head& head) {
  constexpr int64_t kTop = 5;  // of so few classes all are
  const std::string ranking =
      head.classes > kTop ? "accuracy, top_5, " : "accuracy, ";
  switch (head.kind) {
    case HeadKind::kClasses:
      return ranking + "cross-entropy, f1:average=macro, pcc";
    case HeadKind::kDistribution:
      return ranking + "cross-entropy, f1:average=macro, mse";
    case HeadKind::kMargins:
      return ranking + "f1:average=macro, pcc";
    case HeadKind::kProbabilities:
      return "accuracy, f1, mcc, cross-entropy, mse";
    case HeadKind::kValues:
      return "rmse, mae, mse, pearsonr";
    case HeadKind::kLoss:
      return "loss";
  }
  return "";
}

}  // namespace

bool Fits(Asks asks, HeadKind kind) {
  using Kind = HeadKind;
  const bool classes = kind == Kind::kClasses || kind == Kind::kDistribution;
  switch (asks) {
    case Asks::kClasses:
      return classes || kind == Kind::kMargins || kind == Kind::kProbabilities;
    case Asks::kRanking:
      return classes || kind == Kind::kMargins;
    case Asks::kProbabilities:
      return classes || kind == Kind::kProbabilities;
    case Asks::kValues:
      return kind == Kind::kDistribution || kind == Kind::kProbabilities ||
             kind == Kind::kValues;
    case Asks::kOutputs:
      return kind == Kind::kLoss;
    case Asks::kAsGiven:
      break;
  }
  return true;
}

std::string DefaultMetrics(const std::vector<Head>& heads) {
  const auto fits = [&](Asks asks) {
    return std::ranges::any_of(heads, [&](const Head& head) {
      return head.label >= 0 && Fits(asks, head.kind);
    });
  };
  if (heads.empty() || fits(Asks::kClasses)) return "accuracy";
  return fits(Asks::kValues) ? "rmse" : "";
}

Status RequireFit(const MetricList& metrics, const std::vector<Head>& heads) {
  if (heads.empty()) return {};
  for (const auto& metric : metrics.metrics()) {
    const Asks asks = metric->asks();
    if (asks == Asks::kAsGiven || asks == Asks::kOutputs) continue;
    bool any = false;
    for (const Head& head : heads) {
      if (head.label < 0 || !Fits(asks, head.kind)) continue;
      any = true;
      const bool two = head.kind == HeadKind::kProbabilities;
      MXC_RT_RETURN_IF_ERROR(metric->RequireClasses(two ? 2 : head.classes));
    }
    if (any) continue;
    const Head& head = heads.front();
    if (head.label < 0 && head.kind != HeadKind::kLoss) {
      return Fail(StatusCode::kInvalidArgument,
                  "metric '%s': the network changes the order of its labels, "
                  "so that they cannot be compared with its outputs",
                  metric->name().c_str());
    }
    return Fail(StatusCode::kInvalidArgument,
                "metric '%s' is about %s; the network's labels are %s: %s",
                metric->name().c_str(), std::string(Wants(asks)).c_str(),
                Described(head).c_str(), Suggested(head).c_str());
  }
  return {};
}

Judged Judge::Arrange(const Head& head, FloatView label, FloatView prediction,
                      bool as_values) {
  if (as_values) return {head.kind, Flat(label), Flat(prediction)};
  if (AreSharesInstead(head, label, prediction)) {
    Head shares = head;
    shares.kind = HeadKind::kDistribution;
    return Arrange(shares, label, prediction, as_values);
  }
  switch (head.kind) {
    case HeadKind::kClasses:
    case HeadKind::kMargins:
      return {head.kind, Flat(label),
              ClassesLast(prediction, head.axis, arranged_prediction_)};
    case HeadKind::kDistribution:
      return {head.kind, ClassesLast(label, head.axis, arranged_label_),
              ClassesLast(prediction, head.axis, arranged_prediction_)};
    case HeadKind::kProbabilities:
      return {head.kind, NearestClasses(label, arranged_label_),
              TwoClasses(prediction, arranged_prediction_)};
    case HeadKind::kValues:
    case HeadKind::kLoss:
      break;
  }
  return {head.kind, label, prediction};
}

Status Judge::UpdateByHeads(const std::vector<FloatView>& labels,
                            const std::vector<FloatView>& outputs,
                            Metric& metric) {
  for (const Head& head : heads_) {
    const auto output = static_cast<size_t>(head.output);
    if (output >= outputs.size() || !Fits(metric.asks(), head.kind)) continue;
    if (!metric.needs_labels()) {
      MXC_RT_RETURN_IF_ERROR(metric.Update({}, outputs[output]));
      continue;
    }
    if (head.label < 0 || head.label >= std::ssize(labels)) continue;
    const bool values = metric.asks() == Asks::kValues;
    const Judged pair = Arrange(head, labels[static_cast<size_t>(head.label)],
                                outputs[output], values);
    MXC_RT_RETURN_IF_ERROR(metric.Update(pair.label, pair.prediction));
  }
  return {};
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
    ToFloats(array.type, array.bytes(), labels_[i]);
    labels.push_back(Trim({labels_[i], array.shape}, rows, skip));
  }
  for (const FloatView& output : outputs) {
    predictions.push_back(Trim(output, rows, skip));
  }
  const size_t judged = labels.empty()
                            ? predictions.size()
                            : std::min(labels.size(), predictions.size());
  const auto first = std::span(predictions).first(judged);
  for (const auto& metric : metrics.metrics()) {
    const auto fits = [&](const Head& head) {
      return Fits(metric->asks(), head.kind);
    };
    const bool by_heads =
        metric->asks() != Asks::kAsGiven && std::ranges::any_of(heads_, fits);
    MXC_RT_RETURN_IF_ERROR(by_heads
                               ? UpdateByHeads(labels, predictions, *metric)
                               : UpdatePairs(labels, first, *metric));
  }
  return {};
}

}  // namespace mxc::train
