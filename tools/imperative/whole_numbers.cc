// SPDX-License-Identifier: Apache-2.0
#include "tools/imperative/whole_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "ir/graph/builder.h"
#include "ir/graph/gradient.h"

namespace mxc {
namespace {

bool IsWhole(const TensorType& type) { return !IsFloat(type.dtype); }
bool IsWholeValue(const Value& value) { return IsWhole(value.type()); }

// A function's values again, those of whole numbers as float64.
class OverReals {
 public:
  OverReals(Graph& graph, const Node& origin, const std::vector<Node*>& inputs)
      : graph_(graph), builder_(graph, origin) {
    for (Node* const input : inputs) {
      depends_.insert(input);
      if (IsWholeValue(input->out())) {
        known_.emplace(input->out(), builder_.Cast(input->out(), DType::kF64));
      }
    }
  }

  // The operators among `nodes`, in their order. False: one of them is not
  // defined for real numbers, or would draw others.
  bool Add(const std::vector<Node*>& nodes) {
    return std::ranges::all_of(nodes, [&](Node* node) {
      const auto& inputs = node->inputs;
      const bool depends = std::ranges::any_of(inputs, [&](const Value& input) {
        return depends_.contains(input.node);
      });
      if (!depends || IsRemainder(*node)) return true;
      depends_.insert(node);
      const bool changes = std::ranges::any_of(
          inputs, [&](const Value& input) { return known_.contains(input); });
      return !(changes || HasWholeOutput(*node)) || AddAgain(*node);
    });
  }

  // The value itself where it is none of whole numbers.
  Value Of(const Value& value) const {
    const auto found = known_.find(value);
    return found == known_.end() ? value : found->second;
  }

 private:
  // Of whole numbers, which MXNet takes for a constant.
  static bool IsRemainder(const Node& node) {
    static constexpr std::string_view kNames[] = {
        "_mod", "broadcast_mod", "_mod_scalar", "_rmod_scalar"};
    return node.kind == Node::Kind::kOperator && HasWholeOutput(node) &&
           std::ranges::find(kNames, node.op->name) != std::end(kNames);
  }

  static bool HasWholeOutput(const Node& node) {
    return std::ranges::any_of(node.types, IsWhole);
  }

  bool AddAgain(Node& node) {
    if (node.kind != Node::Kind::kOperator || node.op->scan ||
        node.op->branch ||
        (node.op->random &&
         node.op->random(node.attrs.get(), graph_.training))) {
      return false;
    }
    const std::optional<AttrsPtr> attrs = RealAttributes(node);
    if (!attrs) return false;
    std::vector<Value> inputs;
    std::vector<TensorType> types;
    for (const Value& input : node.inputs) {
      const Value real = Of(input);
      inputs.push_back(IsWholeValue(real) ? builder_.Cast(real, DType::kF64)
                                          : real);
      types.push_back(inputs.back().type());
    }
    Node* const again =
        graph_.AddOperator(node.op, node.name, *attrs, std::move(inputs));
    again->loc = node.loc;
    TypeInference inference(types, again->types, graph_.training);
    node.op->types(attrs->get(), inference);
    if (inference.error()) return false;
    for (size_t o = 0; o < again->types.size(); ++o) {
      if (!again->types[o].known()) return false;
      const auto index = static_cast<int>(o);
      known_.emplace(node.out(index), again->out(index));
    }
    return true;
  }

  // The node's, with float64 where a type of whole numbers is asked for.
  static std::optional<AttrsPtr> RealAttributes(const Node& node) {
    std::vector<AttrText> texts = node.op->print(node.attrs.get());
    bool changed = false;
    for (auto& [name, text] : texts) {
      if (name != "dtype") continue;
      const auto dtype = DTypeFromMxnetName(text);
      if (!dtype || IsFloat(*dtype)) continue;
      text = MxnetName(DType::kF64);
      changed = true;
    }
    if (!changed) return node.attrs;
    std::vector<AttrError> errors;
    AttrsPtr attrs = node.op->parse(texts, errors);
    if (!errors.empty()) return std::nullopt;
    return attrs;
  }

  Graph& graph_;
  GraphBuilder builder_;
  std::unordered_set<const Node*> depends_;  // looked up only
  std::unordered_map<Value, Value, ValueHash> known_;
};

class WholeNumbers {
 public:
  WholeNumbers(Pullback& pullback, const std::vector<Value>& outputs,
               const std::vector<Node*>& variables,
               const std::vector<bool>& heads, const std::vector<bool>& needed)
      : pullback_(pullback),
        outputs_(outputs),
        variables_(variables),
        heads_(heads) {
    origin_.name = "whole_numbers";
    for (size_t i = 0; i < needed.size(); ++i) {
      if (!needed[i] || variables[i] == nullptr) continue;
      (IsWholeValue(variables[i]->out()) ? whole_ : real_).push_back(i);
    }
  }

  void Run() {
    bool any_whole_head = false;
    for (size_t o = 0; o < heads_.size(); ++o) {
      any_whole_head =
          any_whole_head || (heads_[o] && IsWholeValue(outputs_[o]));
    }
    if (whole_.empty() && !any_whole_head) return;
    std::vector<Node*> inputs;
    for (const auto* numbers : {&whole_, &real_}) {
      for (const size_t i : *numbers) inputs.push_back(variables_[i]);
    }
    std::vector<Node*> nodes = pullback_.graph.TopologicalOrder();
    std::erase_if(nodes,
                  [&](Node* node) { return !pullback_.IsForward({node, 0}); });
    OverReals reals(pullback_.graph, origin_, inputs);
    if (!reals.Add(nodes)) return;
    AddGradients(reals, whole_, [](const Value&) { return true; });
    if (any_whole_head) AddGradients(reals, real_, IsWholeValue);
  }

 private:
  // Of these inputs, from those of the outputs.
  void AddGradients(const OverReals& reals, const std::vector<size_t>& numbers,
                    const std::function<bool(const Value&)>& is_head) {
    if (numbers.empty()) return;
    GraphBuilder builder(pullback_.graph, origin_);
    std::vector<HeadGradient> given;
    for (size_t o = 0; o < heads_.size(); ++o) {
      const Value real = reals.Of(outputs_[o]);
      if (!heads_[o] || !is_head(outputs_[o]) || IsWholeValue(real)) continue;
      given.push_back({real, builder.Cast(Head(o), real.type().dtype)});
    }
    std::vector<Value> wanted;
    for (const size_t i : numbers) {
      wanted.push_back(reals.Of(variables_[i]->out()));
    }
    const auto gradients = GradientsBelow(given, wanted);
    if (!gradients.ok()) return;
    for (size_t n = 0; n < numbers.size(); ++n) {
      const Value arrived = (*gradients)[n];
      if (!arrived) continue;
      const size_t i = numbers[n];
      Value& total = pullback_.gradients[i];
      const DType dtype = variables_[i]->types[0].dtype;
      const Value part = builder.Cast(
          IsFloat(dtype) ? arrived : NearlyWholeAsWhole(arrived, builder),
          dtype);
      total = total ? builder.Add(total, part) : part;
    }
  }

  // A little farther from zero: a power that is whole comes out as 74.99999999999999,
  // too, which would be cut to 74.
  static Value NearlyWholeAsWhole(const Value& real, GraphBuilder& builder) {
    return builder.Add(real, builder.Mul(builder.Sign(real), 0x1p-20));
  }

  // Rules walk over what a graph's outputs depend on: the heads are some for a
  // while.
  Result<std::vector<Value>> GradientsBelow(
      const std::vector<HeadGradient>& heads,
      const std::vector<Value>& wanted) {
    Graph& graph = pullback_.graph;
    const std::vector<Value> outputs = graph.outputs;
    for (const HeadGradient& head : heads) graph.outputs.push_back(head.head);
    auto gradients = Gradients(graph, heads, wanted);
    graph.outputs = outputs;
    return gradients;
  }

  Value Head(size_t output) {
    Value& head = pullback_.heads[output];
    if (!head) {
      head = pullback_.graph.AddVariable(fmt::format("head{}", output))->out();
      head.node->types[0] = outputs_[output].type();
    }
    return head;
  }

  Pullback& pullback_;
  const std::vector<Value>& outputs_;
  const std::vector<Node*>& variables_;
  const std::vector<bool>& heads_;
  Node origin_;
  std::vector<size_t> whole_, real_;  // inputs whose gradients are asked for
};

}  // namespace

void AddWholeNumbers(Pullback& pullback, const std::vector<Value>& outputs,
                     const std::vector<Node*>& variables,
                     const std::vector<bool>& heads,
                     const std::vector<bool>& needed) {
  WholeNumbers(pullback, outputs, variables, heads, needed).Run();
}

}  // namespace mxc
