// SPDX-License-Identifier: Apache-2.0
// Builds nodes that a symbol can be written of.
#pragma once

#include <vector>

#include "ir/graph/builder.h"

namespace mxc {

// Keeps of its nodes the attributes that they were given, as a file would.
class WrittenBuilder : public GraphBuilder {
 public:
  using GraphBuilder::GraphBuilder;

 protected:
  std::vector<Value> Made(Node& node, std::vector<AttrText> given,
                          std::vector<Value> outputs) override;
};

}  // namespace mxc
