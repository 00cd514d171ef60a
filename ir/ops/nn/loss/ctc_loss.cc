// SPDX-License-Identifier: Apache-2.0
// CTCLoss: −log of the probability that a sequence spells a label
// (connectionist temporal classification).
//   data           f[T, N, C]   scores; softmax over C is applied
//   label          [N, L]       classes; without label_lengths the first 0
//                               (blank_label first) or −1 (last) ends it
//   data_lengths   [N]          with use_data_lengths
//   label_lengths  [N]          with use_label_lengths
//   out            f[N]
//   grad           f[T, N, C]   hidden, never computed
// The gradient of data is _ctc_gradient; nothing else has one.
// C1  data has 3 axes, label 2, of the same N; lengths have N
// C2  T is at most 4096
// Source: MXNet 1.9.1 operator/nn/ctc_loss-inl.h.
#include "ir/ops/nn/loss/ctc.h"
#include "ir/ops/nn/loss/ctc_step.h"
#include "ir/ops/nn/loss/loss.h"
#include "ir/ops/tensor/shape/stack.h"

namespace mxc {
namespace {

constexpr int64_t kMostCtcSteps = 4096;

std::vector<InputSpec> CtcLossInputs(const CtcAttrs& a) {
  std::vector<InputSpec> inputs = {{"data"}, {"label", InputKind::kLabel}};
  if (a.use_data_lengths) inputs.push_back({"data_lengths"});
  if (a.use_label_lengths) inputs.push_back({"label_lengths"});
  return inputs;
}

void CtcLossTypes(const CtcAttrs&, TypeInference& t) {
  const Shape &data = t.In(0), &label = t.In(1);
  for (int i = 1; i < t.inputs(); ++i) {
    if (t.InDType(i) == DType::kUnknown) t.SetInDType(i, t.InDType(0));
  }
  for (int k = 0; k < 2; ++k) t.SetOutDType(k, t.InDType(0));
  if (!data.known()) return;
  if (!t.Require(data.rank() == 3, "C1: data has {} axes, expected 3",
                 data.rank()) ||
      !t.Require(data[0] <= kMostCtcSteps, "C2: {} steps, at most {}", data[0],
                 kMostCtcSteps)) {
    return;
  }
  if (label.known_rank() &&
      !t.Require(label.rank() == 2 && (!label.known(0) || label[0] == data[1]),
                 "C1: label has shape {}, expected ({}, L)", ToString(label),
                 data[1])) {
    return;
  }
  for (int i = 2; i < t.inputs(); ++i) t.SetIn(i, {data[1]});
  t.SetOut(0, {data[1]});
  t.SetOut(1, data);
}

// The paths through all steps, in one direction.
class CtcPaths {
 public:
  CtcPaths(const CtcAttrs& a, const Node& node, GraphBuilder& b)
      : a_(a), node_(node), b_(b) {
    std::vector<Value> lengths;
    if (a.use_label_lengths) lengths.push_back(node.inputs.back());
    std::vector<Value> inputs = {node.inputs[0], node.inputs[1]};
    inputs.insert(inputs.end(), lengths.begin(), lengths.end());
    emissions_ = b.Cast(b.Op<op::CTCEmissions>(inputs, a), DType::kF32);
    inputs.erase(inputs.begin());
    ends_ = b.Ops<op::CTCEnds>(inputs, a);
  }

  // By step.
  std::vector<Value> All(bool backward) {
    const int64_t steps = node_.inputs[0].shape()[0];
    std::vector<Value> paths(static_cast<size_t>(steps));
    Value carried = ends_[backward ? 1 : 0];
    for (int64_t n = 0; n < steps; ++n) {
      const int64_t step = backward ? steps - 1 - n : n;
      carried = Step(carried, step, backward);
      paths[static_cast<size_t>(step)] = carried;
    }
    return paths;
  }

  Value Cost(Value last) { return b_.Op<op::CTCCost>({last, ends_[1]}); }

 private:
  Value Step(Value carried, int64_t step, bool backward) {
    std::vector<Value> inputs = {carried, emissions_, node_.inputs[1]};
    if (a_.use_data_lengths) inputs.push_back(node_.inputs[2]);
    return b_.Op<op::CTCStep>(
        inputs, {a_, step, backward},
        (backward ? "after" : "before") + std::to_string(step));
  }

  const CtcAttrs& a_;
  const Node& node_;
  GraphBuilder& b_;
  Value emissions_;
  std::vector<Value> ends_;  // first, last
};

std::vector<Value> CtcLossParts(const CtcAttrs& a, const Node& node,
                                GraphBuilder& b) {
  CtcPaths paths(a, node, b);
  return {b.Cast(paths.Cost(paths.All(false).back()), node.types[0].dtype)};
}

std::vector<Value> CtcLossGradient(const CtcAttrs& a, GradientBuilder& g) {
  CtcPaths paths(a, g.origin(), g);
  const std::vector<Value> before = paths.All(false), after = paths.All(true);
  const auto stacked = [&](const std::vector<Value>& steps) {
    return g.Op<op::Stack>(steps, {.axis = 0, .num_args = std::ssize(steps)});
  };
  std::vector<Value> inputs = {g.In(0),        stacked(before),
                               stacked(after), paths.Cost(before.back()),
                               g.Head(),       g.In(1)};
  if (a.use_data_lengths) inputs.push_back(g.In(2));
  std::vector<Value> gradients = g.None();
  gradients[0] = g.Op<op::CTCGradient>(inputs, a, "data");
  return gradients;
}

}  // namespace

MXC_OP(CTCLoss) {
  return Op<CtcAttrs>("CTCLoss")
      .Doc("how unlikely it is that a sequence spells a label")
      .Alias({"ctc_loss", "_contrib_CTCLoss", "_contrib_ctc_loss"})
      .InputsOf(CtcLossInputs)
      .Outputs({"out", "grad"}, 1)
      .Types(CtcLossTypes)
      .FloatsOnly()
      .Decompose(CtcLossParts)
      .Gradient(CtcLossGradient)
      .Loss([](const CtcAttrs&, const Node& node, GraphBuilder& b) {
        return MeanLoss(b, OutputOf(node));
      });
}

}  // namespace mxc
