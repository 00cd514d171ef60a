// SPDX-License-Identifier: Apache-2.0
// Mean and variance, for the normalisations.
#pragma once

#include <functional>

#include "ir/graph/builder.h"
#include "ir/ops/op.h"
#include "ir/program/definition.h"

namespace mxc {

struct Moments {
  Expr mean;
  Expr variance;  // biased: divided by the number of elements
};

// Of `count` elements; `sum` adds up a function of each of them.
Moments MomentsOf(
    int64_t count, DType type,
    const std::function<Expr(const std::function<Expr(Expr x)>& f)>& sum);

// Of input 0 over `axes` (ascending), computed in `type`, where the other axes
// have the indices `kept`.
Moments MomentsOver(const Definition& def, const Extents& axes,
                    const std::vector<Expr>& kept, DType type);

// The gradient of x̂ = (x − mean) / deviation with respect to x, where mean and
// deviation are those over `axes` and `dy` is the gradient of x̂:
//   (dy − mean(dy) − x̂ · mean(dy · x̂)) / deviation
// `deviation` has extent 1 at `axes`.
Value NormalizedGradient(GraphBuilder& b, Value dy, Value normalized,
                         Value deviation, const Extents& axes);

// x̂ of output = x̂ · gamma + beta, whose inputs are x, gamma and beta.
struct NormalizedInput {
  Value normalized, deviation;
  Extents axes;       // over which the moments are
  Extents parameter;  // the extents of gamma and beta that broadcast to x̂
};
// The gradients of these inputs; `dy`, that of the output, has the shape of x̂.
std::vector<Value> NormGradients(GradientBuilder& g, Value dy,
                                 const NormalizedInput& x);

// Inputs data, gamma and beta, and the outputs mean and std, which
// output_mean_var shows.
template <class Attrs>
Op<Attrs> NormOperator(std::string name) {
  Op<Attrs> op(std::move(name));
  op.Inputs({{"data"},
             {"gamma", InputKind::kParameter},
             {"beta", InputKind::kParameter}});
  op.Outputs({"output", "mean", "std"});
  op.VisibleOutputsOf([](const Attrs& a) { return a.output_mean_var ? 3 : 1; });
  return op;
}

}  // namespace mxc
