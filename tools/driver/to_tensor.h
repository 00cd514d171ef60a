// SPDX-License-Identifier: Apache-2.0
// An array of a file as a tensor of the compiler.
#pragma once

#include "ir/graph/tensor.h"
#include "runtime/formats/array.h"

namespace mxc {

// Shares the bytes.
inline Tensor ToTensor(const runtime::Array& array) {
  const auto dtype = static_cast<DType>(static_cast<int>(array.type));
  return Tensor({dtype, Shape(array.shape)}, array.storage,
                array.storage.get());
}

}  // namespace mxc
