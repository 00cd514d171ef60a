// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/best_epoch.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/train/specification.h"

namespace mxc::train {

bool LessIsBetter(std::string_view metric) {
  static constexpr std::string_view kErrors[] = {
      "loss", "torch",      "caffe",    "mae",      "mse",          "rmse",
      "ce",   "perplexity", "nll_loss", "nll-loss", "cross-entropy"};
  return std::ranges::count(kErrors, metric) > 0;
}

double ValueOf(const EpochSummary& summary, const std::string& metric) {
  const bool validated = summary.validation.has_value();
  if (metric == "loss") {
    return validated ? summary.validation->loss : summary.loss;
  }
  const MetricValues& values =
      validated ? summary.validation->metrics : summary.metrics;
  const auto found =
      std::ranges::find(values, metric, &MetricValues::value_type::first);
  return found == values.end() ? std::nan("") : found->second;
}

StatusOr<StopRule> ParseStopRule(std::string_view text) {
  StopRule rule;
  Specification specification{"early stop", {}};
  for (std::string_view rest = text; !rest.empty();) {
    const size_t comma = rest.find(',');
    const std::string_view word = rest.substr(0, comma);
    const size_t equals = word.find('=');
    if (equals == word.npos) {
      return Fail(StatusCode::kInvalidArgument,
                  "early stop: '%s' is not NAME=VALUE, as patience=5",
                  std::string(word).c_str());
    }
    specification.arguments.push_back({std::string(word.substr(0, equals)),
                                       std::string(word.substr(equals + 1))});
    rest = comma == rest.npos ? "" : rest.substr(comma + 1);
  }
  ArgumentReader arguments(specification, "early stop");
  const bool said = arguments.Read("patience", rule.patience);
  arguments.Read("metric", rule.metric);
  arguments.Read("min_delta", rule.min_delta);
  if (!text.empty() && (!said || rule.patience < 1)) {
    arguments.Refuse("early stop needs a patience of 1 epoch or more");
  }
  if (!(rule.min_delta >= 0)) {
    arguments.Refuse("early stop: min_delta must not be negative");
  }
  MXC_RT_RETURN_IF_ERROR(arguments.Finish());
  return rule;
}

bool BestEpoch::IsBetter(double value) const {
  if (std::isnan(value)) return false;
  if (epoch_ == 0 || std::isnan(value_)) return true;
  return LessIsBetter(rule_.metric) ? value < value_ - rule_.min_delta
                                    : value > value_ + rule_.min_delta;
}

Status BestEpoch::Look(const EpochSummary& summary) {
  if (rule_.metric != "loss") {
    const auto found = std::ranges::find(summary.metrics, rule_.metric,
                                         &MetricValues::value_type::first);
    if (found == summary.metrics.end()) {
      return Fail(StatusCode::kInvalidArgument,
                  "early stop: '%s' is no metric of this run; --metric names "
                  "those that are computed",
                  rule_.metric.c_str());
    }
  }
  const double value = ValueOf(summary, rule_.metric);
  // Values of validation and of training do not compare.
  const bool first_of_kind = validated_ != summary.validation.has_value();
  validated_ = summary.validation.has_value();
  if (first_of_kind) epoch_ = 0;
  if (!IsBetter(value)) {
    ++since_;
    return {};
  }
  epoch_ = summary.epoch;
  value_ = value;
  since_ = 0;
  return {};
}

std::string BestEpoch::Sentence() const {
  return Format("epoch %lld was the best: %s %.6g%s",
                static_cast<long long>(epoch_), rule_.metric.c_str(), value_,
                validated_ ? " in validation" : "");
}

std::vector<double> BestEpoch::State() const {
  return {static_cast<double>(epoch_), value_, static_cast<double>(since_),
          validated_ ? 1.0 : 0.0};
}

bool BestEpoch::Restore(std::span<const double> state) {
  if (state.size() != 4 || !(state[0] >= 0 && state[0] < 0x1p53) ||
      !(state[2] >= 0 && state[2] < 0x1p53)) {
    return false;
  }
  epoch_ = static_cast<int64_t>(state[0]);
  value_ = state[1];
  since_ = static_cast<int64_t>(state[2]);
  validated_ = state[3] != 0;
  return true;
}

}  // namespace mxc::train
