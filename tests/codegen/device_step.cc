// SPDX-License-Identifier: Apache-2.0
#include "tests/codegen/device_step.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "codegen/backend.h"

#include "ir/program/steps/contraction.h"
#include "ir/target/cuda_target.h"

namespace mxc::test {
namespace {

// One that has the unit by which the step's kernel multiplies.
Target TargetOf(const Step& step) {
  const ContractionStep* contraction = step.contraction();
  const bool by_warpgroups = contraction != nullptr &&
                             contraction->choice.algorithm.starts_with("wgmma");
  return by_warpgroups ? EmulatedCudaTarget(*ResolveTarget("native"),
                                            "cuda:emulated_sm_90a")
                       : EmulatedTarget();
}

}  // namespace

namespace {

Program Placed(Program program) {
  for (Buffer& buffer : program.buffers) buffer.offset = 0;
  return program;
}

KernelPlan PlanOf(const Program& program) {
  const Target target = TargetOf(program.steps[0]);
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
  kernel_ = std::make_unique<EmulatedKernel>(TargetOf(step), plan_.write);
  for (const int operand : step.operands()) {
    Floats& memory = memory_[program_.Root(operand)];
    if (memory == nullptr) {
      memory = std::make_unique<FencedFloats>(
          static_cast<size_t>((BytesOf(operand) + 15) / 16 * 4),
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
    const TensorType& type = program_.buffers[input].type;
    inputs_.push_back(Tensor::Allocate(type, &to));
    for (int64_t i = 0; i < type.shape.elements(); ++i) {
      StoreElement(to + mxc::SizeOf(type.dtype) * i, type.dtype,
                   uniform(random));
    }
  }
}

void DeviceStep::Set(int input, int64_t element, float value) {
  Tensor& tensor = inputs_[static_cast<size_t>(input)];
  std::byte* to = nullptr;
  Tensor changed = Tensor::Allocate(tensor.type(), &to);
  std::copy_n(tensor.bytes(), tensor.size_bytes(), to);
  const DType dtype = tensor.type().dtype;
  StoreElement(to + mxc::SizeOf(dtype) * element, dtype, value);
  tensor = std::move(changed);
}

size_t DeviceStep::SizeOf(int buffer) const {
  return static_cast<size_t>(program_.buffers[buffer].layout.reach());
}

int64_t DeviceStep::BytesOf(int buffer) const {
  const Buffer& of = program_.buffers[buffer];
  return of.layout.reach() * mxc::SizeOf(of.type.dtype);
}

void DeviceStep::Put(int buffer, int64_t at, double value) {
  const DType dtype = program_.buffers[buffer].type.dtype;
  StoreElement(At(buffer) + at * mxc::SizeOf(dtype), dtype, value);
}

void DeviceStep::Forget(int buffer) {
  for (size_t i = 0; i < SizeOf(buffer); ++i) {
    Put(buffer, static_cast<int64_t>(i), NAN);
  }
}

std::vector<float> DeviceStep::Run(const EmulatedKernel::Order& order) {
  const Step& step = program_.steps[0];
  for (const int output : step.outputs) {
    Forget(output);
  }
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    const Buffer& buffer = program_.buffers[step.inputs[i]];
    Forget(step.inputs[i]);
    ForEachIndex(buffer.type.shape, [&](int64_t k, const Extents& index) {
      Put(step.inputs[i], buffer.layout.Offset(index), inputs_[i].At(k));
    });
  }
  std::vector<void*> operands;
  for (const int operand : step.operands()) operands.push_back(At(operand));
  wrong_ = kernel_->Run(operands, plan_.launch, order);
  std::vector<float> results;
  if (!wrong_.empty()) return results;
  for (const int output : step.outputs) {
    const DType dtype = program_.buffers[output].type.dtype;
    for (size_t i = 0; i < SizeOf(output); ++i) {
      const std::byte* at =
          At(output) + i * static_cast<size_t>(mxc::SizeOf(dtype));
      results.push_back(static_cast<float>(LoadElement(at, dtype)));
    }
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
