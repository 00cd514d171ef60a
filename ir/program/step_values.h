// SPDX-License-Identifier: Apache-2.0
// What a kind of step is handed when it computes or describes itself.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ir/program/expr.h"
#include "ir/program/float_arithmetic.h"

namespace mxc {

class Program;
struct Step;

// The operands of a step that is interpreted: row-major, floats of any type in
// double, integers as their type.
struct StepValues {
  const Program& program;
  const Step& step;
  std::span<const std::vector<Element>* const> inputs;
  std::vector<std::vector<Element>>& outputs;  // of their sizes, zeros
  FloatArithmetic arithmetic;
};

// Layouts of operands that a kind of step takes.
enum class Layouts : uint8_t {
  kRowMajor,  // without gaps and borders
  kFixed,     // those that the operands have: others would not fit its body
  kAny,
};

// Where operands of a kind of step may lie.
enum class Places : uint8_t {
  kDevice,  // where the target's kernels run
  kOne,     // all of them in one place, where the step runs
  kAny,     // each in any
};

// Who does what a kind of step says, when a program runs.
enum class Work : uint8_t {
  kKernel,    // code of the step's own
  kFunction,  // a function that the runtime knows
  kTransfer,  // the runtime, which moves the bytes of the output
  kSteps,     // the steps that it holds, or none
};

// The text of an expression in a key, the same for expressions that differ only
// in the names of their reduction variables.
using ExprText = std::function<std::string(const Expr&)>;

}  // namespace mxc
