// SPDX-License-Identifier: Apache-2.0
#include "ir/program/interpreter.h"

#include <algorithm>

#include "ir/program/in_place.h"
#include "ir/program/steps/tile_loop.h"

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

bool IsGiven(const Buffer& buffer) {
  return buffer.kind == BufferKind::kState || buffer.kind == BufferKind::kInput;
}

bool HasShapeOf(const Buffer& buffer, const Tensor& given,
                Diagnostics& errors) {
  if (given.shape() == buffer.type.shape) return true;
  errors.push_back(Error({}, "input '{}' has shape {}, expected {}",
                         buffer.name, ToString(given.shape()),
                         ToString(buffer.type.shape)));
  return false;
}

// Of all buffers: what they hold before the first step, nothing in those that
// steps write.
Result<std::vector<std::vector<Element>>> InitialValues(
    const Program& program, const std::map<std::string, Tensor>& inputs) {
  std::vector<std::vector<Element>> values(program.buffers.size());
  const std::vector<bool> read = ReadBuffers(program);
  Diagnostics errors;
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const Buffer& buffer = program.buffers[i];
    const bool state = buffer.kind == BufferKind::kState;
    if (buffer.kind == BufferKind::kConstant) {
      values[i] = ToElements(buffer.constant);
    }
    if (!IsGiven(buffer)) continue;
    const auto it = inputs.find(buffer.name);
    if (it != inputs.end()) {
      if (!HasShapeOf(buffer, it->second, errors)) continue;
      values[i] = ToElements(it->second);
    } else if (state) {
      values[i] = buffer.constant.empty()
                      ? std::vector<Element>(buffer.type.shape.elements())
                      : ToElements(buffer.constant);
    } else if (read[i]) {
      errors.push_back(Error({}, "input '{}' is missing", buffer.name));
    }
  }
  if (!errors.empty()) return errors;
  return values;
}

std::vector<const std::vector<Element>*> PointersTo(
    const std::vector<std::vector<Element>>& values) {
  std::vector<const std::vector<Element>*> pointers;
  for (const auto& value : values) pointers.push_back(&value);
  return pointers;
}

// What a value of that type is handed over as.
TensorType ResultType(TensorType type, const FloatArithmetic& arithmetic) {
  if (arithmetic.all_double && IsFloat(type.dtype)) type.dtype = DType::kF64;
  return type;
}

std::vector<Tensor> OutputsAmong(
    const Program& program,
    std::span<const std::vector<Element>* const> buffers,
    const FloatArithmetic& arithmetic) {
  std::vector<Tensor> outputs;
  for (const int output : program.BuffersOf(BufferKind::kOutput)) {
    outputs.push_back(
        ToTensor(*buffers[output],
                 ResultType(program.buffers[output].type, arithmetic)));
  }
  return outputs;
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
    const TensorType& type = program.buffers[step.outputs[i]].type;
    tensors.push_back(ToTensor(outputs[i], ResultType(type, arithmetic)));
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
  MXC_ASSIGN(std::vector<std::vector<Element>> values,
             InitialValues(program, inputs));
  std::vector<Tensor> so_far(options.after_step ? program.buffers.size() : 0);
  const std::vector<const std::vector<Element>*> buffers = PointersTo(values);
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
  if (options.next_states != nullptr) {
    for (const int next : program.BuffersOf(BufferKind::kNextState)) {
      const Buffer& state = program.buffers[program.buffers[next].state];
      (*options.next_states)[state.name] =
          ToTensor(values[next], ResultType(state.type, options.arithmetic));
    }
  }
  return OutputsAmong(program, buffers, options.arithmetic);
}

KeptRun::KeptRun(const Program& program, const FloatArithmetic& arithmetic)
    : program_(&program),
      arithmetic_(arithmetic),
      needed_(NeededSteps(program, /*states=*/false)) {}

Result<KeptRun> KeptRun::Of(const Program& program,
                            const std::map<std::string, Tensor>& inputs,
                            const FloatArithmetic& arithmetic) {
  KeptRun run(program, arithmetic);
  MXC_ASSIGN(run.values_, InitialValues(program, inputs));
  const std::vector<const std::vector<Element>*> buffers =
      PointersTo(run.values_);
  for (size_t s = 0; s < program.steps.size(); ++s) {
    if (!run.needed_[s]) continue;
    InterpretStep(program, program.steps[s], buffers, arithmetic, run.values_);
  }
  return run;
}

std::vector<Tensor> KeptRun::Outputs() const {
  return OutputsAmong(*program_, PointersTo(values_), arithmetic_);
}

Result<std::vector<Tensor>> KeptRun::OutputsWith(
    const std::map<std::string, Tensor>& changed) const {
  std::vector<std::vector<Element>> own(values_.size());
  std::vector<const std::vector<Element>*> buffers = PointersTo(values_);
  Diagnostics errors;
  for (size_t i = 0; i < program_->buffers.size(); ++i) {
    const Buffer& buffer = program_->buffers[i];
    if (!IsGiven(buffer)) continue;
    const auto it = changed.find(buffer.name);
    if (it == changed.end()) continue;
    if (!HasShapeOf(buffer, it->second, errors)) continue;
    own[i] = ToElements(it->second);
    buffers[i] = &own[i];
  }
  if (!errors.empty()) return errors;
  const auto is_own = [&](int b) { return buffers[b] == &own[b]; };
  for (size_t s = 0; s < program_->steps.size(); ++s) {
    const Step& step = program_->steps[s];
    if (!needed_[s] || std::ranges::none_of(step.operands(), is_own)) continue;
    InterpretStep(*program_, step, buffers, arithmetic_, own);
    for (const int b : step.outputs) buffers[b] = &own[b];
  }
  return OutputsAmong(*program_, buffers, arithmetic_);
}

}  // namespace mxc
