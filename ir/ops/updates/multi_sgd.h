// SPDX-License-Identifier: Apache-2.0
// sgd_update of several weights by one node:
//   weight_i, grad_i  f[S…], for each weight in turn
//   output<i>         f[S…], the next weights
// Each pair has a shape and a type of its own. In MXNet 1.9.1 those of the outputs
// follow from their readers alone; ours follow from the weights.
#pragma once

#include "ir/ops/op.h"

namespace mxc {

struct MultiSgdOptions {
  double rescale_grad = 1, clip_gradient = -1;
  int64_t num_weights = 1;

 protected:
  void DescribeAll(Fields& f);
};

// The pairs; the caller's inputs follow.
std::vector<InputSpec> MultiSgdInputs(const MultiSgdOptions& a);
// Of weights, gradients and outputs.
void MultiSgdTypes(const MultiSgdOptions& a, TypeInference& t);
// Sets output i, for numbers in the type that the formula is computed in, f64 of
// f64, else f32.
void SetMultiSgd(const MultiSgdOptions& a, int i, const Expr& rate,
                 const Expr& decay, Definition& def);

}  // namespace mxc
