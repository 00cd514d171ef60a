// SPDX-License-Identifier: Apache-2.0
// _npi_choice: numbers below a drawn, or indices of input1, with the
// probabilities of the last input or all alike; with or without replacement.
//   input1  [a]: its extent counts, if a is None
//   p       f[a], with weighted
//   output  i64[size]
// C1  a, or the elements of an input of one axis, and those that are drawn are
//     from 1, and fewer than 2^32
// C2  without replacement no more are drawn than there are
// C3  p has one probability for each
// Without replacement, weighted: those of the greatest log p − log(−log u), u
// uniform (Gumbel), so each has its chance among what is left.
// Source: MXNet 1.9.1 operator/numpy/random/np_choice_op.h.
#include "ir/ops/numpy/np_composition.h"
#include "ir/ops/numpy/random/np_random.h"
#include "ir/ops/tensor/random/random_randint.h"
#include "ir/ops/tensor/random/sample_multinomial.h"
#include "ir/ops/tensor/sort/topk.h"

namespace mxc {
namespace {

constexpr int64_t kMostDrawn = int64_t{1} << 32;

struct NpiChoiceAttrs {
  std::optional<int64_t> a;
  std::optional<Extents> size;
  std::string ctx;
  bool replace = true, weighted = false;

  void Describe(Fields& f) {
    f("a", a).Required().Min(1).Doc("how many there are; None: an input");
    f("size", size).Required().Min(1).Doc("extents; None: one number");
    f("ctx", ctx).Doc("device").Hint();
    f("replace", replace).Doc("whether one is drawn more than once");
    f("weighted", weighted).Doc("whether the last input has probabilities");
  }
};

std::vector<InputSpec> ChoiceInputs(const NpiChoiceAttrs& a) {
  std::vector<InputSpec> inputs;
  if (!a.a) inputs.push_back({"input1"});
  if (a.weighted) inputs.push_back({a.a ? "input1" : "input2"});
  return inputs;
}

void ChoiceOfTypes(const NpiChoiceAttrs& a, TypeInference& t) {
  t.SetOutDType(0, DType::kI64);
  const Shape drawn = Shape(a.size.value_or(Extents()));
  t.SetOut(0, drawn);
  for (int i = 0; i < t.inputs(); ++i) {
    if (!t.In(i).known()) return;
  }
  const int64_t count = a.a ? *a.a : t.In(0).elements();
  if (!a.a && !t.Require(t.In(0).rank() == 1,
                         "C1: input1 has shape {}, expected one "
                         "axis",
                         ToString(t.In(0)))) {
    return;
  }
  if (!t.Require(count < kMostDrawn && drawn.elements() < kMostDrawn,
                 "C1: {} of {} are drawn, expected fewer than 2^32",
                 drawn.elements(), count)) {
    return;
  }
  const Shape& p = a.weighted ? t.In(t.inputs() - 1) : Shape{count};
  if (!t.Require(p == Shape{count}, "C3: p has shape {}, expected ({},)",
                 ToString(p), count)) {
    return;
  }
  t.Require(a.replace || drawn.elements() <= count,
            "C2: {} of {} are drawn without replacement", drawn.elements(),
            count);
}

// The `drawn` first of the numbers below `count`, in the order of keys.
Value FirstByKey(GraphBuilder& b, Value keys, int64_t drawn) {
  return b.Op<op::Topk>({keys}, {.axis = 0, .k = drawn, .dtype = DType::kI64});
}

Value DrawnChoice(const NpiChoiceAttrs& a, GraphBuilder& b, Value p,
                  int64_t count, int64_t drawn) {
  if (!a.replace) {
    Value keys = b.Uniform(Shape{count});
    if (a.weighted) {
      // −log(−log u) as −log of an exponential number.
      keys = b.Sub(b.Log(p), b.Log(StandardExponential(b, Shape{count})));
    }
    return FirstByKey(b, keys, drawn);
  }
  if (!a.weighted) {
    return b.Cast(
        b.Op<op::RandomRandint>(
            {},
            {.low = 0, .high = count, .shape = {drawn}, .dtype = DType::kI64}),
        DType::kI64);
  }
  return b.Op<op::SampleMultinomial>({p},
                                     {.shape = {drawn}, .dtype = DType::kI64});
}

std::vector<Value> ChoiceParts(const NpiChoiceAttrs& a, const Node& node,
                               GraphBuilder& b) {
  const int64_t count = a.a ? *a.a : node.inputs[0].shape().elements();
  const Value p =
      a.weighted ? b.Cast(node.inputs.back(), DType::kF32) : Value();
  const Shape& shape = node.types[0].shape;
  return {b.Reshape(DrawnChoice(a, b, p, count, shape.elements()), shape)};
}

}  // namespace

MXC_OP(NpiChoice) {
  return Op<NpiChoiceAttrs>("_npi_choice")
      .Doc("numbers drawn from a list")
      .InputsOf(ChoiceInputs)
      .RandomIf([](const auto&, bool) { return true; })
      .Types(ChoiceOfTypes)
      .Decompose(ChoiceParts)
      .ZeroGradient();
}

}  // namespace mxc
