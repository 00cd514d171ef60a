// SPDX-License-Identifier: Apache-2.0
// Which elements of its operands a contraction multiplies, for its interpreter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/program/role_strides.h"
#include "ir/program/steps/contraction.h"

namespace mxc {

// Of an operand that lies row-major.
inline RoleStrides RowMajorStridesOf(const std::vector<Role>& axes,
                                     const Extents& dims,
                                     const Contraction& c) {
  Extents strides(axes.size());
  int64_t stride = 1;
  for (size_t i = axes.size(); i-- > 0; stride *= dims[i]) strides[i] = stride;
  return RoleStridesOf(c, axes, strides);
}

// The three spatial axes of a contraction, missing ones of extent 1.
struct Spatial {
  int64_t input = 1, output = 1, kernel = 1, stride = 1, dilate = 1, pad = 0;
  int64_t data_dilate = 1;
  bool flip = false;

  // The element of data that output position o meets at kernel position w; -1
  // where there is none.
  int64_t DataAt(int64_t o, int64_t w) const {
    const int64_t at = o * stride + (flip ? kernel - 1 - w : w) * dilate - pad;
    const bool inside = at >= 0 && at % data_dilate == 0;
    return inside && at / data_dilate < input ? at / data_dilate : -1;
  }
};

inline std::array<Spatial, 3> SpatialOf(const Contraction& c) {
  std::array<Spatial, 3> out;
  for (size_t i = 0; i < c.kernel.size(); ++i) {
    out[i] = {c.input[i],  c.output[i], c.kernel[i],      c.stride[i],
              c.dilate[i], c.pad[i],    c.data_dilate[i], c.flip};
  }
  return out;
}

}  // namespace mxc
