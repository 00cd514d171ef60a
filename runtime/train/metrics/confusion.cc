// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/metrics/confusion.h"

#include <algorithm>
#include <cmath>

#include "runtime/train/metrics/classes.h"

namespace mxc::train {
namespace {

// A confusion matrix of 128 MiB.
constexpr int64_t kLargestMatrix = 4096;

}  // namespace

Status ConfusionMatrix::Update(const FloatView& label,
                               const FloatView& prediction) {
  const auto predicted = PredictedClasses(label, prediction, 1, name());
  if (!predicted.ok()) return predicted.status();
  const auto labels = LabelClasses(label, prediction, 1, name());
  if (!labels.ok()) return labels.status();
  int64_t classes = classes_;
  for (const std::vector<int32_t>* list : {&*labels, &*predicted}) {
    for (const int32_t k : *list) {
      if (k < 0 || k >= kLargestMatrix) {
        return Fail(StatusCode::kInvalidArgument,
                    "%s: label %d is no class, expected 0 to %lld",
                    name().c_str(), k,
                    static_cast<long long>(kLargestMatrix - 1));
      }
      classes = std::max<int64_t>(classes, k + 1);
    }
  }
  GrowTo(classes);
  for (size_t i = 0; i < labels->size(); ++i) {
    totals_[static_cast<size_t>((*predicted)[i] * classes_ + (*labels)[i])] +=
        1;
  }
  return {};
}

void ConfusionMatrix::Reset() {
  classes_ = 0;
  totals_.clear();
}

bool ConfusionMatrix::Restore(std::span<const double> state) {
  const auto classes = static_cast<int64_t>(
      std::lround(std::sqrt(static_cast<double>(state.size()))));
  if (classes > kLargestMatrix ||
      static_cast<size_t>(classes * classes) != state.size()) {
    return false;
  }
  classes_ = classes;
  totals_.assign(state.begin(), state.end());
  return true;
}

void ConfusionMatrix::GrowTo(int64_t classes) {
  if (classes == classes_) return;
  std::vector<double> grown(static_cast<size_t>(classes * classes), 0);
  for (int64_t p = 0; p < classes_; ++p) {
    std::copy_n(&totals_[static_cast<size_t>(p * classes_)], classes_,
                &grown[static_cast<size_t>(p * classes)]);
  }
  classes_ = classes;
  totals_ = std::move(grown);
}

}  // namespace mxc::train
