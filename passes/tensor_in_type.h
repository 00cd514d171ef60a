// SPDX-License-Identifier: Apache-2.0
// Converts constants, for Tensor::Deferred.
#pragma once

#include "ir/graph/tensor.h"

namespace mxc {

// The elements, each in type `dtype`.
Tensor InType(const Tensor& from, DType dtype);

}  // namespace mxc
