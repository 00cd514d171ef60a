// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/floats.h"

#include "runtime/formats/convert.h"

namespace mxc::train {

void ToFloats(runtime::ElementType type, std::span<const std::byte> elements,
              std::span<float> values) {
  runtime::ConvertElements(type, elements, runtime::ElementType::kF32,
                           std::as_writable_bytes(values));
}

void ToFloats(runtime::ElementType type, std::span<const std::byte> elements,
              std::vector<float>& values) {
  values.resize(elements.size() /
                static_cast<size_t>(runtime::ElementBytes(type)));
  ToFloats(type, elements, std::span<float>(values));
}

}  // namespace mxc::train
