// SPDX-License-Identifier: Apache-2.0
#include "tools/user_call.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "ir/program/call_function.h"
#include "ir/program/interpreter.h"
#include "ir/program/memory.h"
#include "ir/program/program.h"
#include "ir/program/steps/call.h"
#include "runtime/library/registry.h"

namespace mxc {
namespace {

// The operands of a call as a function sees them, the workspace apart, which is
// the step's last.
class Operands {
 public:
  explicit Operands(const StepValues& values) {
    const std::vector<int> buffers = values.step.operands();
    for (const int b : std::span(buffers).first(buffers.size() - 1)) {
      const Buffer& buffer = values.program.buffers[b];
      TensorType type = buffer.type;
      if (values.arithmetic.all_double && IsFloat(type.dtype))
        type.dtype = DType::kF64;
      std::byte* bytes = nullptr;
      arrays_.push_back(Tensor::Allocate(type, &bytes));
      data_.push_back(bytes);
      const Shape& shape = arrays_.back().type().shape;
      tensors_.push_back({.name = buffer.name.c_str(),
                          .dtype = static_cast<mxc_dtype>(type.dtype),
                          .rank = shape.rank(),
                          .dims = shape.dims().data(),
                          .bytes = static_cast<uint64_t>(type.bytes()),
                          .use = {}});
    }
    workspace_.resize(static_cast<size_t>(
        values.program.buffers[buffers.back()].bytes() + kArenaAlignment));
  }

  void Set(size_t i, const std::vector<Element>& values) {
    const DType dtype = arrays_[i].type().dtype;
    auto* at = static_cast<std::byte*>(data_[i]);
    for (const Element value : values) {
      StoreElement(at, dtype, value);
      at += SizeOf(dtype);
    }
  }
  const Tensor& array(size_t i) const { return arrays_[i]; }

  mxc_call CallOf(size_t inputs, const char* attributes, void* user_data) {
    void* workspace = workspace_.data();
    size_t space = workspace_.size();
    const size_t bytes = space - kArenaAlignment;
    std::align(kArenaAlignment, bytes, workspace, space);
    return {.struct_size = sizeof(mxc_call),
            .operand_count = tensors_.size(),
            .input_count = inputs,
            .operands = tensors_.data(),
            .data = data_.data(),
            .attributes = attributes,
            .workspace = workspace,
            .workspace_bytes = bytes,
            .user_data = user_data};
  }

 private:
  std::vector<Tensor> arrays_;
  std::vector<void*> data_;
  std::vector<mxc_tensor> tensors_;
  std::vector<std::byte> workspace_;
};

void Compute(const Call& call, StepValues& values) {
  const auto function =
      runtime::FindFunction(call.function, static_cast<uint32_t>(call.version));
  Operands operands(values);
  const size_t inputs = values.inputs.size();
  for (size_t i = 0; i < inputs; ++i) operands.Set(i, *values.inputs[i]);
  const mxc_call view =
      operands.CallOf(inputs, call.attributes.c_str(),
                      function.ok() ? function->user_data : nullptr);
  const bool done = function.ok() && function->function(&view) == 0;
  for (size_t i = 0; i + 1 < values.outputs.size(); ++i) {
    if (done) {
      values.outputs[i] = ToElements(operands.array(inputs + i));
    } else {
      std::ranges::fill(values.outputs[i],
                        std::numeric_limits<double>::quiet_NaN());
    }
  }
}

}  // namespace

void InterpretUserCalls() { SetUserCall(&Compute); }

}  // namespace mxc
