// SPDX-License-Identifier: Apache-2.0
#include "tools/arrays.h"

#include <cstring>

#include "runtime/formats/convert.h"
#include "runtime/formats/npy.h"
#include "tools/driver/to_tensor.h"
#include "tools/terminal.h"

namespace mxc {

Result<runtime::Array> ToArray(const Tensor& tensor) {
  const auto type =
      runtime::ElementTypeFromFlag(static_cast<int64_t>(tensor.type().dtype));
  MXC_CHECK(type);
  auto array = runtime::Array::Allocate(*type, tensor.shape().dims());
  if (!array.ok()) return UnplacedError(array.status().message());
  std::memcpy(array->bytes().data(), tensor.bytes(), array->bytes().size());
  return *array;
}

Tensor Converted(const Tensor& tensor, DType dtype) {
  const auto flag = [](DType type) {
    return *runtime::ElementTypeFromFlag(static_cast<int64_t>(type));
  };
  std::byte* bytes = nullptr;
  Tensor result = Tensor::Allocate({dtype, tensor.shape()}, &bytes);
  runtime::ConvertElements(
      flag(tensor.type().dtype),
      {tensor.bytes(), static_cast<size_t>(tensor.size_bytes())}, flag(dtype),
      {bytes, static_cast<size_t>(result.size_bytes())});
  return result;
}

Result<Tensor> ReadNpyTensor(const std::string& path) {
  const auto array = runtime::ReadNpy(path);
  if (!array.ok()) return UnplacedError(array.status().message());
  return ToTensor(*array);
}

Status WriteNpyTensor(const std::string& path, const Tensor& tensor) {
  MXC_ASSIGN(const runtime::Array array, ToArray(tensor));
  const runtime::Status written = runtime::WriteNpy(path, array);
  if (!written.ok()) return UnplacedError(written.message());
  return Done{};
}

}  // namespace mxc
