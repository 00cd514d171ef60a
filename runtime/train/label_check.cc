// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/label_check.h"

#include <cmath>
#include <span>

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
          Format("it is cut to %g", std::trunc(number) + 0.0), "no class"};
}

// Of one sample, for each class.
Fault FaultOfDistribution(std::span<const float> values) {
  constexpr double kOff = 0.01;  // in labels of few digits, too
  const char* consequence = "the loss is not that of classes";
  const char* sort = "no probabilities of classes";
  double sum = 0;
  for (const float value : values) {
    const auto number = static_cast<double>(value);
    sum += number;
    if (value >= 0 && value <= 1) continue;
    return {Format("label %g is no probability of a class", number),
            consequence, sort};
  }
  if (std::abs(sum - 1) < kOff) return {};
  return {Format("the label's probabilities of classes sum up to %g", sum),
          consequence, sort};
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
    if (head.label < 0) continue;
    const auto label = static_cast<size_t>(head.label);
    if (head.kind == HeadKind::kProbabilities) probabilities_.push_back(label);
    if (head.kind == HeadKind::kDistribution && head.classes > 1) {
      distributions_.emplace_back(label, static_cast<size_t>(head.classes));
    }
  }
}

template <class Wrong>
void LabelCheck::LookAt(size_t label, size_t width, const data::Batch& batch,
                        const data::Iterator& samples, int64_t pad,
                        Wrong&& wrong) {
  if (label >= batch.labels.size() || batch.index.empty()) return;
  const runtime::Array& array = batch.labels[label].array;
  ToFloats(array.type, array.bytes(), values_);
  const size_t rows = batch.index.size();
  const size_t row = values_.size() / rows;
  const size_t counted = (rows - static_cast<size_t>(pad)) * row;
  if (row % width != 0) return;
  for (size_t i = 0; i < counted; i += width) {
    const Fault fault = wrong(std::span(values_).subspan(i, width));
    if (fault.sentence.empty() || count_++ > 0) continue;
    first_ = samples.SampleName(batch.index[i / row]) + ": " + fault.sentence;
    consequence_ = fault.consequence;
    sort_ = fault.sort;
  }
}

void LabelCheck::Look(const data::Batch& batch, const data::Iterator& samples,
                      int64_t pad) {
  for (const ClassLabels& labels : labels_) {
    LookAt(labels.index, 1, batch, samples, pad,
           [&](auto values) { return FaultOfClass(values.front(), labels); });
  }
  for (const size_t label : probabilities_) {
    LookAt(label, 1, batch, samples, pad,
           [](auto values) { return FaultOfProbability(values.front()); });
  }
  for (const auto& [label, classes] : distributions_) {
    LookAt(label, classes, batch, samples, pad, FaultOfDistribution);
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
