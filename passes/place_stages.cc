// SPDX-License-Identifier: Apache-2.0
// place-stages: of a network that several devices compute, each a part of its
// layers, what one of them does.
//
//   a ─► b ─► c ─► loss          a, b on device 0, c and the loss on device 1
//   ⇒  device 0:  a ─► b ─► send b        receive grad b ─► grad a, updates
//      device 1:  receive b ─► c ─► loss ─► grad c ─► send grad b, updates
//
// A node is where the network's node is that it carries on: so are gradients,
// but for sums of what another device has, and so are updates where their
// parameter is read first. What follows from
// inputs and constants alone every device computes for itself. All devices have
// all outputs, and the inputs that it reads.
//
// In what order a device sends and receives is fixed here (stage_schedule.h):
// each transfer waits for the one before it.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/graph/builder.h"
#include "ir/ops/tensor/control/transfer.h"
#include "passes/node_values.h"
#include "passes/passes.h"
#include "passes/stage_schedule.h"

namespace mxc {
namespace {

class Cut {
 public:
  Cut(Graph& graph, const TrainingOptions& options)
      : graph_(graph),
        stage_(options.stage),
        stages_(options.stages),
        stage_of_(options.stage_of),
        order_(graph.TopologicalOrder()) {}

  void Run() {
    PlaceVariables();
    PlaceNodes();
    const std::vector<TransferEvent> events = OrderTransfers(Placed());
    Value last;
    for (const TransferEvent& event : events) last = Transfer(event, last);
    KeepOwnUpdates();
    ReadReceived();
    if (!events.empty() && events.back().sends) Await(last);
    LeaveUnreadInputs();
  }

 private:
  // By names of the network's nodes and variables; nothing where none is known.
  std::optional<int> Named(const Node& node) const {
    std::optional<int> stage;
    for (const std::string& name : OriginsOf(node)) {
      auto found = stage_of_.find(name);
      if (found == stage_of_.end()) continue;
      stage = std::max(stage.value_or(kEverywhere), found->second);
    }
    return stage;
  }

  // Where they are read first; in order, so that what the optimizer keeps for a
  // parameter follows it.
  void PlaceVariables() {
    for (const Node* node : order_) {
      if (node->is_declared_input()) stage_of_[node->name] = kEverywhere;
    }
    for (const Node* node : order_) {
      if (node->kind == Node::Kind::kVariable) continue;
      const std::optional<int> stage = Named(*node);
      if (!stage) continue;
      for (const Value& input : node->inputs) {
        const Node& variable = *input.node;
        if (variable.kind != Node::Kind::kVariable ||
            variable.role == VariableRole::kInput) {
          continue;
        }
        stage_of_.emplace(variable.name, *stage);
      }
    }
  }

  void PlaceNodes() {
    for (const Node* node : order_) {
      int of_inputs = kEverywhere;
      for (const Value& input : node->inputs) {
        of_inputs = std::max(of_inputs, placed_.at(input.node));
      }
      int stage = Named(*node).value_or(of_inputs);
      if (stage == kEverywhere) stage = of_inputs;
      if (stage != kEverywhere) stage = WhereLessCrosses(*node, stage);
      placed_.emplace(node, stage);
    }
  }

  // A sum of gradients that another stage computes is made there: one tensor
  // crosses instead of several.
  int WhereLessCrosses(const Node& node, int stage) const {
    std::set<std::pair<int, int>> inputs;  // each once
    std::set<int> stages;
    int64_t bytes = 0;
    for (const Value& input : node.inputs) {
      stages.insert(placed_.at(input.node));
      if (inputs.emplace(input.node->id(), input.index).second) {
        bytes += input.type().bytes();
      }
    }
    const bool elsewhere = inputs.size() > 1 && stages.size() == 1 &&
                           !stages.contains(kEverywhere);
    const bool less = node.types.size() == 1 && node.types[0].bytes() < bytes;
    return elsewhere && less ? *stages.begin() : stage;
  }

  PlacedGraph Placed() const {
    PlacedGraph placed{
        .stage = stage_, .stages = stages_, .nodes = {}, .ends = {}};
    std::unordered_map<const Node*, int> numbers;
    for (const Node* node : order_) {
      PlacedNode one{placed_.at(node), node->part, {}};
      for (const Value& input : node->inputs) {
        one.inputs.push_back({numbers.at(input.node), input.index});
      }
      numbers.emplace(node, static_cast<int>(placed.nodes.size()));
      placed.nodes.push_back(std::move(one));
    }
    const auto number_of = [&](Value value) {
      return PlacedValue{numbers.at(value.node), value.index};
    };
    const auto need = [&](Value value, int stage) {
      const int first = stage == kEverywhere ? 0 : stage;
      const int last = stage == kEverywhere ? stages_ - 1 : stage;
      for (int s = first; s <= last; ++s) {
        placed.ends.emplace_back(number_of(value), s);
      }
    };
    for (const Value& output : graph_.outputs) need(output, kEverywhere);
    for (const Update& update : graph_.updates) {
      need(update.next, placed_.at(update.variable));
    }
    return placed;
  }

  Value Transfer(const TransferEvent& event, Value last) {
    const Value value = order_[event.value.node]->out(event.value.index);
    GraphBuilder builder(graph_, *value.node);
    if (event.sends) return SentTo(builder, event.other, value, last);
    const Value received =
        ReceivedFrom(builder, event.other, value.type(), last);
    received_.emplace(value, received);
    return received;
  }

  void KeepOwnUpdates() {
    std::erase_if(graph_.updates, [&](const Update& update) {
      const int stage = placed_.at(update.variable);
      return stage != kEverywhere && stage != stage_;
    });
  }

  Value Here(Value value) const {
    const auto found = received_.find(value);
    return found == received_.end() ? value : found->second;
  }

  void ReadReceived() {
    for (Node* node : order_) {
      if (placed_.at(node) != stage_) continue;
      for (Value& input : node->inputs) input = Here(input);
    }
    for (Value& output : graph_.outputs) output = Here(output);
    for (Update& update : graph_.updates) update.next = Here(update.next);
  }

  // A run ends when the last value is sent: an output waits for its mark, which
  // is 0.
  void Await(Value mark) {
    for (Value& output : graph_.outputs) {
      if (!IsFloat(output.type().dtype)) continue;
      GraphBuilder builder(graph_, *output.node);
      output = builder.Add(output, builder.Cast(mark, output.type().dtype));
      return;
    }
    MXC_CHECK(false, "a network that trains has no output of floats");
  }

  void LeaveUnreadInputs() {
    std::set<const Node*> declared;
    for (Node* node : order_) {
      if (!node->is_declared_input()) continue;
      declared.insert(node);
      node->declared = false;
    }
    graph_.RemoveDeadNodes();
    for (Node* input : graph_.Variables(VariableRole::kInput)) {
      input->declared = declared.contains(input);
    }
  }

  Graph& graph_;
  const int stage_, stages_;
  std::map<std::string, int> stage_of_;  // variables, too, once placed
  const std::vector<Node*> order_;
  std::unordered_map<const Node*, int> placed_;
  std::unordered_map<Value, Value, ValueHash> received_;
};

}  // namespace

Result<bool> PlaceStages(Graph& graph, PassContext& context) {
  if (context.training == nullptr || context.training->stages == 1) {
    return false;
  }
  Cut(graph, *context.training).Run();
  return true;
}

}  // namespace mxc
