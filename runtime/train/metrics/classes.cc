// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/metrics/classes.h"

#include <limits>

namespace mxc::train {
namespace {

std::string ShapeText(const std::vector<int64_t>& shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return text + ")";
}

}  // namespace

int32_t ClassOf(float label) {
  const bool fits = label > -0x1p31f && label < 0x1p31f;
  return fits ? static_cast<int32_t>(label)
              : std::numeric_limits<int32_t>::min();
}

std::vector<int32_t> ClassesOf(const FloatView& label) {
  std::vector<int32_t> classes;
  classes.reserve(label.values.size());
  for (const float value : label.values) classes.push_back(ClassOf(value));
  return classes;
}

StatusOr<std::vector<int32_t>> ArgMax(const FloatView& prediction, int64_t axis,
                                      const std::string& metric) {
  const auto rank = static_cast<int64_t>(prediction.shape.size());
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) {
    return Fail(StatusCode::kInvalidArgument,
                "%s: predictions %s have no axis %lld", metric.c_str(),
                ShapeText(prediction.shape).c_str(),
                static_cast<long long>(axis));
  }
  const auto length = static_cast<size_t>(prediction.shape[axis]);
  size_t inner = 1;
  for (int64_t k = axis + 1; k < rank; ++k) {
    inner *= static_cast<size_t>(prediction.shape[k]);
  }
  std::vector<int32_t> best;
  if (prediction.values.empty()) return best;
  const size_t outer = prediction.values.size() / (length * inner);
  for (size_t o = 0; o < outer; ++o) {
    for (size_t i = 0; i < inner; ++i) {
      const float* row = &prediction.values[o * length * inner + i];
      size_t largest = 0;
      for (size_t k = 1; k < length; ++k) {
        if (row[k * inner] > row[largest * inner]) largest = k;
      }
      best.push_back(static_cast<int32_t>(largest));
    }
  }
  return best;
}

bool AreDistributions(const FloatView& label, const FloatView& prediction,
                      int64_t axis) {
  const auto rank = static_cast<int64_t>(label.shape.size());
  if (axis < 0) axis += rank;
  return label.shape == prediction.shape && axis >= 0 && axis < rank &&
         rank > 1 && label.shape[static_cast<size_t>(axis)] > 1;
}

StatusOr<std::vector<int32_t>> PredictedClasses(const FloatView& label,
                                                const FloatView& prediction,
                                                int64_t axis,
                                                const std::string& metric) {
  const bool distributions = AreDistributions(label, prediction, axis);
  if (label.shape == prediction.shape && !distributions) {
    return ClassesOf(prediction);
  }
  StatusOr<std::vector<int32_t>> classes = ArgMax(prediction, axis, metric);
  if (classes.ok() && !distributions &&
      classes->size() != label.values.size()) {
    return ShapesDiffer(label, prediction, metric);
  }
  return classes;
}

StatusOr<std::vector<int32_t>> LabelClasses(const FloatView& label,
                                            const FloatView& prediction,
                                            int64_t axis,
                                            const std::string& metric) {
  if (!AreDistributions(label, prediction, axis)) return ClassesOf(label);
  return ArgMax(label, axis, metric);
}

StatusOr<std::vector<float>> PickByLabel(const FloatView& label,
                                         const FloatView& prediction,
                                         const std::string& metric) {
  const int64_t classes =
      prediction.shape.empty() ? 0 : prediction.shape.back();
  const size_t rows = label.values.size();
  if (classes < 1 ||
      prediction.values.size() != rows * static_cast<size_t>(classes)) {
    return ShapesDiffer(label, prediction, metric);
  }
  std::vector<float> picked(rows);
  for (size_t i = 0; i < rows; ++i) {
    const int32_t k = ClassOf(label.values[i]);
    if (k < 0 || k >= classes) {
      return Fail(StatusCode::kInvalidArgument,
                  "%s: label %g is none of %lld classes", metric.c_str(),
                  static_cast<double>(label.values[i]),
                  static_cast<long long>(classes));
    }
    picked[i] =
        prediction
            .values[i * static_cast<size_t>(classes) + static_cast<size_t>(k)];
  }
  return picked;
}

Status ShapesDiffer(const FloatView& label, const FloatView& prediction,
                    const std::string& metric) {
  return Fail(StatusCode::kInvalidArgument,
              "%s: labels %s do not match predictions %s", metric.c_str(),
              ShapeText(label.shape).c_str(),
              ShapeText(prediction.shape).c_str());
}

}  // namespace mxc::train
