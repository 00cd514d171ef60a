// SPDX-License-Identifier: Apache-2.0
#include "frontend/written_builder.h"

namespace mxc {

void WrittenBuilder::CheckAttrs(const Operator& op, const void* attrs) {
  const auto legal = LegalAttrs(op, StatedAttrs(op, attrs));
  if (!legal.ok()) Broken(op, legal.errors()[0].message);
}

std::vector<Value> WrittenBuilder::Made(Node& node,
                                        std::vector<Value> outputs) {
  node.written.attributes = StatedAttrs(*node.op, node.attrs.get());
  return outputs;
}

}  // namespace mxc
