// SPDX-License-Identifier: Apache-2.0
// A program of one step, of floats, on an emulated device and random inputs,
// beside the interpreter.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "codegen/llvm/kernel_plan.h"
#include "ir/program/interpreter.h"
#include "ir/program/program.h"
#include "tests/codegen/emulated_kernel.h"
#include "tests/codegen/native_kernel.h"

namespace mxc::test {

class DeviceStep {
 public:
  // Its operands begin where a plan would put them.
  explicit DeviceStep(Program program);

  const mxc_launch& launch() const { return plan_.launch; }

  // Instead of the random element of an input.
  void Set(int input, int64_t element, float value);

  // The elements of all outputs, one behind the other; empty where the device
  // would have stopped.
  std::vector<float> Run(const EmulatedKernel::Order& order);
  // The largest error of any output, of its largest value.
  double Error(const std::vector<float>& got) const;
  // By the interpreter.
  std::vector<Tensor> Expected() const {
    return InterpretStep(program_, program_.steps[0], inputs_);
  }
  const std::string& wrong() const { return wrong_; }

 private:
  using Floats = std::unique_ptr<FencedFloats>;

  void Draw();
  size_t SizeOf(int buffer) const;  // elements
  int64_t BytesOf(int buffer) const;
  std::byte* At(int buffer) {
    return reinterpret_cast<std::byte*>(memory_[program_.Root(buffer)]->data());
  }
  void Put(int buffer, int64_t at, double value);
  void Forget(int buffer);

  Program program_;
  const KernelPlan plan_;
  std::unique_ptr<EmulatedKernel> kernel_;
  std::vector<Tensor> inputs_;
  std::vector<Floats> memory_;  // by root
  std::string wrong_;
};

}  // namespace mxc::test
