// SPDX-License-Identifier: Apache-2.0
// _meaning_gradient: the gradient of one input of an operator, from the meaning
// of one output. Where the operator reads its input at places that data decide,
// every element asks all that could have read it: right, and slow for large
// ones.
//   head        f[d1 …]   the gradient of output number `output`
//   inputs …    the operator's
//   gradient    of the type of its input number `input`:
//               Σ head · ∂output / ∂input
// C1  `of` is an operator with a meaning and such an input and output, `attrs`
//     its attributes ("name=text" in lines)
#include "ir/ops/nn/meaning_gradient.h"

#include <fmt/format.h>

#include "ir/ops/differentiated.h"
#include "ir/program/adjoint.h"
#include "ir/program/steps/map.h"

namespace mxc {
namespace {

std::optional<std::string> CheckMeaningGradient(const MeaningGradientAttrs& a) {
  const Differentiated of(a);
  if (of.attrs && a.input + 1 < a.num_args &&
      a.output < static_cast<int64_t>(of.op->outputs(of.attrs.get()).size())) {
    return std::nullopt;
  }
  return fmt::format(
      "C1: input {} and output {} of '{}', which is no operator with a "
      "meaning, "
      "such attributes and {} inputs",
      a.input, a.output, a.of, a.num_args - 1);
}

void MeaningGradientTypes(const MeaningGradientAttrs& a, TypeInference& t) {
  const int input = static_cast<int>(a.input) + 1;
  t.SetOut(0, t.In(input));
  t.SetOutDType(0, t.InDType(input));
}

// The operator's stores to that output, between inputs of these types.
std::vector<Store> ForwardStores(const MeaningGradientAttrs& a,
                                 const Definition& def) {
  const Differentiated of(a);
  std::vector<TensorType> inputs = DifferentiatedInputs(def);
  std::vector<TensorType> outputs(of.op->outputs(of.attrs.get()).size());
  TypeInference types(inputs, outputs, def.training());
  of.op->types(of.attrs.get(), types);
  MXC_CHECK(!types.error(), "{}: {}", a.of, *types.error());
  Definition forward(inputs, outputs, def.training());
  of.op->meaning(of.attrs.get(), forward);
  std::vector<Store> stores;
  for (const Store& store : forward.stores()) {
    if (store.output == a.output) stores.push_back(store);
  }
  return stores;
}

void MeaningGradientMeaning(const MeaningGradientAttrs& a, Definition& def) {
  std::vector<Store> stores = ForwardStores(a, def);
  for (Store& store : stores) store.value = BehindHead(store.value);
  const int input = static_cast<int>(a.input) + 1;
  const Expr gradient =
      Adjoint(stores, input, {def.InDType(input), def.InShape(input)},
              [&](const std::vector<Expr>& index) { return def.In(0, index); });
  def.Set(0, gradient ? gradient : def.Lit(0));
}

}  // namespace

Value MeaningGradientOf(GraphBuilder& b, const std::string& op,
                        const std::vector<AttrText>& attrs,
                        const std::vector<Value>& inputs, int input, Value head,
                        int output) {
  std::vector<Value> operands = {head};
  operands.insert(operands.end(), inputs.begin(), inputs.end());
  GradientOfAttrs of = {.num_args = std::ssize(operands),
                        .of = op,
                        .attrs = PrintAttrLines(attrs),
                        .input = input};
  return b.Op<op::MeaningGradient>(operands, {std::move(of), output},
                                   op + std::to_string(input));
}

Value MeaningGradient(GradientBuilder& g, int input, int output) {
  if (!g.HasHead(output)) return {};
  const Node& node = g.origin();
  return MeaningGradientOf(g, node.op->name, g.Attrs(), node.inputs, input,
                           g.Head(output), output);
}

std::vector<Value> MeaningGradients(GradientBuilder& g) {
  std::vector<Value> gradients = g.None();
  for (int i = 0; i < g.inputs(); ++i) {
    if (!g.Needs(i) || !IsFloat(g.In(i).type().dtype)) continue;
    gradients[i] = MeaningGradient(g, i);
  }
  return gradients;
}

std::vector<Value> MeaningGradientOfData(GradientBuilder& g) {
  std::vector<Value> gradients = g.None();
  if (g.Needs(0)) gradients[0] = MeaningGradient(g, 0);
  return gradients;
}

MXC_OP(MeaningGradient) {
  return Op<MeaningGradientAttrs>("_meaning_gradient")
      .Internal()
      .Doc("the gradient of an operator, from its meaning")
      .InputsOf(GradientOfInputs)
      .Outputs({"gradient"})
      .Variadic()
      .Check(CheckMeaningGradient)
      .Types(MeaningGradientTypes)
      .Meaning(MeaningGradientMeaning)
      .Gradient([](const MeaningGradientAttrs&, GradientBuilder& g) {
        return MeaningGradients(g);
      });
}

}  // namespace mxc
