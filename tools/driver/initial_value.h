// SPDX-License-Identifier: Apache-2.0
// Fills parameters that have no values yet.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "ir/graph/tensor.h"
#include "ir/support/result.h"
#include "runtime/train/initializer.h"

namespace mxc {

using FillTarget = std::function<train::Status(const train::Target& target)>;

// A tensor of any type that `fill` fills, through floats.
Result<Tensor> InitialValue(const std::string& name, const TensorType& type,
                            uint64_t seed, const FillTarget& fill);

}  // namespace mxc
