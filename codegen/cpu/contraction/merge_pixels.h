// SPDX-License-Identifier: Apache-2.0
// Finds output axes along which everything advances as if they were one.
#pragma once

#include "codegen/cpu/contraction/nest.h"

namespace mxc::contraction {

// Returns whether the two, of which `outer` is the next one further out, can be
// one axis: inner, longer. Data, the output and every operand of the step's
// epilogue advance evenly over both then.
bool BecomeOne(const Program& program, const Step& step, const PixelAxis& outer,
               const PixelAxis& inner);

// Makes columns of all pixels where rows and columns become one.
void MergeRows(const Program& program, const Step& step, Nest& nest);

}  // namespace mxc::contraction
