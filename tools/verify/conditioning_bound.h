// SPDX-License-Identifier: Apache-2.0
// How far the roundings within a step may take its results where their values
// are badly conditioned: x − mean, where both are nearly equal, divided by a
// small deviation, magnifies the last bit of the mean two hundred times, and two
// right orders of computation differ by that much.
//
// Measured by Monte Carlo arithmetic (ir/program/float_arithmetic.h): the step is
// interpreted several times, or the program, each operation off by a random part of its last
// bit. A wrong kernel is off by more than what that does to the right result.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "ir/graph/tensor.h"
#include "ir/program/program.h"
#include "ir/support/result.h"
#include "tools/verify/difference.h"

namespace mxc {

// For each element of each output, as f32: the tolerance, and
// kRoundingDeviations times the deviation that roundings cause
// (rounding_bound.h). Empty for outputs that are no floats. `expected` are the
// step's outputs on these operands.
std::vector<Tensor> ConditioningBounds(const Program& program, const Step& step,
                                       std::span<const Tensor> operands,
                                       std::span<const Tensor> expected,
                                       const Tolerance& tolerance);

// The same of the outputs of a whole program on these inputs, each with a
// tolerance of its own.
Result<std::vector<Tensor>> ConditioningBounds(
    const Program& program, const std::map<std::string, Tensor>& inputs,
    std::span<const Tensor> expected, std::span<const Tolerance> tolerances);

}  // namespace mxc
