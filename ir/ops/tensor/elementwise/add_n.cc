// SPDX-License-Identifier: Apache-2.0
// add_n: the sum of all inputs, from the first to the last.
// C1  the inputs have one shape
#include "ir/ops/tensor/elementwise/add_n.h"
#include "ir/ops/tensor/elementwise/arithmetic.h"
#include "ir/ops/tensor/elementwise/unary.h"
#include "ir/ops/tensor/shape/axes.h"
#include "ir/ops/tensor/sparse/row_forms.h"

namespace mxc {
namespace {

void AddNTypes(const AddNAttrs&, TypeInference& t) {
  for (int i = 1; i < t.inputs(); ++i) {
    if (!t.Require(!t.In(0).known() || !t.In(i).known() || t.In(0) == t.In(i),
                   "C1: input {} has shape {}, expected {}", i,
                   ToString(t.In(i)), ToString(t.In(0)))) {
      return;
    }
  }
  SameTypes(t);
}

Value AddAll(GraphBuilder& b, const std::vector<Value>& terms) {
  return b.Op<op::AddN>(terms, {.num_args = std::ssize(terms)});
}

void AddNMeaning(const AddNAttrs&, Definition& def) {
  Expr sum = def.In(0, def.Indices());
  for (int i = 1; i < def.inputs(); ++i) {
    sum = arithmetic::Add(sum, def.In(i, def.Indices()));
  }
  def.Set(0, sum);
}

// Terms of one expression; more are added to their sum.
constexpr size_t kMostTerms = 128;

std::vector<Value> SumInTurns(const AddNAttrs&, const Node& node,
                              GraphBuilder& b) {
  if (node.inputs.size() <= kMostTerms) return {};
  std::vector<Value> terms;
  for (const Value& input : node.inputs) {
    if (terms.size() == kMostTerms) terms = {AddAll(b, terms)};
    terms.push_back(input);
  }
  return {AddAll(b, terms)};
}

}  // namespace

MXC_OP(AddN) {
  return Op<AddNAttrs>("add_n")
      .Alias({"ElementWiseSum", "_sum"})
      .Doc("the sum of all inputs")
      .Variadic()
      .InputsOf(
          [](const AddNAttrs& a) { return NumberedInputs("arg", a.num_args); })
      .Types(AddNTypes)
      .Meaning(AddNMeaning)
      .Decompose(SumInTurns)
      .PassGradient()
      .AsRows([](const AddNAttrs&, const Node&, std::span<const RowForm> terms,
                 GraphBuilder& b) { return RowsOfSum(terms, b); });
}

}  // namespace mxc
