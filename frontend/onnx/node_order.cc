// SPDX-License-Identifier: Apache-2.0
#include "frontend/onnx/node_order.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <set>

namespace mxc::onnx {
namespace {

// The names that a graph within a node makes, and those around it, within the
// node, do.
struct OwnNames {
  std::set<Text> names = {};
  const OwnNames* around = nullptr;

  bool Have(Text name) const {
    for (const OwnNames* own = this; own != nullptr; own = own->around) {
      if (own->names.contains(name)) return true;
    }
    return false;
  }
};

// Calls `read` with the names that a graph within a node reads.
template <class Read>
void ReadsFromOutside(const GraphProto& graph, const OwnNames* around,
                      const Read& read) {
  OwnNames own = {.around = around};
  for (const auto& input : graph.input) own.names.insert(input.name);
  for (const auto& tensor : graph.initializer) own.names.insert(tensor.name);
  for (const NodeProto& node : graph.node) {
    own.names.insert(node.output.begin(), node.output.end());
  }
  const auto seen = [&](Text name) {
    if (!own.Have(name)) read(name);
  };
  for (const NodeProto& node : graph.node) {
    std::ranges::for_each(node.input, seen);
    for (const AttributeProto& attribute : node.attribute) {
      if (attribute.g != nullptr) ReadsFromOutside(*attribute.g, &own, read);
    }
  }
  for (const ValueInfoProto& output : graph.output) seen(output.name);
}

}  // namespace

std::vector<const NodeProto*> InOrder(const std::vector<NodeProto>& nodes) {
  std::map<Text, size_t> maker;
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const Text output : nodes[i].output) {
      if (!output.empty()) maker.emplace(output, i);
    }
  }
  std::vector<std::vector<size_t>> readers(nodes.size());
  std::vector<int> waits(nodes.size(), 0);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const auto read = [&](Text name) {
      const auto found = maker.find(name);
      if (found == maker.end() || found->second == i) return;
      readers[found->second].push_back(i);
      ++waits[i];
    };
    std::ranges::for_each(nodes[i].input, read);
    for (const AttributeProto& attribute : nodes[i].attribute) {
      if (attribute.g == nullptr) continue;
      ReadsFromOutside(*attribute.g, nullptr, read);
    }
  }
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (waits[i] == 0) ready.push(i);
  }
  std::vector<const NodeProto*> order;
  while (!ready.empty()) {
    const size_t i = ready.top();
    ready.pop();
    order.push_back(&nodes[i]);
    for (const size_t reader : readers[i]) {
      if (--waits[reader] == 0) ready.push(reader);
    }
  }
  return order;
}

}  // namespace mxc::onnx
