// SPDX-License-Identifier: Apache-2.0
#include "runtime/tune/asha.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace mxc::tune {

Asha::Asha(const AshaOptions& options) : options_(options) {
  if (options_.prunes) {
    int64_t epochs = options_.first_epochs;
    while (epochs < options_.epochs) {
      rungs_.push_back(epochs);
      if (epochs > options_.epochs / options_.reduction) break;
      epochs *= options_.reduction;
    }
  }
  rungs_.push_back(options_.epochs);
  results_.resize(rungs_.size());
}

std::optional<int64_t> Asha::Promotable(const Rung& rung) const {
  int64_t left = std::ssize(rung.entries) / options_.reduction;
  for (const Entry& entry : rung.entries) {
    if (left-- == 0 || std::isinf(entry.score)) break;
    if (!rung.promoted.contains(entry.trial)) return entry.trial;
  }
  return std::nullopt;
}

std::optional<Task> Asha::Next() {
  for (size_t i = rungs_.size() - 1; i-- > 0;) {
    const std::optional<int64_t> trial = Promotable(results_[i]);
    if (!trial) continue;
    results_[i].promoted.insert(*trial);
    return Task{*trial, rungs_[i], rungs_[i + 1]};
  }
  if (begun_ == options_.trials) return std::nullopt;
  return Task{begun_++, 0, rungs_.front()};
}

void Asha::Report(const Task& task, double score) {
  const auto rung = std::ranges::find(rungs_, task.to) - rungs_.begin();
  if (std::isnan(score)) score = HUGE_VAL;
  results_[static_cast<size_t>(rung)].entries.insert({score, task.trial});
}

}  // namespace mxc::tune
