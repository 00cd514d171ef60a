// SPDX-License-Identifier: Apache-2.0
// Builds nodes that a symbol can be written of.
#pragma once

#include <vector>

#include "ir/graph/builder.h"

namespace mxc {

// Keeps of its nodes the attributes as a file would state them. Refuses
// attributes that are illegal, since they follow from what files say.
class WrittenBuilder : public GraphBuilder {
 public:
  using GraphBuilder::GraphBuilder;

 protected:
  void CheckAttrs(const Operator& op, const void* attrs) override;
  std::vector<Value> Made(Node& node, std::vector<Value> outputs) override;
};

}  // namespace mxc
