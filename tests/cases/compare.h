// SPDX-License-Identifier: Apache-2.0
// Compares a tensor with the one that was expected.
#pragma once

#include <optional>
#include <string>

#include "ir/graph/tensor.h"

namespace mxc {

// |got − want| ≤ absolute + relative·|want|; NaN equals NaN, and infinities
// themselves. Returns what differs most, or nullopt.
struct Tolerance {
  double relative = 0, absolute = 0;
};
std::optional<std::string> Difference(const Tensor& got, const Tensor& want,
                                      Tolerance tolerance);

double LargestMagnitude(const Tensor& tensor);

}  // namespace mxc
