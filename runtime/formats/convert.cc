// SPDX-License-Identifier: Apache-2.0
#include "runtime/formats/convert.h"

#include <cstring>

namespace mxc::runtime {

void ConvertElements(ElementType from_type, std::span<const std::byte> from,
                     ElementType to_type, std::span<std::byte> to) {
  if (from_type == to_type) {
    std::memcpy(to.data(), from.data(), to.size());
    return;
  }
  WithElementOf(from_type, [&]<class From>(From) {
    WithElementOf(to_type, [&]<class To>(To element) {
      const size_t count = to.size() / sizeof element;
      for (size_t i = 0; i < count; ++i) {
        SetElement(ValueOf(ReadElement<From>(&from[i * sizeof(From)])),
                   element);
        std::memcpy(&to[i * sizeof element], &element, sizeof element);
      }
    });
  });
}

}  // namespace mxc::runtime
