// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/label_check.h"

#include <cmath>

#include "runtime/train/floats.h"
#include "runtime/train/status.h"

namespace mxc::train {
namespace {

// What is wrong with a label, what becomes of it, and what such labels are
// called; nothing is wrong with one without a sentence.
struct Fault {
  std::string sentence, consequence, sort;
};

Fault FaultOfClass(float value, const ClassLabels& labels) {
  if (labels.ignored && static_cast<double>(value) == *labels.ignored) {
    return {};
  }
  const auto number = static_cast<double>(value);
  const bool within = value > -1 && value < static_cast<float>(labels.classes);
  if (!within) {
    return {Format("label %g is none of the classes 0 to %lld", number,
                   static_cast<long long>(labels.classes - 1)),
            "nothing is learned from such labels", "no class"};
  }
  if (value == std::trunc(value)) return {};
  return {Format("label %g is no class", number),
          Format("it is cut to %g", std::trunc(number)), "no class"};
}

Fault FaultOfProbability(float value) {
  if (value >= 0 && value <= 1) return {};
  return {Format("label %g is not between 0 and 1", static_cast<double>(value)),
          "the loss of such labels has no lower bound", "not between 0 and 1"};
}

}  // namespace

LabelCheck::LabelCheck(std::vector<ClassLabels> labels,
                       const std::vector<Head>& heads)
    : labels_(std::move(labels)) {
  for (const Head& head : heads) {
    if (head.kind == HeadKind::kProbabilities && head.label >= 0) {
      probabilities_.push_back(static_cast<size_t>(head.label));
    }
  }
}

template <class Wrong>
void LabelCheck::LookAt(size_t label, const data::Batch& batch,
                        const data::Iterator& samples, int64_t pad,
                        Wrong&& wrong) {
  if (label >= batch.labels.size() || batch.index.empty()) return;
  const runtime::Array& array = batch.labels[label].array;
  ToFloats(array.type, array.bytes(), values_);
  const size_t rows = batch.index.size();
  const size_t row = values_.size() / rows;
  const size_t counted = (rows - static_cast<size_t>(pad)) * row;
  for (size_t i = 0; i < counted; ++i) {
    const Fault fault = wrong(values_[i]);
    if (fault.sentence.empty() || count_++ > 0) continue;
    first_ = samples.SampleName(batch.index[i / row]) + ": " + fault.sentence;
    consequence_ = fault.consequence;
    sort_ = fault.sort;
  }
}

void LabelCheck::Look(const data::Batch& batch, const data::Iterator& samples,
                      int64_t pad) {
  for (const ClassLabels& labels : labels_) {
    LookAt(labels.index, batch, samples, pad,
           [&](float value) { return FaultOfClass(value, labels); });
  }
  for (const size_t label : probabilities_) {
    LookAt(label, batch, samples, pad, FaultOfProbability);
  }
}

std::string LabelCheck::Counted() const {
  return Format("%lld labels are %s", static_cast<long long>(count_),
                sort_.c_str());
}

std::string LabelCheck::Warning() const {
  return count_ < 2 ? first_ : first_ + "; " + Counted();
}

}  // namespace mxc::train
