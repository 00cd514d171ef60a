// SPDX-License-Identifier: Apache-2.0
#include "ir/graph/output_names.h"

namespace mxc {

const std::string& OutputNamer::NameOf(Value output) {
  const Node& node = *output.node;
  if (node_ != &node) {
    node_ = &node;
    names_.clear();
    if (node.kind == Node::Kind::kOperator) {
      names_ = node.op->outputs(node.attrs.get());
    }
    while (names_.size() < node.types.size()) {
      names_.push_back(node.types.size() == 1
                           ? "output"
                           : "output" + std::to_string(names_.size()));
    }
  }
  return names_[static_cast<size_t>(output.index)];
}

}  // namespace mxc
