// SPDX-License-Identifier: Apache-2.0
// The slow obvious execution of a Program: the oracle of every test.
//
// Ignores layouts and the storage plan (every buffer is an array of its own),
// checks every index, accumulates sums in double and stores each value in its
// buffer's type.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ir/graph/tensor.h"
#include "ir/program/float_arithmetic.h"
#include "ir/program/program.h"
#include "ir/support/result.h"

namespace mxc {

struct InterpreterOptions {
  // All in double: for finite differences.
  FloatArithmetic arithmetic;
  // Called after each step with the values of all buffers so far (empty where
  // not yet written).
  std::function<void(int step, std::span<const Tensor> buffers)> after_step;
  // If set: the states that the run updates, by name, as they are afterwards.
  std::map<std::string, Tensor>* next_states = nullptr;
};

// `inputs` by buffer name, row-major; those that no step reads may be missing.
// States that are not among them have their initial values. Returns the outputs
// in the order of program.BuffersOf(kOutput). Steps that nothing of what is
// asked for needs are left out. Aborts on an index out of bounds: our bug.
Result<std::vector<Tensor>> Interpret(
    const Program& program, const std::map<std::string, Tensor>& inputs,
    const InterpreterOptions& options = {});

// A run of a program whose values are all kept, so that runs on slightly other
// inputs take only the steps that these reach: as many bytes again as there are
// values in those steps. Keeps a reference to the program.
class KeptRun {
 public:
  // As Interpret does.
  static Result<KeptRun> Of(const Program& program,
                            const std::map<std::string, Tensor>& inputs,
                            const FloatArithmetic& arithmetic = {});

  // The outputs, in the order of program.BuffersOf(kOutput).
  std::vector<Tensor> Outputs() const;

  // The same of a run in which `changed` take the place of the inputs and states
  // of their names. The bytes that Interpret would give. Fails where a shape is
  // another than the program's.
  Result<std::vector<Tensor>> OutputsWith(
      const std::map<std::string, Tensor>& changed) const;

 private:
  KeptRun(const Program& program, const FloatArithmetic& arithmetic);

  const Program* program_;
  FloatArithmetic arithmetic_;
  std::vector<bool> needed_;                  // by step
  std::vector<std::vector<Element>> values_;  // by buffer
};

// One step on given operands, in the order of step.inputs.
std::vector<Tensor> InterpretStep(const Program& program, const Step& step,
                                  std::span<const Tensor> inputs,
                                  const FloatArithmetic& arithmetic = {});

// The tensor's elements, row-major.
std::vector<Element> ToElements(const Tensor& tensor);

// One step among the arrays of all of the program's buffers, for kinds of steps
// that hold a program: reads `buffers`, writes `written`, both by buffer.
void InterpretStep(const Program& program, const Step& step,
                   std::span<const std::vector<Element>* const> buffers,
                   const FloatArithmetic& arithmetic,
                   std::span<std::vector<Element>> written);

// What tile `tile` of a loop sees of an operand of that value, zeros where its
// window goes beyond.
Tensor CutWindow(const TileLoop& loop, size_t operand, int64_t tile,
                 const Tensor& value);

}  // namespace mxc
