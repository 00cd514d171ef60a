// SPDX-License-Identifier: Apache-2.0
// Runs the gradient of one operator by itself, by the interpreter.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/ir/op_run.h"

namespace mxc {

// The gradient of each input, given that of each output (an empty Tensor: none
// arrives). Empty where none passes. Aborts the test where the operator refuses
// the inputs; where it has no gradient the test fails.
std::vector<Tensor> EvaluateGradient(std::string_view op,
                                     const std::vector<AttrText>& attrs,
                                     const std::vector<Tensor>& inputs,
                                     const std::vector<Tensor>& heads,
                                     bool training = false);

// The gradient of one input as numbers, the gradient of output 0 given.
std::vector<double> GradientOf(int input, std::string_view op,
                               const std::vector<AttrText>& attrs,
                               const std::vector<Tensor>& inputs,
                               std::vector<double> head);

// Compares the gradients of the f64 inputs with central differences of the
// operator, at these inputs, with head gradients of its own choice. Inputs of
// other types are held fixed.
void CheckGradient(std::string_view op, const std::vector<AttrText>& attrs,
                   const std::vector<Tensor>& inputs, double tolerance = 1e-6,
                   bool training = false);

Tensor Doubles(Shape shape, std::vector<double> values);
// So many values between -1 and 1, all different, none near 0 or ±1.
Tensor SomeDoubles(Shape shape, int seed = 0);

}  // namespace mxc
