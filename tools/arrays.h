// SPDX-License-Identifier: Apache-2.0
// Between the compiler's tensors and the arrays of runtime/formats.
#pragma once

#include <string>

#include "ir/graph/tensor.h"
#include "ir/support/result.h"
#include "runtime/formats/array.h"

namespace mxc {

Result<runtime::Array> ToArray(const Tensor& tensor);

// The same elements in another type, as runtime/formats/convert.h converts
// them.
Tensor Converted(const Tensor& tensor, DType dtype);

Result<Tensor> ReadNpyTensor(const std::string& path);
Status WriteNpyTensor(const std::string& path, const Tensor& tensor);

}  // namespace mxc
