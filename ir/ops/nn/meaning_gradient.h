// SPDX-License-Identifier: Apache-2.0
// Gradients that follow from an operator's meaning (ir/program/adjoint.h).
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/differentiated.h"
#include "ir/ops/op.h"
#include "ir/ops/operators.h"

namespace mxc {

struct MeaningGradientAttrs : GradientOfAttrs {
  int64_t output = 0;

  void Describe(Fields& f) {
    GradientOfAttrs::Describe(f);
    f("output", output).Min(0).Doc("which of its outputs head belongs to");
  }
};
MXC_ATTRS(MeaningGradient, MeaningGradientAttrs);

// The gradient of one input of an operator on these inputs, from the gradient
// of one output.
Value MeaningGradientOf(GraphBuilder& b, const std::string& op,
                        const std::vector<AttrText>& attrs,
                        const std::vector<Value>& inputs, int input, Value head,
                        int output = 0);

// The gradient of one input by the given output's meaning, empty where that
// output has no head gradient.
Value MeaningGradient(GradientBuilder& g, int input, int output = 0);

// Those of all float inputs, or of input 0 alone, by output 0.
std::vector<Value> MeaningGradients(GradientBuilder& g);
std::vector<Value> MeaningGradientOfData(GradientBuilder& g);

}  // namespace mxc
