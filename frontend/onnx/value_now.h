// SPDX-License-Identifier: Apache-2.0
// Computes values of a graph while it is imported: shapes and axes that a file
// computes by nodes.
#pragma once

#include <optional>
#include <unordered_map>

#include "ir/graph/graph.h"

namespace mxc::onnx {

using ParameterValues = std::unordered_map<const Node*, Tensor>;

// The value, where it follows from constants and the values of small parameters,
// by few nodes. Their work goes off from `work_left`.
std::optional<Tensor> ValueNow(Value value, const ParameterValues& parameters,
                               double& work_left);

}  // namespace mxc::onnx
