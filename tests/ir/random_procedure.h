// SPDX-License-Identifier: Apache-2.0
// Procedures drawn at random, that are right: whatever they compute, they read
// nothing that they did not write and nothing out of bounds. Their floats are
// small whole numbers, so that no arithmetic rounds them.
#pragma once

#include <vector>

#include "ir/program/program.h"

namespace mxc {

// A program of one step; its inputs "in0", "in1", …
Program RandomProcedure(unsigned seed);
// Values that fit the step's inputs.
std::vector<Tensor> ProcedureInputs(const Program& program, unsigned seed);

}  // namespace mxc
