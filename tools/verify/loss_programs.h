// SPDX-License-Identifier: Apache-2.0
// The loss of a network's output as programs for the interpreter, to compare its
// gradients with its differences.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "ir/graph/graph.h"
#include "ir/graph/tensor.h"
#include "ir/program/interpreter.h"
#include "ir/program/program.h"
#include "ir/support/result.h"
#include "tools/driver/plan.h"

namespace mxc {

// The loss of one output as a function of the parameters. Cross entropies count
// no probability below FLT_MIN, while their gradients know no such end: the
// losses here end far below, at two places, and differ where that counts.
struct LossPrograms {
  Program loss;                      // outputs: the network's, loss
  std::optional<Program> other_end;  // missing: nothing is cut off
  Program gradients;  // outputs: the network's, loss, grad:NAME …
};

// What is left of the network when only that one of its outputs is asked for.
Result<Graph> GraphOfOutput(const CompileRequest& request,
                            LoadedNetwork& network, size_t output);

bool HasLossHead(const Graph& graph);

// Of an output with a loss head. Nothing is optimized.
Result<LossPrograms> MakeLossPrograms(const CompileRequest& request,
                                      LoadedNetwork& network, size_t output);

// How they are run.
constexpr FloatArithmetic kInDouble = {.all_double = true};

// The outputs of that role, by what they are of; values are in the order of
// BuffersOf(kOutput).
std::map<std::string, Tensor> OutputsOfRole(TensorRole role,
                                            const Program& program,
                                            std::span<const Tensor> values);

}  // namespace mxc
