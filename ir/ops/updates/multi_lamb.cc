// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/updates/multi_lamb.h"

#include "ir/ops/updates/multi_sum_sq.h"

namespace mxc {
namespace {

// One weight of a node, and what becomes of it.
struct LambWeight {
  Value weight, gradient, mean, square;
  Value computed;  // the weight, or its copy
};

struct LambNext {
  Value weight, mean, square;  // the weight as `computed`
};

Value NormOf(GraphBuilder& b, Value x, DType dtype) {
  const Value square = b.Op<op::MultiSumSq>({x}, {.num_arrays = 1});
  return b.Cast(b.Sqrt(square), dtype);
}

// Both phases, by turns: lans takes two steps from one weight.
class LambParts {
 public:
  LambParts(GraphBuilder& b, const LambWeight& w)
      : b_(b),
        w_(w),
        dtype_(w.computed.type().dtype),
        norm_(NormOf(b, w.weight, dtype_)) {}

  std::vector<Value> PhaseOne(const LambUpdateAttrs& a, Value gradient) {
    return b_.Ops<op::LambUpdatePhase1>(
        {w_.computed, gradient, w_.mean, w_.square}, a);
  }
  Value PhaseTwo(const LambPhaseTwoAttrs& a, Value from, Value step) {
    return b_.Op<op::LambUpdatePhase2>(
        {from, step, norm_, NormOf(b_, step, dtype_)}, a);
  }
  Value Gradient() { return b_.Cast(w_.gradient, dtype_); }
  Value OverItsNorm(Value gradient) {
    return b_.Div(gradient, b_.Reshape(NormOf(b_, gradient, dtype_), Shape{1}));
  }

 private:
  GraphBuilder& b_;
  const LambWeight& w_;
  const DType dtype_;
  const Value norm_;
};

LambNext NextByLamb(const MultiLambAttrs& a, int i, const LambWeight& w,
                    GraphBuilder& b) {
  LambParts parts(b, w);
  const std::vector<Value> step =
      parts.PhaseOne(a.PhaseOne(i), parts.Gradient());
  return {parts.PhaseTwo(a.PhaseTwo(i), w.computed, step[0]), step[1], step[2]};
}

LambNext NextByLans(const MultiLansAttrs& a, int i, const LambWeight& w,
                    GraphBuilder& b) {
  LambParts parts(b, w);
  LambUpdateAttrs first = a.PhaseOne(i);
  const Value gradient = parts.OverItsNorm(
      b.Mul(parts.Gradient(), std::exchange(first.rescale_grad, 1)));
  const std::vector<Value> step = parts.PhaseOne(first, gradient);
  LambPhaseTwoAttrs second = a.PhaseTwo(i);
  const double rate = second.lr;
  second.lr = rate * first.beta1;
  const Value by_mean = parts.PhaseTwo(second, w.computed, step[0]);
  second.lr = rate * (1 - first.beta1);
  first.beta1 = 0;
  const Value by_gradient =
      parts.PhaseTwo(second, by_mean, parts.PhaseOne(first, gradient)[0]);
  return {by_gradient, step[1], step[2]};
}

// `next`: LambNext(const A&, int i, const LambWeight&, GraphBuilder&)
template <class A, class F>
std::vector<Value> EachWeight(const A& a, const Node& node, bool copied, F next,
                              GraphBuilder& b) {
  const size_t stride = copied ? 5 : 4;
  std::vector<Value> weights, states;
  for (int i = 0; i < static_cast<int>(a.weights()); ++i) {
    const Value* in = &node.inputs[static_cast<size_t>(i) * stride];
    b.BeginPart(fmt::format("weight{}", i));
    const DType dtype = in[0].type().dtype;
    const bool mixed = copied && dtype != DType::kF32;  // see update.h
    const LambWeight weight{in[0], in[1], in[2], in[3], mixed ? in[4] : in[0]};
    const LambNext found = next(a, i, weight, b);
    weights.push_back(b.Cast(found.weight, dtype));
    states.insert(states.end(), {found.mean, found.square});
    if (copied) states.push_back(mixed ? found.weight : in[4]);
  }
  b.BeginPart("");
  weights.insert(weights.end(), states.begin(), states.end());
  return weights;
}

std::optional<std::string> CheckLists(const MultiLansAttrs& a) {
  return CheckLengths({{"learning_rates", a.learning_rates.size()},
                       {"wds", a.wds.size()},
                       {"step_count", a.step_count.size()}},
                      a.num_tensors);
}

template <class A, class F>
Op<A> LambOperator(std::string name, WeightCopy copy, F next) {
  return SeveralUpdates<A>(std::move(name), {{"mean", "var"}, copy})
      .Check(CheckLists)
      .Decompose([copy, next](const A& a, const Node& node, GraphBuilder& b) {
        return EachWeight(a, node, copy != WeightCopy::kNone, next, b);
      });
}

}  // namespace

LambUpdateAttrs MultiLansAttrs::PhaseOne(int i) const {
  LambUpdateAttrs one = each;
  one.wd = wds[static_cast<size_t>(i)];
  one.t = step_count[static_cast<size_t>(i)];
  return one;
}

LambPhaseTwoAttrs MultiLansAttrs::PhaseTwo(int i) const {
  LambPhaseTwoAttrs one = bounds;
  one.lr = learning_rates[static_cast<size_t>(i)];
  return one;
}

Op<MultiLambAttrs> MultiLambOperator(std::string name, WeightCopy copy) {
  return LambOperator<MultiLambAttrs>(std::move(name), copy, NextByLamb);
}

Op<MultiLansAttrs> MultiLansOperator(std::string name, WeightCopy copy) {
  return LambOperator<MultiLansAttrs>(std::move(name), copy, NextByLans);
}

MXC_OP(MultiLambUpdate) {
  return MultiLambOperator("_multi_lamb_update", WeightCopy::kNone)
      .Doc("both phases of lamb for several weights");
}

MXC_OP(MultiMpLambUpdate) {
  return MultiLambOperator("_multi_mp_lamb_update", WeightCopy::kState)
      .Doc("_multi_lamb_update of weights with copies in f32");
}

MXC_OP(MultiLansUpdate) {
  return MultiLansOperator("_multi_lans_update", WeightCopy::kNone)
      .Doc("the step of lans for several weights");
}

MXC_OP(MultiMpLansUpdate) {
  return MultiLansOperator("_multi_mp_lans_update", WeightCopy::kState)
      .Doc("_multi_lans_update of weights with copies in f32");
}

}  // namespace mxc
