// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/network_drawing.h"

#include "runtime/train/protobuf.h"

namespace mxc::train {
namespace {

// Field numbers of tensorflow.GraphDef and NodeDef.
constexpr int kNode = 1;
constexpr int kName = 1, kOp = 2, kInput = 3;

}  // namespace

std::string GraphMessage(const std::vector<NetworkNode>& nodes) {
  std::string message;
  for (const NetworkNode& node : nodes) {
    std::string text;
    PutCounted(text, kName, node.name);
    PutCounted(text, kOp, node.op);
    for (const std::string& input : node.inputs) {
      PutCounted(text, kInput, input);
    }
    PutCounted(message, kNode, text);
  }
  return message;
}

}  // namespace mxc::train
