// SPDX-License-Identifier: Apache-2.0
// The gradient of a scan is a scan from the last turn to the first. A turn
// computes the forward one again, of what that was handed, and goes back through
// its nodes; what all turns saw gets the sum of their gradients. Where the
// forward scan ended early, it begins there.
#include <map>
#include <utility>

#include "ir/graph/gradient.h"
#include "ir/graph/inner_graph.h"
#include "ir/ops/tensor/control/scan.h"

namespace mxc {
namespace {

class BackwardScan {
 public:
  BackwardScan(const ScanForm& form, GradientBuilder& g)
      : form_(form),
        g_(g),
        slices_(form.slices),
        carried_(form.carried),
        scan_(g, form.turns, !form.reversed) {
    MXC_CHECK(form.histories() == form.carried, "'{}'", g.origin().name);
    if (form.conditional) scan_.Count(g.Out(1));
  }

  std::vector<Value> Run() {
    TakeInputs();
    const std::vector<Value> outputs = CopyBody();
    const std::vector<Value> gradients = Back(outputs);
    for (int k = 0; k < carried_; ++k) {
      if (!carries_[k]) continue;
      const Value next = gradients[slices_ + k];
      scan_.Next(carries_[k],
                 next ? next : scan_.inside().Zeros(carries_[k].type()));
    }
    return Collect(gradients);
  }

 private:
  // The part of a history, [turns + 1, dims…], that the turns were handed, or
  // that they handed on.
  Value Part(Value all, bool handed_on) {
    const int64_t begin = handed_on != form_.reversed ? 1 : 0;
    return g_.SliceAxis(all, 0, begin, begin + form_.turns);
  }
  Value First(Value all) {
    const int64_t at = form_.reversed ? form_.turns : 0;
    const Extents& dims = all.shape().dims();
    return g_.Reshape(g_.SliceAxis(all, 0, at, at + 1),
                      Extents(dims.begin() + 1, dims.end()));
  }

  void TakeInputs() {
    for (int i = 0; i < g_.inputs(); ++i) {
      if (i < slices_) {
        inputs_.push_back(scan_.Slice(g_.In(i)));
      } else if (i < slices_ + carried_) {
        const Value history = g_.Out(form_.history(i - slices_));
        inputs_.push_back(scan_.Slice(Part(history, /*handed_on=*/false)));
      } else {
        inputs_.push_back(scan_.Whole(g_.In(i)));
      }
    }
  }

  std::vector<Value> CopyBody() {
    std::vector<Value> taken;
    for (int i = 0; i < g_.inputs(); ++i) taken.push_back(g_.In(i));
    Result<Graph> body = TurnOf(form_, taken);
    const Status typed = InferTypes(*body, true);
    MXC_CHECK(typed.ok(), "{}", typed.errors()[0].message);
    std::map<const Node*, Node*> copies;
    std::map<const Node*, Value> given;
    for (int i = 0; i < g_.inputs(); ++i) {
      given[body->FindVariable(InnerVariable(i))] = inputs_[i];
    }
    const auto copied = [&](const Value& value) {
      const auto found = given.find(value.node);
      return found != given.end() ? found->second
                                  : Value{copies.at(value.node), value.index};
    };
    Graph& turn = scan_.graph();
    for (const Node* from : body->TopologicalOrder()) {
      if (from->kind == Node::Kind::kVariable) continue;
      std::vector<Value> inputs;
      for (const Value& input : from->inputs) inputs.push_back(copied(input));
      Node* node = from->kind == Node::Kind::kConstant
                       ? turn.AddConstant(from->name, from->constant)
                       : turn.AddOperator(from->op, from->name, from->attrs,
                                          std::move(inputs));
      node->op_name = from->op_name;
      node->types = from->types;
      copies[from] = node;
    }
    std::vector<Value> outputs;
    for (const Value& output : body->outputs) outputs.push_back(copied(output));
    return outputs;
  }

  // The gradients that arrive at the outputs of a turn.
  std::vector<HeadGradient> Heads(const std::vector<Value>& outputs) {
    carries_.resize(static_cast<size_t>(carried_));
    std::vector<HeadGradient> heads;
    for (int k = 0; k < static_cast<int>(outputs.size()); ++k) {
      const bool condition = form_.conditional && k == 0;
      if (condition || !IsFloat(outputs[k].type().dtype)) continue;
      if (k >= carried_) {
        if (g_.HasHead(k))
          heads.push_back({outputs[k], scan_.Slice(g_.Head(k))});
        continue;
      }
      Value gradient = carries_[k] = scan_.Carry(g_.Head(k));
      if (g_.HasHead(form_.history(k))) {
        const Value head = Part(g_.Head(form_.history(k)), /*handed_on=*/true);
        gradient = scan_.inside().Add(gradient, scan_.Slice(head));
      }
      heads.push_back({outputs[k], gradient});
    }
    return heads;
  }

  // The gradients of inputs_, within a turn.
  std::vector<Value> Back(const std::vector<Value>& outputs) {
    const std::vector<HeadGradient> heads = Heads(outputs);
    // What is below them has an order.
    scan_.graph().outputs = outputs;
    Result<std::vector<Value>> gradients =
        Gradients(scan_.graph(), heads, inputs_);
    MXC_CHECK(gradients.ok(), "{}", gradients.errors()[0].message);
    scan_.graph().outputs.clear();
    return *std::move(gradients);
  }

  // The gradients of whole inputs are added, turn by turn.
  std::vector<Value> Collect(const std::vector<Value>& gradients) {
    std::vector<std::pair<int, size_t>> sums, stacks;  // input, place
    size_t carries = 0;
    for (const Value& carry : carries_) carries += carry ? 1 : 0;
    for (int i = slices_ + carried_; i < g_.inputs(); ++i) {
      if (!gradients[i] || !g_.Needs(i)) continue;
      const Value sum = scan_.Carry(g_.Zeros(g_.In(i).type()));
      scan_.Next(sum, scan_.inside().Add(sum, gradients[i]));
      sums.emplace_back(i, carries++);
    }
    for (int i = 0; i < slices_; ++i) {
      if (!gradients[i] || !g_.Needs(i)) continue;
      stacks.emplace_back(i, scan_.Stack(gradients[i]));
    }
    const ScanBuilder::Outputs all = scan_.Finish("steps");
    std::vector<Value> result = g_.None();
    for (const auto& [input, k] : sums) result[input] = all.last[k];
    for (const auto& [input, k] : stacks) result[input] = all.stacks[k];
    size_t carry = 0;
    for (int k = 0; k < carried_; ++k) {
      if (!carries_[k]) continue;
      Value& gradient = result[slices_ + k] = all.last[carry++];
      const int history = form_.history(k);
      if (g_.HasHead(history)) {
        gradient = g_.Add(gradient, First(g_.Head(history)));
      }
    }
    return result;
  }

  const ScanForm& form_;
  GradientBuilder& g_;
  const int slices_, carried_;
  ScanBuilder scan_;
  std::vector<Value> inputs_;   // as a turn sees them
  std::vector<Value> carries_;  // by carry; empty where it is no float
};

}  // namespace

std::vector<Value> ScanGradient(const ScanForm& form, GradientBuilder& g) {
  return BackwardScan(form, g).Run();
}

}  // namespace mxc
