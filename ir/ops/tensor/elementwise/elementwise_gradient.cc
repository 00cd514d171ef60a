// SPDX-License-Identifier: Apache-2.0
// _elementwise_gradient: the gradient of one input of an operator whose meaning
// reads each input at the output's index or broadcast along it.
//   head        f[d1 …]   the gradient of that operator's output
//   inputs …    as that operator's; its output instead where its slope follows
//               from that
//   gradient    of the type of its input number `input`:
//               Σ head · ∂output/∂input over the axes that it is broadcast
//               along
// Its own gradients follow from its meaning, which is elementwise where nothing
// is broadcast.
// C1  `of` is an operator with a gradient, `attrs` its attributes ("name=text"
//     in lines), and there are as many inputs
// C2  it has such an output for such inputs
// C3  it reads inputs as said above; rules see to that (GradientBuilder)

#include "ir/ops/differentiated.h"
#include "ir/ops/nn/meaning_gradient.h"
#include "ir/ops/tensor/elementwise/unary.h"
#include "ir/program/derivative.h"
#include "ir/program/steps/map.h"

namespace mxc {
namespace {

// Inputs besides the head.
size_t CountElementwiseInputs(const Differentiated& of) {
  return of.op->slope_of_output ? 1 : of.op->inputs(of.attrs.get()).size();
}

std::optional<std::string> CheckElementwiseGradient(const GradientOfAttrs& a) {
  const Differentiated of(a);
  if (of.attrs && of.op->gradient &&
      of.op->outputs(of.attrs.get()).size() == 1 &&
      a.num_args == static_cast<int64_t>(CountElementwiseInputs(of)) + 1 &&
      a.input + 1 < a.num_args) {
    return std::nullopt;
  }
  return fmt::format(
      "C1: input {} of '{}', which is no differentiable operator of {} "
      "inputs with such attributes",
      a.input, a.of, a.num_args - 1);
}

void ElementwiseGradientTypes(const GradientOfAttrs& a, TypeInference& t) {
  const Differentiated of(a);
  std::vector<TensorType> inputs, outputs = {{t.InDType(0), t.In(0)}};
  for (int i = 1; i < t.inputs(); ++i) {
    inputs.push_back({t.InDType(i), t.In(i)});
  }
  TypeInference forward(inputs, outputs, t.training());
  of.op->types(of.attrs.get(), forward);
  if (!t.Require(!forward.error(), "C2: {}", forward.error().value_or(""))) {
    return;
  }
  t.SetIn(0, outputs[0].shape);
  const int input = static_cast<int>(a.input) + 1;
  t.SetOut(0, t.In(input));
  t.SetOutDType(0, t.InDType(input));
}

// Its output as an expression over its inputs' Loads.
Expr ForwardValue(const Differentiated& of, const Definition& def) {
  Definition forward(DifferentiatedInputs(def),
                     {{def.InDType(0), def.InShape(0)}}, def.training());
  of.op->meaning(of.attrs.get(), forward);
  MXC_CHECK(forward.stores().size() == 1, "operator '{}'", of.op->name);
  return forward.stores()[0].value;
}

// The index of the one place at which the expression reads an operand.
std::vector<Expr> IndexOf(const Expr& value, int operand) {
  std::vector<Expr> index;
  bool found = false;
  VisitLoads(value, [&](const ExprNode& load) {
    if (load.index != operand) return;
    for (size_t k = 0; found && k < index.size(); ++k) {
      MXC_CHECK(Equal(index[k], load.args[k]), "two places of an operand");
    }
    index = load.args;
    found = true;
  });
  return index;
}

void ElementwiseGradientMeaning(const GradientOfAttrs& a, Definition& def) {
  const Differentiated of(a);
  if (of.op->slope) {
    const Expr head = def.In(0, def.Indices());
    const Expr at = def.In(1, def.Indices());
    const DType dtype = FloatTypeOf(at->dtype);
    const Expr slope = of.op->slope(of.attrs.get(), Cast(at, dtype));
    return def.Set(0, Cast(head, dtype) * slope);
  }
  const int input = static_cast<int>(a.input);
  const Expr value = ForwardValue(of, def);
  const Expr slope = Derivative(value, input);
  if (IsConst(slope, 0)) return def.Set(0, def.Lit(0));
  const std::vector<Expr> place = IndexOf(value, input);
  // The output's axes: those that the operand has, and those that are summed.
  std::vector<Expr> index(def.InShape(0).rank());
  for (size_t k = 0; k < place.size(); ++k) {
    if (place[k]->kind == ExprKind::kVar) {
      index[place[k]->index] = Var(static_cast<int>(k));
    }
  }
  std::vector<Expr> extents;
  for (size_t axis = 0; axis < index.size(); ++axis) {
    if (!index[axis]) {
      extents.push_back(Expr(def.InShape(0)[static_cast<int>(axis)]));
    }
  }
  const auto term = [&](const std::vector<Expr>& full) {
    const Expr local =
        SubstituteVars(slope, [&](int var) { return full[var]; });
    const Expr shifted = BehindHead(local);
    return Cast(def.In(0, full), shifted->dtype) * shifted;
  };
  if (extents.empty()) return def.Set(0, term(index));
  def.Set(0, Definition::Sum(extents, [&](const std::vector<Expr>& r) {
            std::vector<Expr> full = index;
            size_t next = 0;
            for (Expr& axis : full) {
              if (!axis) axis = r[next++];
            }
            return term(full);
          }));
}

std::vector<Value> GradientsOfElementwise(GradientBuilder& g) {
  for (int i = 1; i < g.inputs(); ++i) {
    if (g.In(i).shape() != g.In(0).shape()) return MeaningGradients(g);
  }
  return g.Elementwise();
}

}  // namespace

MXC_OP(ElementwiseGradient) {
  return Op<GradientOfAttrs>("_elementwise_gradient")
      .Internal()
      .Doc("the gradient of an elementwise operator")
      .InputsOf(GradientOfInputs)
      .Outputs({"gradient"})
      .Variadic()
      .Check(CheckElementwiseGradient)
      .Types(ElementwiseGradientTypes)
      .Meaning(ElementwiseGradientMeaning)
      .Gradient([](const GradientOfAttrs&, GradientBuilder& g) {
        return GradientsOfElementwise(g);
      });
}

}  // namespace mxc
