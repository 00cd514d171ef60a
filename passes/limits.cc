// SPDX-License-Identifier: Apache-2.0
#include "passes/limits.h"

namespace mxc {

Status RequireAddressable(const Graph& graph) {
  Diagnostics errors;
  for (const auto& node : graph.nodes()) {
    for (const TensorType& type : node->types) {
      if (!type.known() || type.bytes() <= kMaxTensorBytes) continue;
      errors.push_back(Error(node->loc,
                             "'{}' needs a tensor {}, which is more than the "
                             "2^47 bytes that a process can address",
                             node->name, ToString(type)));
      break;
    }
  }
  if (!errors.empty()) return errors;
  return Done{};
}

Status RequireAddressable(const Program& program) {
  int64_t bytes = 0;
  for (const Buffer& buffer : program.buffers) {
    if (buffer.alias_of < 0) bytes += buffer.bytes();
    if (bytes <= kMaxTensorBytes) continue;
    return Error({},
                 "the network's tensors have more than 2^47 bytes together, "
                 "which is all that a process can address");
  }
  return Done{};
}

Status RequireStorable(const Program& program) {
  Diagnostics errors;
  for (const Buffer& buffer : program.buffers) {
    if (buffer.type.shape.rank() <= kMaxTensorRank) continue;
    errors.push_back(Error({},
                           "'{}' needs a tensor {} of {} axes; at most {} are "
                           "supported",
                           buffer.name, ToString(buffer.type),
                           buffer.type.shape.rank(), kMaxTensorRank));
  }
  if (!errors.empty()) return errors;
  return Done{};
}

}  // namespace mxc
