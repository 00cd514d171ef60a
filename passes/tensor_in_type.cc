// SPDX-License-Identifier: Apache-2.0
#include "passes/tensor_in_type.h"

namespace mxc {

Tensor InType(const Tensor& from, DType dtype) {
  const TensorType type = {dtype, from.shape()};
  std::byte* to = nullptr;
  Tensor converted = Tensor::Allocate(type, &to);
  for (int64_t i = 0; i < type.shape.elements(); ++i) {
    StoreElement(to + i * SizeOf(dtype), dtype, from.At(i));
  }
  return converted;
}

}  // namespace mxc
