// SPDX-License-Identifier: Apache-2.0
// _meaning_gradient: the gradient of one input of an operator, from the meaning
// of one output. Where the operator reads its input at places that data decide,
// every element asks all that could have read it: right, and slow for large
// ones.
//   head        f[d1 …]   the gradient of output number `output`
//   inputs …    the operator's
//   gradient    of the type of its input number `input`:
//               Σ head · ∂output / ∂input
// C1  `of` is such an operator, `attrs` its attributes ("name=text" in lines)
#include "ir/ops/nn/meaning_gradient.h"

#include "ir/program/adjoint.h"

namespace mxc {
namespace {

struct MeaningGradientAttrs {
  int64_t num_args = 0;
  std::string of, attrs;
  int64_t input = 0, output = 0;

  void Describe(Fields& f) {
    f("num_args", num_args).Doc("the head and the operator's inputs");
    f("of", of).Required().Doc("the operator");
    f("attrs", attrs).Doc("its attributes, name=text in lines");
    f("input", input).Min(0).Doc("which of its inputs");
    f("output", output).Min(0).Doc("which of its outputs head belongs to");
  }
};

std::vector<InputSpec> MeaningGradientInputs(const MeaningGradientAttrs& a) {
  std::vector<InputSpec> inputs = {{"head"}};
  for (int64_t i = 1; i < a.num_args; ++i) {
    inputs.push_back({"input" + std::to_string(i - 1)});
  }
  return inputs;
}

void MeaningGradientTypes(const MeaningGradientAttrs& a, TypeInference& t) {
  if (!t.Require(a.input + 1 < t.inputs(), "C1: input {} of {}", a.input,
                 t.inputs() - 1)) {
    return;
  }
  const int input = static_cast<int>(a.input) + 1;
  t.SetOut(0, t.In(input));
  t.SetOutDType(0, t.InDType(input));
}

std::vector<AttrText> AttrLines(const std::string& text) {
  std::vector<AttrText> attrs;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at), equals = text.find('=', at);
    attrs.emplace_back(text.substr(at, equals - at),
                       text.substr(equals + 1, end - equals - 1));
    at = end + 1;
  }
  return attrs;
}

// The operator's node between inputs of the types that `def` has after head.
std::vector<Store> ForwardStores(const MeaningGradientAttrs& a,
                                 const Definition& def) {
  const Operator* op = FindOperator(a.of);
  MXC_CHECK(op != nullptr && op->meaning, "operator '{}'", a.of);
  std::vector<AttrError> errors;
  const AttrsPtr attrs = op->parse(AttrLines(a.attrs), errors);
  MXC_CHECK(errors.empty(), "{}: {}", a.of, errors[0].message);
  std::vector<TensorType> inputs, outputs(op->outputs(attrs.get()).size());
  for (int i = 1; i < def.inputs(); ++i) {
    inputs.push_back({def.InDType(i), def.InShape(i)});
  }
  TypeInference types(inputs, outputs, def.training());
  op->types(attrs.get(), types);
  MXC_CHECK(!types.error(), "{}: {}", a.of, *types.error());
  Definition forward(inputs, outputs, def.training());
  op->meaning(attrs.get(), forward);
  std::vector<Store> stores;
  for (const Store& store : forward.stores()) {
    if (store.output == a.output) stores.push_back(store);
  }
  return stores;
}

void MeaningGradientMeaning(const MeaningGradientAttrs& a, Definition& def) {
  std::vector<Store> stores = ForwardStores(a, def);
  for (Store& store : stores) {  // operand 0 is the head
    store.value = Rewrite(store.value, [](const Expr& e) {
      return e->kind == ExprKind::kLoad ? Load(e->index + 1, e->dtype, e->args)
                                        : Expr();
    });
  }
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
  std::string lines;
  for (const auto& [name, text] : attrs) lines += name + "=" + text + "\n";
  std::vector<Value> operands = {head};
  operands.insert(operands.end(), inputs.begin(), inputs.end());
  return b.Op("_meaning_gradient", operands,
              {{"num_args", std::to_string(operands.size())},
               {"of", op},
               {"attrs", lines},
               {"input", std::to_string(input)},
               {"output", std::to_string(output)}},
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
      .InputsOf(MeaningGradientInputs)
      .Outputs({"gradient"})
      .Variadic()
      .Types(MeaningGradientTypes)
      .Meaning(MeaningGradientMeaning);
}

}  // namespace mxc
