// SPDX-License-Identifier: Apache-2.0
#include "tests/codegen/device_step.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "codegen/backend.h"

namespace mxc::test {
namespace {

Program Placed(Program program) {
  for (Buffer& buffer : program.buffers) buffer.offset = 0;
  return program;
}

KernelPlan PlanOf(const Program& program) {
  const Target target = EmulatedTarget();
  return BackendOf(target).Plan(program, program.steps[0], target, {});
}

template <class F>
void ForEachIndex(const Shape& shape, F f) {
  Extents index(static_cast<size_t>(shape.rank()), 0);
  for (int64_t i = 0; i < shape.elements(); ++i) {
    f(i, index);
    for (size_t axis = index.size(); axis-- > 0;) {
      if (++index[axis] < shape[static_cast<int>(axis)]) break;
      index[axis] = 0;
    }
  }
}

}  // namespace

DeviceStep::DeviceStep(Program program)
    : program_(Placed(std::move(program))),
      plan_(PlanOf(program_)),
      memory_(program_.buffers.size()) {
  const Step& step = program_.steps[0];
  kernel_ = std::make_unique<EmulatedKernel>(
      EmulatedTarget(), static_cast<int>(step.operands().size()), plan_.emit);
  for (const int operand : step.operands()) {
    Floats& memory = memory_[program_.Root(operand)];
    if (memory == nullptr) {
      memory = std::make_unique<FencedFloats>((SizeOf(operand) + 3) / 4 * 4,
                                              FencedFloats::Fence::kAfter);
    }
  }
  Draw();
}

void DeviceStep::Draw() {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (const int input : program_.steps[0].inputs) {
    std::byte* to = nullptr;
    inputs_.push_back(Tensor::Allocate(program_.buffers[input].type, &to));
    for (int64_t i = 0; i < inputs_.back().shape().elements(); ++i) {
      StoreElement(to + 4 * i, DType::kF32, uniform(random));
    }
  }
}

void DeviceStep::Set(int input, int64_t element, float value) {
  Tensor& tensor = inputs_[static_cast<size_t>(input)];
  std::byte* to = nullptr;
  Tensor changed = Tensor::Allocate(tensor.type(), &to);
  std::copy_n(tensor.bytes(), tensor.size_bytes(), to);
  StoreElement(to + 4 * element, DType::kF32, value);
  tensor = std::move(changed);
}

size_t DeviceStep::SizeOf(int buffer) const {
  return static_cast<size_t>(program_.buffers[buffer].layout.reach());
}

std::vector<float> DeviceStep::Run(const EmulatedKernel::Order& order) {
  const Step& step = program_.steps[0];
  for (const int output : step.outputs) {
    std::fill_n(At(output), SizeOf(output), NAN);
  }
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    const Buffer& buffer = program_.buffers[step.inputs[i]];
    float* to = At(step.inputs[i]);
    std::fill_n(to, SizeOf(step.inputs[i]), NAN);
    ForEachIndex(buffer.type.shape, [&](int64_t k, const Extents& index) {
      to[buffer.layout.Offset(index)] = static_cast<float>(inputs_[i].At(k));
    });
  }
  std::vector<void*> operands;
  for (const int operand : step.operands()) operands.push_back(At(operand));
  wrong_ = kernel_->Run(operands, plan_.launch, order);
  std::vector<float> results;
  if (!wrong_.empty()) return results;
  for (const int output : step.outputs) {
    results.insert(results.end(), At(output), At(output) + SizeOf(output));
  }
  return results;
}

double DeviceStep::Error(const std::vector<float>& got) const {
  const Step& step = program_.steps[0];
  const std::vector<Tensor> wanted = Expected();
  double most = 0;
  size_t begin = 0;
  for (size_t o = 0; o < wanted.size(); ++o) {
    const Buffer& buffer = program_.buffers[step.outputs[o]];
    double largest = 0, error = 0;
    ForEachIndex(buffer.type.shape, [&](int64_t i, const Extents& index) {
      const auto at = static_cast<size_t>(buffer.layout.Offset(index));
      const float y = got[begin + at];
      const double want = wanted[o].At(i);
      largest = std::max(largest, std::fabs(want));
      error =
          std::max(error, std::isfinite(y) ? std::fabs(y - want) : INFINITY);
    });
    most = std::max(most, error / largest);
    begin += SizeOf(step.outputs[o]);
  }
  return most;
}

}  // namespace mxc::test
