// SPDX-License-Identifier: Apache-2.0
// numpy.einsum: what subscripts ask of inputs, and how it is computed.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/ops/op.h"

namespace mxc {

// Letters are characters; the axes of "..." have characters of their own.
struct Einsum {
  std::vector<std::string> inputs;  // a letter for each axis
  std::string output;
  std::map<char, int64_t> extents;

  Shape ShapeOf(std::string_view letters) const;
  Shape OutputShape() const { return ShapeOf(output); }
};

// The violated constraint as an error; see npi_einsum.cc.
Result<Einsum> ParseEinsum(std::string_view subscripts,
                           const std::vector<Shape>& inputs);

// From the first input to the last, each time one product of matrices, in which
// what nobody asks for later is summed.
Value EinsumOf(GraphBuilder& b, const Einsum& einsum,
               const std::vector<Value>& inputs);

}  // namespace mxc
