// SPDX-License-Identifier: Apache-2.0
// Class numbers out of labels and predictions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/train/metric.h"

namespace mxc::train {

// Cut towards zero; what no int32 holds (NaN, too) is the smallest int32, which
// is nobody's class.
int32_t ClassOf(float label);
std::vector<int32_t> ClassesOf(const FloatView& label);

// The position of the largest value along `axis` (negative: from the end), the
// first of equals, with that axis left out. Refuses an axis that is not there.
StatusOr<std::vector<int32_t>> ArgMax(const FloatView& prediction, int64_t axis,
                                      const std::string& metric);

// Returns whether labels say for each of several classes along `axis` how
// likely it is, as predictions of the same shape do.
bool AreDistributions(const FloatView& label, const FloatView& prediction,
                      int64_t axis);

// Classes by ArgMax along `axis`, or, where labels of the same shape are no
// distributions, by ClassesOf; refuses other numbers of classes than labels.
StatusOr<std::vector<int32_t>> PredictedClasses(const FloatView& label,
                                                const FloatView& prediction,
                                                int64_t axis,
                                                const std::string& metric);
// What they are compared with: ArgMax of distributions, else ClassesOf.
StatusOr<std::vector<int32_t>> LabelClasses(const FloatView& label,
                                            const FloatView& prediction,
                                            int64_t axis,
                                            const std::string& metric);

// One probability for each label: prediction[…, label] with the classes in the
// last axis. Refuses a label that is no class.
StatusOr<std::vector<float>> PickByLabel(const FloatView& label,
                                         const FloatView& prediction,
                                         const std::string& metric);

// "accuracy: labels (32) do not match predictions (16, 10)"
Status ShapesDiffer(const FloatView& label, const FloatView& prediction,
                    const std::string& metric);

}  // namespace mxc::train
