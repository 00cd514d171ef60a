// SPDX-License-Identifier: Apache-2.0
// _choose: the first half of the tensors if the condition, one number, is not
// 0, else the second half; our own operator, what `_cond` becomes. The pass
// form-branches makes it compute only what is chosen.
//   condition             t[one element]
//   then0 …, else0 …      t[d1 …], thenK and elseK of one type
// C1  condition has one element
// C2  as many tensors on both sides
#include "ir/ops/tensor/indexing/choose.h"

#include <string>

#include "ir/ops/op.h"
#include "ir/ops/tensor/elementwise/arithmetic.h"

namespace mxc {
namespace {

std::optional<std::string> CheckChoose(const ChooseAttrs& a) {
  if (a.num_args >= 3 && a.num_args % 2 == 1) return std::nullopt;
  return "C2: num_args is no odd number of at least 3";
}

std::vector<InputSpec> ChooseInputs(const ChooseAttrs& a) {
  std::vector<InputSpec> inputs = {{"condition"}};
  for (const char* side : {"then", "else"}) {
    for (int i = 0; i < a.sides(); ++i) {
      inputs.push_back({side + std::to_string(i)});
    }
  }
  return inputs;
}

std::vector<std::string> ChooseOutputs(const ChooseAttrs& a) {
  std::vector<std::string> names;
  for (int i = 0; i < a.sides(); ++i) {
    names.push_back("output" + std::to_string(i));
  }
  return names;
}

void ChooseTypes(const ChooseAttrs& a, TypeInference& t) {
  if (!t.Require(t.inputs() == a.num_args, "{} inputs, expected {}", t.inputs(),
                 a.num_args)) {
    return;
  }
  for (int i = 0; i < a.sides(); ++i) {
    for (const int input : {1 + i, 1 + a.sides() + i}) {
      t.SetOutDType(i, t.InDType(input));
      t.SetOut(i, t.In(input));
    }
    for (const int input : {1 + i, 1 + a.sides() + i}) {
      t.SetInDType(input, t.OutDType(i));
      t.SetIn(input, t.Out(i));
    }
  }
  t.Require(!t.In(0).known() || t.In(0).elements() == 1,
            "C1: condition has shape {}, expected one element",
            ToString(t.In(0)));
}

void ChooseMeaning(const ChooseAttrs& a, Definition& def) {
  const std::vector<Expr> first(def.InShape(0).rank(), Expr(0));
  const Expr condition = IsTrue(def.In(0, first));
  for (int i = 0; i < a.sides(); ++i) {
    const std::vector<Expr> index = def.Indices(i);
    def.Set(i, Select(condition, def.In(1 + i, index),
                      def.In(1 + a.sides() + i, index)));
  }
}

std::vector<Value> ChooseGradient(const ChooseAttrs& a, GradientBuilder& g) {
  std::vector<Value> gradients = g.None();
  for (int i = 0; i < a.sides(); ++i) {
    if (!g.HasHead(i)) continue;
    const Value head = g.Head(i), zeros = g.Zeros(head.type());
    const int then = 1 + i, otherwise = 1 + a.sides() + i;
    if (g.Needs(then)) {
      gradients[then] = g.Op<op::Select>({g.In(0), head, zeros});
    }
    if (g.Needs(otherwise)) {
      gradients[otherwise] = g.Op<op::Select>({g.In(0), zeros, head});
    }
  }
  return gradients;
}

}  // namespace

MXC_OP(Choose) {
  return Op<ChooseAttrs>("_choose")
      .Internal()
      .Doc("one of two lists of tensors, by a number")
      .InputsOf(ChooseInputs)
      .OutputsOf(ChooseOutputs)
      .Variadic()
      .Check(CheckChoose)
      .Types(ChooseTypes)
      .Meaning(ChooseMeaning)
      .Gradient(ChooseGradient);
}

}  // namespace mxc
