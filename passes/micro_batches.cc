// SPDX-License-Identifier: Apache-2.0
// micro-batches: a batch passes through the network in parts, one after the
// other, whose gradients are added up before anything is updated (Huang et al.,
// GPipe, 2019, of one stage). What is kept for the backward pass is then kept of
// a part at a time.
//
//   x ─► network ─► y, gradient of w          for x of a part
//   ⇒  x[part 0] ─► network ─► y0, g0         for x of the whole batch
//      x[part 1] ─► network ─► y1, g1
//      y = y0, y1 … joined      gradient of w = (g0 + g1) + …
//
// A gradient that is one product over rows, gᵀ·x, is one product over the rows of
// all parts where these are fewer numbers than the weight has: neither is the
// weight's gradient read and written again for each part, nor is it there from
// the first one on.
//
//   gradient of w = (g0, g1 … joined)ᵀ · (x0, x1 … joined)
//
// A state goes from part to part; of the loss the mean is taken. Each part draws
// random numbers of its own: they follow from the names of nodes.
#include <fmt/format.h>

#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/graph/builder.h"
#include "ir/graph/copy.h"
#include "ir/ops/operators.h"
#include "ir/ops/tensor/linalg/dot.h"
#include "passes/passes.h"

namespace mxc {
namespace {

// The graph is that of one part; its declared inputs become those of `count`.
class Parts {
 public:
  Parts(Graph& graph, int count)
      : graph_(graph), count_(count), part_(graph.TopologicalOrder()) {}

  Status Run() {
    MXC_RETURN_IF_ERROR(RequireParts());
    for (Node* node : part_) {
      if (!node->is_declared_input()) continue;
      TensorType& type = node->types[0];
      rows_[node] = type.shape[0];
      Extents whole = type.shape.dims();
      whole[0] *= count_;
      type.shape = Shape(whole);
    }
    const std::vector<Value> outputs = graph_.outputs;
    const std::vector<Update> updates = graph_.updates;
    std::vector<std::vector<Value>> parts_of_outputs(outputs.size());
    std::vector<Value> next(updates.size());
    std::vector<std::vector<Value>> products(updates.size());  // of the parts
    for (int part = 0; part < count_; ++part) {
      ValueCopier copier(graph_, [&](Value from) { return At(from, part); });
      for (size_t i = 0; i < outputs.size(); ++i) {
        parts_of_outputs[i].push_back(copier.Copy(outputs[i]));
      }
      for (size_t i = 0; i < updates.size(); ++i) {
        const Value value = copier.Copy(updates[i].next);
        if (!IsGradient(updates[i])) {
          next[i] = value;
        } else if (IsProductOfFewRows(value)) {
          products[i].push_back(value);
        } else {
          next[i] = Sum(next[i], value);
        }
      }
      Name(part);
      for (size_t i = 0; i < updates.size(); ++i) {
        if (!IsGradient(updates[i])) now_[updates[i].variable] = next[i];
      }
    }
    for (size_t i = 0; i < updates.size(); ++i) {
      if (!products[i].empty()) next[i] = ProductOfAllRows(products[i]);
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      graph_.outputs[i] = Whole(graph_.OutputUse(i).role, parts_of_outputs[i]);
    }
    for (size_t i = 0; i < updates.size(); ++i) {
      graph_.updates[i].next = next[i];
    }
    graph_.RemoveDeadNodes();
    return Done{};
  }

 private:
  Status RequireParts() const {
    Diagnostics errors;
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const Value& output = graph_.outputs[i];
      const TensorRole role = graph_.OutputUse(i).role;
      if (role == TensorRole::kRows || role == TensorRole::kCount) {
        errors.push_back(Error(output.node->loc,
                               "'{}' has rows whose number data decide, which "
                               "--micro-batches cannot join",
                               output.node->name));
      } else if (role == TensorRole::kOther && output.shape().rank() == 0) {
        errors.push_back(Error(output.node->loc,
                               "output '{}' is one number for a whole batch, "
                               "and --micro-batches {} makes {} of it",
                               output.node->name, count_, count_));
      }
    }
    if (!errors.empty()) return errors;
    return Done{};
  }

  bool IsGradient(const Update& update) const {
    return update.variable->role == VariableRole::kParameter;
  }

  // What stands for a value in that part; empty: a copy.
  Value At(Value from, int part) {
    if (from.node->kind == Node::Kind::kConstant) return from;
    if (from.node->kind != Node::Kind::kVariable) return {};
    if (const auto state = now_.find(from.node); state != now_.end()) {
      return state->second;
    }
    const auto rows = rows_.find(from.node);
    if (rows == rows_.end()) return from;
    GraphBuilder builder(graph_, *from.node);
    return builder.SliceAxis(from, 0, rows->second * part,
                             rows->second * (part + 1), "part");
  }

  Value Sum(Value sum, Value gradient) {
    if (!sum) return gradient;
    return GraphBuilder(graph_, *gradient.node)
        .Op<op::ElemwiseAdd>({sum, gradient}, "sum");
  }

  // Returns whether the value is aᵀ·b, a sum over rows of a and b, of which all
  // parts together have no more elements than it has.
  bool IsProductOfFewRows(Value value) const {
    if (!value.node->Is("dot")) return false;
    const auto& attrs = value.node->As<DotAttrs>();
    const Shape& a = value.node->inputs[0].shape();
    const Shape& b = value.node->inputs[1].shape();
    return attrs.transpose_a && !attrs.transpose_b && a.rank() == 2 &&
           b.rank() == 2 &&
           count_ * (a.elements() + b.elements()) <= value.shape().elements();
  }

  Value ProductOfAllRows(const std::vector<Value>& products) {
    GraphBuilder builder(graph_, *products[0].node);
    const auto joined = [&](size_t operand) {
      std::vector<Value> parts;
      for (const Value& product : products) {
        parts.push_back(product.node->inputs[operand]);
      }
      return OfAll(builder.Concat(parts, 0, fmt::format("rows{}", operand)));
    };
    const Value a = joined(0), b = joined(1);
    return OfAll(builder.Op<op::Dot>({a, b}, {.transpose_a = true}));
  }

  static Value OfAll(Value value) {
    value.node->part = -1;
    return value;
  }

  // What was copied since the last call is that of this part.
  void Name(int part) {
    for (; named_ < graph_.nodes().size(); ++named_) {
      Node& node = *graph_.nodes()[named_];
      if (node.origins.empty()) node.origins = {node.name};
      node.part = part;
      if (part > 0) node.name += fmt::format("/micro{}", part);
    }
  }

  Value Whole(TensorRole role, const std::vector<Value>& parts) {
    GraphBuilder builder(graph_, *parts[0].node);
    if (role == TensorRole::kOther) {
      return parts.size() == 1 ? parts[0]
                               : OfAll(builder.Concat(parts, 0, "batch"));
    }
    if (IsProductOfFewRows(parts[0])) return ProductOfAllRows(parts);
    Value sum = parts[0];
    for (size_t i = 1; i < parts.size(); ++i) {
      sum = OfAll(Sum(sum, parts[i]));
    }
    if (role != TensorRole::kLoss) return sum;
    return OfAll(builder.Mul(sum, 1.0 / static_cast<double>(count_)));
  }

  Graph& graph_;
  const int count_;
  const std::vector<Node*> part_;
  std::unordered_map<const Node*, int64_t> rows_;  // of a part of an input
  std::unordered_map<const Node*, Value> now_;     // of a state, so far
  size_t named_ = graph_.nodes().size();
};

}  // namespace

Result<bool> MicroBatches(Graph& graph, PassContext& context) {
  if (context.training == nullptr || context.training->micro_batches == 1) {
    return false;
  }
  MXC_RETURN_IF_ERROR(Parts(graph, context.training->micro_batches).Run());
  return true;
}

}  // namespace mxc
