// SPDX-License-Identifier: Apache-2.0
// Names of outputs, for callers that ask for one after the other.
#pragma once

#include <string>
#include <vector>

#include "ir/graph/graph.h"

namespace mxc {

// An operator tells the names of all of its outputs at once, so those of the
// node that was asked for last are kept. One thread.
class OutputNamer {
 public:
  // As Node::OutputName; until the next call.
  const std::string& NameOf(Value output);

 private:
  const Node* node_ = nullptr;
  std::vector<std::string> names_;
};

}  // namespace mxc
