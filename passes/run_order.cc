// SPDX-License-Identifier: Apache-2.0
#include "passes/run_order.h"

#include <algorithm>
#include <unordered_map>

#include "ir/ops/operators.h"

namespace mxc {
namespace {

std::vector<Node*> PartByPart(std::vector<Node*> order) {
  std::unordered_map<const Node*, int> last;  // part that a node depends on
  for (const Node* node : order) {
    int part = node->part;
    for (const Value& input : node->inputs) {
      part = std::max(part, last.at(input.node));
    }
    last.emplace(node, part);
  }
  std::ranges::stable_sort(order, {},
                           [&](const Node* node) { return last.at(node); });
  return order;
}

bool Sends(const Node& node) { return node.Is("_send"); }
bool Receives(const Node& node) { return node.Is("_receive"); }

class StageOrder {
 public:
  explicit StageOrder(std::vector<Node*> order)
      : order_(std::move(order)), ran_(order_.size(), false) {
    for (size_t n = 0; n < order_.size(); ++n) number_[order_[n]] = n;
    int received = kNothing;
    for (size_t n = 0; n < order_.size(); ++n) {
      const Node& node = *order_[n];
      if (Receives(node)) of_received_.resize(++received + 1);
      const bool transfers = Sends(node) || Receives(node);
      received_.push_back(transfers ? received : LastOf(node));
      if (!transfers && received_[n] != kNothing) {
        of_received_[received_[n]].push_back(n);
      }
    }
  }

  std::vector<Node*> Run() {
    int received = kNothing;
    for (size_t n = 0; n < order_.size(); ++n) {
      const Node& node = *order_[n];
      if (!Sends(node) && !Receives(node)) continue;
      const bool answers =
          Sends(node) && ReceivedBefore(node.inputs[0]) == received;
      if (!answers) RunAllOf(received);
      RunWithInputs(n);
      if (Receives(node)) ++received;
    }
    for (size_t n = 0; n < order_.size(); ++n) RunWithInputs(n);
    return std::move(ran_in_order_);
  }

 private:
  static constexpr int kNothing = -1;

  // The last thing received, in order, that the node depends on.
  int LastOf(const Node& node) const {
    int last = kNothing;
    for (const Value& input : node.inputs) {
      last = std::max(last, ReceivedBefore(input));
    }
    return last;
  }
  int ReceivedBefore(Value value) const {
    return received_[number_.at(value.node)];
  }

  // What depends on what was received last, and on nothing that comes later.
  // What depends on nothing received waits for whoever reads it.
  void RunAllOf(int received) {
    if (received == kNothing) return;
    for (const size_t n : of_received_[received]) RunWithInputs(n);
    of_received_[received].clear();
  }

  void RunWithInputs(size_t n) {
    std::vector<size_t> pending = {n};
    while (!pending.empty()) {
      const size_t last = pending.back();
      if (ran_[last]) {
        pending.pop_back();
        continue;
      }
      const size_t waiting = pending.size();
      const std::vector<Value>& inputs = order_[last]->inputs;
      for (size_t i = inputs.size(); i-- > 0;) {
        const size_t input = number_.at(inputs[i].node);
        if (!ran_[input]) pending.push_back(input);
      }
      if (pending.size() > waiting) continue;
      ran_[last] = true;
      ran_in_order_.push_back(order_[last]);
      pending.pop_back();
    }
  }

  const std::vector<Node*> order_;
  std::unordered_map<const Node*, size_t> number_;
  // By node: LastOf it; of a transfer, the last that is received by then.
  std::vector<int> received_;
  std::vector<std::vector<size_t>>
      of_received_;  // nodes, by what they wait for
  std::vector<bool> ran_;
  std::vector<Node*> ran_in_order_;
};

}  // namespace

std::vector<Node*> RunOrder(const Graph& graph) {
  std::vector<Node*> order = graph.TopologicalOrder();
  const bool transfers = std::ranges::any_of(
      order, [](const Node* node) { return Sends(*node) || Receives(*node); });
  return transfers ? StageOrder(std::move(order)).Run()
                   : PartByPart(std::move(order));
}

}  // namespace mxc
