// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/metrics/binary.h"

#include <algorithm>
#include <limits>

#include "runtime/train/metrics/classes.h"

namespace mxc::train {

BinaryMetric::BinaryMetric(ArgumentReader& arguments, std::string name,
                           Score score)
    : Metric(std::move(name)), score_(score) {
  arguments.Read("average", {"macro", "micro"}, average_);
  totals_.assign(6, 0);
}

Status BinaryMetric::Update(const FloatView& label,
                            const FloatView& prediction) {
  const auto predicted = ArgMax(prediction, 1, name());
  if (!predicted.ok()) return predicted.status();
  std::vector<int32_t> labels = ClassesOf(label);
  if (predicted->size() != labels.size()) {
    return ShapesDiffer(label, prediction, name());
  }
  BinaryCounts counts;
  for (size_t i = 0; i < labels.size(); ++i) {
    const bool is = labels[i] == 1, said = (*predicted)[i] == 1;
    ++(is ? (said ? counts.true_positives : counts.false_negatives)
          : (said ? counts.false_positives : counts.true_negatives));
  }
  std::sort(labels.begin(), labels.end());
  if (std::unique(labels.begin(), labels.end()) - labels.begin() > 2) {
    return Fail(StatusCode::kInvalidArgument,
                "%s tells two classes apart, but there are more",
                name().c_str());
  }
  Add(score_(counts), 1);
  totals_[2] += counts.true_positives;
  totals_[3] += counts.false_positives;
  totals_[4] += counts.false_negatives;
  totals_[5] += counts.true_negatives;
  return {};
}

double BinaryMetric::Value() const {
  if (average_ == 0) return Metric::Value();
  const BinaryCounts counts{totals_[2], totals_[3], totals_[4], totals_[5]};
  return counts.Examples() == 0 ? std::numeric_limits<double>::quiet_NaN()
                                : score_(counts);
}

}  // namespace mxc::train
