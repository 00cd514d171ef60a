// SPDX-License-Identifier: Apache-2.0
// What the softmax family shares.
//   data    f[d1 …]
//   length  i[data without axis]   with use_length: how many positions count
//   output  f[d1 …] of element type `dtype`, data's if None
// C1  axis is one of data's
// C2  length has data's shape without axis
// C3  temperature is not 0
#pragma once

#include <string>

#include "ir/ops/op.h"

namespace mxc {

// exp(x − max) / Σ exp(x − max), both over `axes` (ascending) of input 0, for
// the element of output 0 at def.Indices(); they have the same shape.
Expr SoftmaxOver(const Definition& def, const Extents& axes);

struct SoftmaxAttrs {
  int64_t axis = -1;
  std::optional<double> temperature = {};
  std::optional<DType> dtype = {};
  std::optional<bool> use_length = false;

  void Describe(Fields& f);
  int axis_of(int rank) const {
    return static_cast<int>(axis < 0 ? axis + rank : axis);
  }
  bool has_length() const { return use_length.value_or(false); }
};
MXC_ATTRS(Softmax, SoftmaxAttrs);
MXC_ATTRS(LogSoftmax, SoftmaxAttrs);

std::optional<std::string> SoftmaxCheck(const SoftmaxAttrs& a);
std::vector<InputSpec> SoftmaxInputs(const SoftmaxAttrs& a);
void SoftmaxTypes(const SoftmaxAttrs& a, TypeInference& t);

// The logits z = ±x / temperature at the output's index, their maximum along
// the axis, and Σ exp(z − max); over the first `length` positions only.
struct SoftmaxTerms {
  Expr logit, max, sum;
  Expr counts;  // whether the output's position does; empty if all do
};
SoftmaxTerms SoftmaxTermsOf(const SoftmaxAttrs& a, const Definition& def,
                            bool negative);

// y · (dy − Σ dy · y) over `axes`: the gradient of y = softmax(x).
Value SoftmaxGradient(GraphBuilder& b, Value dy, Value y, const Extents& axes);
// The same for softmax and softmin, in data's element type.
std::vector<Value> SoftmaxFamilyGradient(const SoftmaxAttrs& a,
                                         GradientBuilder& g, bool negative);

}  // namespace mxc
