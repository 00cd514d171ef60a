// SPDX-License-Identifier: Apache-2.0
#include "ir/program/interpreter.h"

#include <algorithm>

#include "ir/program/in_place.h"

namespace mxc {
namespace {

// Rounds to what the buffer's type holds.
void Round(std::vector<Element>& values, DType dtype) {
  for (Element& value : values) value = Rounded(value, dtype);
}

Tensor ToTensor(const std::vector<Element>& values, const TensorType& type) {
  std::byte* bytes = nullptr;
  Tensor tensor = Tensor::Allocate(type, &bytes);
  const int64_t size = SizeOf(type.dtype);
  for (size_t i = 0; i < values.size(); ++i) {
    StoreElement(bytes + static_cast<int64_t>(i) * size, type.dtype, values[i]);
  }
  return tensor;
}

std::vector<std::vector<Element>> OutputsOf(
    const Program& program, const Step& step,
    std::span<const std::vector<Element>* const> inputs,
    const FloatArithmetic& arithmetic) {
  std::vector<std::vector<Element>> outputs;
  for (const int output : step.outputs) {
    outputs.emplace_back(program.buffers[output].type.shape.elements());
  }
  StepValues values = {program, step, inputs, outputs, arithmetic};
  step.body.Interpret(values);
  return outputs;
}

// Which steps the outputs need, with `states` the states that are updated.
std::vector<bool> NeededSteps(const Program& program, bool states) {
  std::vector<bool> buffers(program.buffers.size());
  for (const int b : program.BuffersOf(BufferKind::kOutput)) buffers[b] = true;
  if (states) {
    for (const int b : program.BuffersOf(BufferKind::kNextState))
      buffers[b] = true;
  }
  std::vector<bool> steps(program.steps.size());
  for (size_t s = steps.size(); s-- > 0;) {
    const Step& step = program.steps[s];
    steps[s] =
        std::ranges::any_of(step.outputs, [&](int b) { return buffers[b]; });
    if (!steps[s]) continue;
    for (const int b : step.inputs) buffers[b] = true;
  }
  return steps;
}

}  // namespace

std::vector<Element> ToElements(const Tensor& tensor) {
  std::vector<Element> values(tensor.shape().elements());
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = tensor.ExactAt(static_cast<int64_t>(i));
  }
  return values;
}

void InterpretStep(const Program& program, const Step& step,
                   std::span<const std::vector<Element>* const> buffers,
                   const FloatArithmetic& arithmetic,
                   std::span<std::vector<Element>> written) {
  std::vector<const std::vector<Element>*> inputs;
  for (const int input : step.inputs) inputs.push_back(buffers[input]);
  auto outputs = OutputsOf(program, step, inputs, arithmetic);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const int buffer = step.outputs[i];
    const DType dtype = program.buffers[buffer].type.dtype;
    if (!arithmetic.all_double || !IsFloat(dtype)) Round(outputs[i], dtype);
    written[buffer] = std::move(outputs[i]);
  }
}

std::vector<Tensor> InterpretStep(const Program& program, const Step& step,
                                  std::span<const Tensor> inputs,
                                  const FloatArithmetic& arithmetic) {
  std::vector<std::vector<Element>> values;
  std::vector<const std::vector<Element>*> pointers;
  for (const Tensor& input : inputs) values.push_back(ToElements(input));
  for (const auto& v : values) pointers.push_back(&v);
  const auto outputs = OutputsOf(program, step, pointers, arithmetic);
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < outputs.size(); ++i) {
    TensorType type = program.buffers[step.outputs[i]].type;
    if (arithmetic.all_double && IsFloat(type.dtype)) type.dtype = DType::kF64;
    tensors.push_back(ToTensor(outputs[i], type));
  }
  return tensors;
}

Tensor CutWindow(const TileLoop& loop, size_t operand, int64_t tile,
                 const Tensor& value) {
  const Buffer& part = loop.tile->buffers[operand];
  const int64_t size = SizeOf(part.type.dtype);
  std::byte* bytes = nullptr;
  Tensor cut = Tensor::Allocate(part.type, &bytes);
  for (const WindowRun& run :
       RunsOf(loop.windows[operand], tile, value.shape(), part.type.shape)) {
    std::copy_n(value.bytes() + run.operand * size, run.count * size,
                bytes + run.part * size);
  }
  return cut;
}

Result<std::vector<Tensor>> Interpret(
    const Program& program, const std::map<std::string, Tensor>& inputs,
    const InterpreterOptions& options) {
  std::vector<std::vector<Element>> values(program.buffers.size());
  const std::vector<bool> read = ReadBuffers(program);
  Diagnostics errors;
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const Buffer& buffer = program.buffers[i];
    const bool state = buffer.kind == BufferKind::kState;
    if (buffer.kind == BufferKind::kConstant) {
      values[i] = ToElements(buffer.constant);
    } else if (state || buffer.kind == BufferKind::kInput) {
      const auto it = inputs.find(buffer.name);
      if (it == inputs.end() && state) {
        values[i] = buffer.constant.empty()
                        ? std::vector<Element>(buffer.type.shape.elements())
                        : ToElements(buffer.constant);
      } else if (it == inputs.end() && !read[i]) {
        continue;
      } else if (it == inputs.end()) {
        errors.push_back(Error({}, "input '{}' is missing", buffer.name));
      } else if (it->second.shape() != buffer.type.shape) {
        errors.push_back(Error({}, "input '{}' has shape {}, expected {}",
                               buffer.name, ToString(it->second.shape()),
                               ToString(buffer.type.shape)));
      } else {
        values[i] = ToElements(it->second);
      }
    }
  }
  if (!errors.empty()) return errors;

  std::vector<Tensor> so_far(options.after_step ? program.buffers.size() : 0);
  std::vector<const std::vector<Element>*> buffers;
  for (const auto& value : values) buffers.push_back(&value);
  const std::vector<bool> needed =
      NeededSteps(program, options.next_states != nullptr);
  for (size_t s = 0; s < program.steps.size(); ++s) {
    if (!needed[s] && !options.after_step) continue;
    const Step& step = program.steps[s];
    InterpretStep(program, step, buffers, options.arithmetic, values);
    if (!options.after_step) continue;
    for (const int buffer : step.outputs) {
      so_far[buffer] = ToTensor(values[buffer], program.buffers[buffer].type);
    }
    options.after_step(static_cast<int>(s), so_far);
  }

  std::vector<Tensor> results;
  for (const int output : program.BuffersOf(BufferKind::kOutput)) {
    TensorType type = program.buffers[output].type;
    if (options.arithmetic.all_double && IsFloat(type.dtype))
      type.dtype = DType::kF64;
    results.push_back(ToTensor(values[output], type));
  }
  if (options.next_states != nullptr) {
    for (const int next : program.BuffersOf(BufferKind::kNextState)) {
      const Buffer& state = program.buffers[program.buffers[next].state];
      TensorType type = state.type;
      if (options.arithmetic.all_double && IsFloat(type.dtype))
        type.dtype = DType::kF64;
      (*options.next_states)[state.name] = ToTensor(values[next], type);
    }
  }
  return results;
}

}  // namespace mxc
