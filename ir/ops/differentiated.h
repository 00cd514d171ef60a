// SPDX-License-Identifier: Apache-2.0
// What operators have in common that stand for the gradient of another one
// (_elementwise_gradient, _meaning_gradient): which it is, and which of its
// inputs. Their own inputs are the gradient of its output, then what it reads.
#pragma once

#include <string>
#include <vector>

#include "ir/ops/op.h"

namespace mxc {

struct GradientOfAttrs {
  int64_t num_args = 0;
  std::string of = {}, attrs = {};
  int64_t input = 0;

  void Describe(Fields& f);
};
MXC_ATTRS(ElementwiseGradient, GradientOfAttrs);

// head, input0, input1, …
std::vector<InputSpec> GradientOfInputs(const GradientOfAttrs& a);

// The operator that is differentiated. It has a meaning, and `attrs` are its
// typed attributes; null where there is none such.
struct Differentiated {
  explicit Differentiated(const GradientOfAttrs& a);

  const Operator* op = nullptr;
  AttrsPtr attrs;
};

// The types of its inputs: those after head.
std::vector<TensorType> DifferentiatedInputs(const Definition& def);
// An expression over its inputs as one over those of the gradient.
Expr BehindHead(const Expr& value);

}  // namespace mxc
