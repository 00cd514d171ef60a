// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/label_check.h"

#include "runtime/train/floats.h"
#include "runtime/train/status.h"

namespace mxc::train {
namespace {

// Networks cut labels to whole numbers, towards zero.
bool IsClass(float value, const ClassLabels& labels) {
  if (labels.ignored && static_cast<double>(value) == *labels.ignored) {
    return true;
  }
  return value > -1 && value < static_cast<float>(labels.classes);
}

}  // namespace

void LabelCheck::Look(const data::Batch& batch, const data::Iterator& samples,
                      int64_t pad) {
  for (const ClassLabels& labels : labels_) {
    if (labels.index >= batch.labels.size() || batch.index.empty()) continue;
    const runtime::Array& array = batch.labels[labels.index].array;
    values_.resize(array.bytes().size() /
                   static_cast<size_t>(ElementBytes(array.type)));
    ToFloats(array.type, array.bytes(), values_);
    const size_t rows = batch.index.size();
    const size_t row = values_.size() / rows;
    const size_t counted = (rows - static_cast<size_t>(pad)) * row;
    for (size_t i = 0; i < counted; ++i) {
      if (IsClass(values_[i], labels)) continue;
      if (count_++ > 0) continue;
      first_ = samples.SampleName(batch.index[i / row]) +
               Format(": label %g is none of the classes 0 to %lld",
                      static_cast<double>(values_[i]),
                      static_cast<long long>(labels.classes - 1));
    }
  }
}

std::string LabelCheck::Warning() const {
  if (count_ < 2) return first_;
  return first_ +
         Format("; %lld labels are none", static_cast<long long>(count_));
}

}  // namespace mxc::train
