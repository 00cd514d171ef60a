// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/drawable.h"

#include "ir/ops/op.h"

namespace mxc {

bool RequireDrawable(const Shape& shape, std::string_view label,
                     TypeInference& t) {
  if (!shape.known()) return true;
  const auto elements = CheckedProduct(shape.dims());
  return t.Require(elements && *elements < int64_t{1} << 32,
                   "{}: shape {} has 2^32 elements or more to be drawn", label,
                   ToString(shape));
}

}  // namespace mxc
