// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/initial_value.h"

#include <vector>

#include "tools/driver/unplaced_error.h"

namespace mxc {

Result<Tensor> InitialValue(const std::string& name, const TensorType& type,
                            uint64_t seed, const FillTarget& fill) {
  const auto count = static_cast<size_t>(type.shape.elements());
  std::byte* bytes = nullptr;
  Tensor tensor = Tensor::Allocate(type, &bytes);
  std::vector<float> converted(type.dtype == DType::kF32 ? 0 : count);
  const train::Target target{
      .name = name,
      .shape = type.shape.dims(),
      .values = converted.empty()
                    ? std::span(reinterpret_cast<float*>(bytes), count)
                    : std::span(converted),
      .seed = seed};
  const train::Status status = fill(target);
  if (!status.ok()) return UnplacedError(status.message());
  for (size_t i = 0; i < converted.size(); ++i) {
    StoreElement(bytes + static_cast<int64_t>(i) * SizeOf(type.dtype),
                 type.dtype, static_cast<double>(converted[i]));
  }
  return tensor;
}

}  // namespace mxc
