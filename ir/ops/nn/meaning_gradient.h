// SPDX-License-Identifier: Apache-2.0
// Gradients that follow from an operator's meaning (ir/program/adjoint.h).
#pragma once

#include "ir/ops/op.h"

namespace mxc {

// The gradient of one input by the given output's meaning, empty where that
// output has no head gradient.
Value MeaningGradient(GradientBuilder& g, int input, int output = 0);

// Those of all float inputs, by output 0. For Op::Gradient.
std::vector<Value> MeaningGradients(GradientBuilder& g);

}  // namespace mxc
