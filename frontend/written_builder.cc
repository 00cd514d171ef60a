// SPDX-License-Identifier: Apache-2.0
#include "frontend/written_builder.h"

#include <utility>

namespace mxc {

std::vector<Value> WrittenBuilder::Made(Node& node, std::vector<AttrText> given,
                                        std::vector<Value> outputs) {
  node.written.attributes =
      given.empty() ? node.op->print(node.attrs.get()) : std::move(given);
  return outputs;
}

}  // namespace mxc
