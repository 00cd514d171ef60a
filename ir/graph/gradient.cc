// SPDX-License-Identifier: Apache-2.0
#include "ir/graph/gradient.h"

#include <map>
#include <unordered_set>
#include <utility>

#include "ir/graph/builder.h"

namespace mxc {
namespace {

class Differentiation {
 public:
  Differentiation(Graph& graph, std::span<const HeadGradient> heads,
                  std::span<const Value> wrt, Value loss_scale)
      : graph_(graph), heads_(heads), wrt_(wrt), loss_scale_(loss_scale) {}

  Result<std::vector<Value>> Run() {
    const size_t before = graph_.nodes().size();
    const std::vector<Node*> order = OrderBelowHeads();
    FindDependents(order);
    for (const HeadGradient& head : heads_) {
      reached_.insert(head.head.node);
      if (head.gradient) Contribute(head.head, head.gradient);
    }
    for (size_t i = order.size(); i-- > 0;) Visit(*order[i]);
    if (!errors_.empty()) {
      errors_.Reverse();
      return std::move(errors_);
    }
    std::vector<Value> gradients;
    for (const Value& value : wrt_) gradients.push_back(Total(value));
    for (size_t i = before; i < graph_.nodes().size(); ++i) {
      graph_.nodes()[i]->backward = true;
    }
    return gradients;
  }

 private:
  using Slot = std::pair<int, int>;  // node id, output index
  static Slot SlotOf(Value value) { return {value.node->id(), value.index}; }

  // MXNet's order, of what the heads depend on.
  std::vector<Node*> OrderBelowHeads() const {
    std::vector<Node*> order;
    std::unordered_set<const Node*> below;
    std::vector<Node*> pending;
    for (const HeadGradient& head : heads_) pending.push_back(head.head.node);
    while (!pending.empty()) {
      Node* node = pending.back();
      pending.pop_back();
      if (!below.insert(node).second) continue;
      for (const Value& input : node->inputs) pending.push_back(input.node);
    }
    for (Node* node : graph_.TopologicalOrder()) {
      if (below.contains(node)) order.push_back(node);
    }
    return order;
  }

  // Of these nodes those whose gradient is wanted or needed on the way.
  void FindDependents(const std::vector<Node*>& order) {
    for (const Value& value : wrt_) depends_.insert(value.node);
    for (const Node* node : order) {
      for (const Value& input : node->inputs) {
        if (depends_.contains(input.node)) depends_.insert(node);
      }
    }
  }

  void Contribute(Value to, Value gradient) {
    MXC_CHECK(gradient.type() == to.type(),
              "the gradient of '{}' has type {}, expected {}", to.node->name,
              ToString(gradient.type()), ToString(to.type()));
    contributions_[SlotOf(to)].push_back(gradient);
  }

  // The sum of what arrived for a value; empty if nothing did.
  Value Total(Value value) {
    const auto found = contributions_.find(SlotOf(value));
    if (found == contributions_.end()) return {};
    std::vector<Value>& parts = found->second;
    parts = {SumOfGradients(graph_, *value.node, parts)};
    return parts[0];
  }

  void Visit(Node& node) {
    if (!reached_.contains(&node) || !depends_.contains(&node)) return;
    for (const Value& input : node.inputs) reached_.insert(input.node);
    if (node.kind == Node::Kind::kVariable ||
        node.kind == Node::Kind::kConstant) {
      return;
    }
    std::vector<Value> heads;
    bool any = false;
    for (size_t i = 0; i < node.types.size(); ++i) {
      heads.push_back(Total(node.out(static_cast<int>(i))));
      any = any || heads.back();
    }
    if (!any && !node.IsLossHead()) return;
    if (node.op && !node.op->gradient && node.op->decompose) {
      return VisitParts(node, heads);
    }
    if (node.op == nullptr || !node.op->gradient) {
      errors_.push_back(
          Error(node.loc, "{} '{}' has no gradient", node.op_name, node.name));
      return;
    }
    Propagate(node, std::move(heads));
  }

  // An operator that is nothing but others: the gradient of these. What they
  // compute again is merged with the operator's own parts later.
  void VisitParts(Node& node, const std::vector<Value>& heads) {
    const size_t before = graph_.nodes().size();
    GraphBuilder builder(graph_, node);
    const std::vector<Value> outputs =
        node.op->decompose(node.attrs.get(), node, builder);
    std::vector<Node*> parts;
    for (size_t i = before; i < graph_.nodes().size(); ++i) {
      parts.push_back(graph_.nodes()[i].get());
    }
    FindDependents(parts);
    for (size_t i = 0; i < outputs.size(); ++i) {
      reached_.insert(outputs[i].node);
      if (heads[i]) Contribute(outputs[i], heads[i]);
    }
    for (size_t i = parts.size(); i-- > 0;) Visit(*parts[i]);
  }

  void Propagate(Node& node, std::vector<Value> heads) {
    std::vector<bool> needed;
    for (const Value& input : node.inputs) {
      needed.push_back(depends_.contains(input.node));
    }
    GradientBuilder builder(graph_, node, std::move(heads), needed);
    const std::vector<Value> gradients =
        node.op->gradient(node.attrs.get(), builder);
    MXC_CHECK(gradients.size() == node.inputs.size(), "operator '{}'",
              node.op->name);
    for (size_t i = 0; i < gradients.size(); ++i) {
      if (!gradients[i] || !needed[i]) continue;
      const bool scaled = loss_scale_ && node.IsLossHead();
      Contribute(node.inputs[i],
                 scaled ? Scaled(builder, gradients[i]) : gradients[i]);
    }
  }

  Value Scaled(GraphBuilder& builder, Value gradient) const {
    const DType dtype = gradient.type().dtype;
    return IsFloat(dtype)
               ? builder.Mul(gradient, builder.Cast(loss_scale_, dtype))
               : gradient;
  }

  Graph& graph_;
  std::span<const HeadGradient> heads_;
  std::span<const Value> wrt_;
  const Value loss_scale_;
  std::unordered_set<const Node*> depends_, reached_;  // looked up only
  std::map<Slot, std::vector<Value>> contributions_;
  Diagnostics errors_;
};

}  // namespace

Result<std::vector<Value>> Gradients(Graph& graph,
                                     std::span<const HeadGradient> heads,
                                     std::span<const Value> wrt,
                                     Value loss_scale) {
  return Differentiation(graph, heads, wrt, loss_scale).Run();
}

// Of a weight that thousands of nodes share, in turns.
Value SumOfGradients(Graph& graph, const Node& origin,
                     const std::vector<Value>& parts) {
  constexpr size_t kMostTerms = 1024;
  GraphBuilder builder(graph, origin);
  const auto sum = [&](const std::vector<Value>& terms) {
    if (terms.size() == 1) return terms[0];
    return builder.AddAll(terms, std::string(kGradientPrefix) + "sum");
  };
  std::vector<Value> terms;
  for (const Value& part : parts) {
    if (terms.size() == kMostTerms) terms = {sum(terms)};
    terms.push_back(part);
  }
  return sum(terms);
}

}  // namespace mxc
