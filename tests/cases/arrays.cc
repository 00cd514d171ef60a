// SPDX-License-Identifier: Apache-2.0
#include "tests/cases/arrays.h"

#include "runtime/formats/ndarray_list.h"
#include "tools/driver/to_tensor.h"

namespace mxc {

Result<NamedTensors> ReadTensors(const std::string& bytes) {
  auto arrays = runtime::ParseNdarrayList(std::as_bytes(std::span(bytes)));
  if (!arrays.ok()) return Error({}, "params: {}", arrays.status().message());
  NamedTensors tensors;
  for (const runtime::NamedArray& named : *arrays) {
    tensors[named.name] = ToTensor(named.array);
  }
  return tensors;
}

}  // namespace mxc
