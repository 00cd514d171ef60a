// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/metric.h"

#include <limits>
#include <utility>

#include "runtime/train/metrics/declarations.h"

namespace mxc::train {
namespace {

struct MetricEntry {
  std::string_view name;
  std::unique_ptr<Metric> (*make)(ArgumentReader& arguments,
                                  const std::string& asked);
};

constexpr MetricEntry kMetrics[] = {
#define MXC_METRIC(function, name) {name, MakeMetric_##function},
#include "runtime/train/metrics.def"
#undef MXC_METRIC
};

std::vector<std::string_view> MetricNames() {
  std::vector<std::string_view> names;
  for (const MetricEntry& entry : kMetrics) names.push_back(entry.name);
  return names;
}

}  // namespace

double Metric::Value() const {
  if (totals_[1] == 0) return std::numeric_limits<double>::quiet_NaN();
  return totals_[0] / totals_[1];
}

bool Metric::Restore(std::span<const double> state) {
  if (state.size() != totals_.size()) return false;
  totals_.assign(state.begin(), state.end());
  return true;
}

StatusOr<std::unique_ptr<Metric>> MakeMetric(
    const Specification& specification) {
  ArgumentReader arguments(specification, "metric");
  // "top_5" goes to top_k_accuracy, which knows what the number means.
  const std::string& asked = specification.name;
  int64_t top = 0;
  const bool is_top = asked.starts_with("top_") &&
                      ParseInteger(std::string_view(asked).substr(4), top);
  for (const MetricEntry& entry : kMetrics) {
    if (entry.name != (is_top ? "top_k_accuracy" : asked)) continue;
    std::unique_ptr<Metric> metric = entry.make(arguments, asked);
    MXC_RT_RETURN_IF_ERROR(arguments.Finish());
    return metric;
  }
  return UnknownName("metric", asked, MetricNames());
}

StatusOr<MetricList> MetricList::Parse(std::string_view text) {
  MetricList list;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const StatusOr<Specification> specification =
        ParseSpecification(text.substr(0, comma));
    if (!specification.ok()) return specification.status();
    StatusOr<std::unique_ptr<Metric>> metric = MakeMetric(*specification);
    if (!metric.ok()) return metric.status();
    for (const auto& other : list.metrics_) {
      if (other->name() != (*metric)->name()) continue;
      return Fail(StatusCode::kInvalidArgument, "metric '%s' is named twice",
                  other->name().c_str());
    }
    list.Add(std::move(*metric));
    text = comma == text.npos ? "" : text.substr(comma + 1);
  }
  return list;
}

Status UpdatePairs(std::span<const FloatView> labels,
                   std::span<const FloatView> predictions, Metric& metric) {
  if (metric.needs_labels() && labels.size() != predictions.size()) {
    return Fail(StatusCode::kInvalidArgument,
                "%s: %zu labels do not match %zu predictions",
                metric.name().c_str(), labels.size(), predictions.size());
  }
  for (size_t i = 0; i < predictions.size(); ++i) {
    const FloatView& label = metric.needs_labels() ? labels[i] : FloatView();
    MXC_RT_RETURN_IF_ERROR(metric.Update(label, predictions[i]));
  }
  return {};
}

Status MetricList::Update(std::span<const FloatView> labels,
                          std::span<const FloatView> predictions) {
  for (const auto& metric : metrics_) {
    MXC_RT_RETURN_IF_ERROR(UpdatePairs(labels, predictions, *metric));
  }
  return {};
}

void MetricList::Reset() {
  for (const auto& metric : metrics_) metric->Reset();
}

// For each metric the number of its values, then the values.
std::vector<double> MetricList::State() const {
  std::vector<double> state;
  for (const auto& metric : metrics_) {
    const std::vector<double>& values = metric->State();
    state.push_back(static_cast<double>(values.size()));
    state.insert(state.end(), values.begin(), values.end());
  }
  return state;
}

bool MetricList::Restore(std::span<const double> state) {
  for (const auto& metric : metrics_) {
    if (state.empty()) return false;
    const double size = state.front();
    state = state.subspan(1);
    if (!(size >= 0 && size <= static_cast<double>(state.size()))) return false;
    const auto count = static_cast<size_t>(size);
    if (!metric->Restore(state.first(count))) return false;
    state = state.subspan(count);
  }
  return state.empty();
}

}  // namespace mxc::train
