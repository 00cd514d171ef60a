// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/differentiated.h"

namespace mxc {

void GradientOfAttrs::Describe(Fields& f) {
  f("num_args", num_args)
      .Range(1, 1 << 17)
      .Doc("the head and the operator's inputs");
  f("of", of).Required().Doc("the operator");
  f("attrs", attrs).Doc("its attributes, name=text in lines");
  f("input", input).Min(0).Doc("which of its inputs");
}

std::vector<InputSpec> GradientOfInputs(const GradientOfAttrs& a) {
  std::vector<InputSpec> inputs = {{"head"}};
  for (int64_t i = 1; i < a.num_args; ++i) {
    inputs.push_back({"input" + std::to_string(i - 1)});
  }
  return inputs;
}

Differentiated::Differentiated(const GradientOfAttrs& a)
    : op(FindOperator(a.of)) {
  if (op == nullptr || !op->meaning) return;
  std::vector<AttrError> errors;
  AttrsPtr parsed = op->parse(ParseAttrLines(a.attrs), errors);
  if (errors.empty() && !(op->check && op->check(parsed.get()))) {
    attrs = std::move(parsed);
  }
}

std::vector<TensorType> DifferentiatedInputs(const Definition& def) {
  std::vector<TensorType> inputs;
  for (int i = 1; i < def.inputs(); ++i) {
    inputs.push_back({def.InDType(i), def.InShape(i)});
  }
  return inputs;
}

Expr BehindHead(const Expr& value) {
  return Rewrite(value, [](const Expr& e) {
    return e->kind == ExprKind::kLoad ? Load(e->index + 1, e->dtype, e->args)
                                      : Expr();
  });
}

}  // namespace mxc
