// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/metrics/binary.h"

#include <algorithm>
#include <limits>

#include "runtime/train/metrics/classes.h"

namespace mxc::train {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// Totals behind the sum and the count: of micro the outcomes, of macro for each
// class how often it is the label, the prediction, and both.
constexpr size_t kFirst = 2, kOutcomes = 4, kOfClass = 3;

constexpr int64_t kMostClasses = 1 << 20;

}  // namespace

BinaryMetric::BinaryMetric(ArgumentReader& arguments, std::string name,
                           Score score)
    : Metric(std::move(name)), score_(score) {
  arguments.Read("average", {"micro", "macro", "batch"}, average_);
  if (average_ == kMacro) name_ += "_macro";
  Reset();
}

void BinaryMetric::Reset() {
  totals_.assign(average_ == kMacro ? kFirst : kFirst + kOutcomes, 0);
}

bool BinaryMetric::Restore(std::span<const double> state) {
  if (average_ != kMacro) return Metric::Restore(state);
  if (state.size() < kFirst || (state.size() - kFirst) % kOfClass != 0) {
    return false;
  }
  totals_.assign(state.begin(), state.end());
  return true;
}

Status BinaryMetric::RequireClasses(int64_t classes) const {
  if (average_ == kMacro || classes <= 2) return {};
  return Fail(StatusCode::kInvalidArgument,
              "%s tells two classes apart, but there are %lld; "
              "%s:average=macro is the mean over the classes",
              name().c_str(), static_cast<long long>(classes), name().c_str());
}

Status BinaryMetric::Update(const FloatView& label,
                            const FloatView& prediction) {
  const auto predicted = ArgMax(prediction, 1, name());
  if (!predicted.ok()) return predicted.status();
  const auto labels = LabelClasses(label, prediction, 1, name());
  if (!labels.ok()) return labels.status();
  if (predicted->size() != labels->size()) {
    return ShapesDiffer(label, prediction, name());
  }
  MXC_RT_RETURN_IF_ERROR(RequireClasses(prediction.shape[1]));
  if (average_ == kMacro) return Count(label, *labels, *predicted);
  BinaryCounts counts;
  for (size_t i = 0; i < labels->size(); ++i) {
    const bool is = (*labels)[i] == 1, said = (*predicted)[i] == 1;
    ++(is ? (said ? counts.true_positives : counts.false_negatives)
          : (said ? counts.false_positives : counts.true_negatives));
  }
  Add(score_(counts), 1);
  totals_[kFirst] += counts.true_positives;
  totals_[kFirst + 1] += counts.false_positives;
  totals_[kFirst + 2] += counts.false_negatives;
  totals_[kFirst + 3] += counts.true_negatives;
  return {};
}

Status BinaryMetric::Count(const FloatView& label,
                           std::span<const int32_t> labels,
                           std::span<const int32_t> predicted) {
  int64_t classes = std::ssize(totals_) / static_cast<int64_t>(kOfClass);
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || labels[i] >= kMostClasses) {
      return Fail(StatusCode::kInvalidArgument, "%s: label %g is no class",
                  name().c_str(), static_cast<double>(label.values[i]));
    }
    classes = std::max<int64_t>({classes, labels[i] + 1, predicted[i] + 1});
  }
  totals_.resize(std::max(totals_.size(),
                          kFirst + kOfClass * static_cast<size_t>(classes)));
  const auto of_class = [&](int32_t k) {
    return &totals_[kFirst + kOfClass * static_cast<size_t>(k)];
  };
  for (size_t i = 0; i < labels.size(); ++i) {
    of_class(labels[i])[0] += 1;
    of_class(predicted[i])[1] += 1;
    if (labels[i] == predicted[i]) of_class(labels[i])[2] += 1;
  }
  Add(0, static_cast<double>(labels.size()));
  return {};
}

double BinaryMetric::MeanOverClasses() const {
  double sum = 0, classes = 0;
  for (size_t k = kFirst; k < totals_.size(); k += kOfClass) {
    const double is = totals_[k], said = totals_[k + 1], both = totals_[k + 2];
    if (is + said == 0) continue;
    sum +=
        score_({both, said - both, is - both, totals_[1] - is - said + both});
    classes += 1;
  }
  return classes == 0 ? kNone : sum / classes;
}

double BinaryMetric::Value() const {
  if (average_ == kBatch) return Metric::Value();
  if (average_ == kMacro) return MeanOverClasses();
  const BinaryCounts counts{totals_[kFirst], totals_[kFirst + 1],
                            totals_[kFirst + 2], totals_[kFirst + 3]};
  return counts.Examples() == 0 ? kNone : score_(counts);
}

}  // namespace mxc::train
