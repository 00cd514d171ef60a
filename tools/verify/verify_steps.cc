// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/verify_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "ir/program/interpreter.h"
#include "ir/program/steps/repeat.h"
#include "runtime/train/random.h"
#include "tools/arrays.h"
#include "tools/output_file.h"
#include "tools/verify/conditioning_bound.h"
#include "tools/verify/rounding_bound.h"

namespace mxc {
namespace {

namespace fs = std::filesystem;

// NumPy has no bfloat16.
Status WriteValues(const std::string& path, const Tensor& tensor) {
  if (tensor.type().dtype != DType::kBF16) return WriteNpyTensor(path, tensor);
  const TensorType type = {DType::kF32, tensor.shape()};
  std::byte* to = nullptr;
  const Tensor wide = Tensor::Allocate(type, &to);
  for (int64_t i = 0; i < type.shape.elements(); ++i) {
    StoreElement(to + i * SizeOf(type.dtype), type.dtype, tensor.At(i));
  }
  return WriteNpyTensor(path, wide);
}

// One step alone, its operands beside it: enough to see the error again.
Status WriteRepro(const std::string& folder, const Program& program, int step,
                  std::span<const Tensor> inputs, const Tensor& found,
                  const Tensor& expected) {
  Program alone;
  alone.name = program.name;
  alone.entry = program.entry;
  alone.steps = {program.steps[step]};
  Step& only = alone.steps.front();
  const auto keep = [&](int& operand, BufferKind kind) {
    Buffer buffer = program.buffers[operand];
    buffer.kind = kind;
    buffer.alias_of = -1;
    buffer.state = -1;
    buffer.offset = -1;
    operand = static_cast<int>(alone.buffers.size());
    alone.buffers.push_back(buffer);
  };
  for (int& input : only.inputs) keep(input, BufferKind::kInput);
  const auto values =
      only.outputs.size() - static_cast<size_t>(only.body.workspaces());
  for (size_t i = 0; i < only.outputs.size(); ++i) {
    keep(only.outputs[i],
         i < values ? BufferKind::kOutput : BufferKind::kInternal);
  }
  MXC_RETURN_IF_ERROR(WriteOutput(folder + "/step.program", Print(alone)));
  for (size_t i = 0; i < inputs.size(); ++i) {
    MXC_RETURN_IF_ERROR(
        WriteValues(fmt::format("{}/input_{}.npy", folder, i), inputs[i]));
  }
  MXC_RETURN_IF_ERROR(WriteValues(folder + "/found.npy", found));
  return WriteValues(folder + "/expected.npy", expected);
}

Diagnostic Wrong(const Program& program, int step, const std::string& kernel,
                 const Buffer& output, const Difference& d) {
  Diagnostic wrong;
  wrong.loc = program.steps[step].loc;
  wrong.message =
      fmt::format("step {} '{}' is wrong: '{}' at {} is {}, expected {}", step,
                  program.steps[step].name, output.name,
                  IndexText(d.worst, output.type.shape), d.found, d.expected);
  wrong.notes = {fmt::format("kernel {}", kernel),
                 fmt::format("largest error {:.2e} of largest value {:.2e}",
                             d.error, d.scale)};
  return wrong;
}

// How far an output of the step is from what it should be. In a loop over tiles
// the bounds went through later steps by their values at both ends, which says
// nothing where those are not monotone (softmax): the largest of them is then
// added to the tolerance.
Difference CompareOutput(const Step& step, const Tensor& found,
                         const Tensor& expected, const Tolerance& tolerance,
                         const Tensor* bounds) {
  if (bounds == nullptr || step.loop() == nullptr) {
    return Compare(found, expected, tolerance, bounds);
  }
  Tolerance more = tolerance;
  more.more += *std::ranges::max_element(bounds->floats());
  return Compare(found, expected, more);
}

// Returns whether the buffer's elements lie in it as they are, not transformed
// for a kernel (Winograd): else what the steps made of them cannot be read.
bool Readable(const Buffer& buffer) {
  return buffer.layout.basis == KernelBasis::kPlain;
}

void WriteInputs(const Program& program, const Inputs& inputs,
                 StepRunner& runner) {
  for (const int b : program.BuffersOf(BufferKind::kInput)) {
    runner.Write(b, inputs.at(program.buffers[b].name));
  }
  for (const int b : program.BuffersOf(BufferKind::kState)) {
    const Tensor& initial = program.buffers[b].constant;
    const auto given = inputs.find(program.buffers[b].name);
    if (given != inputs.end()) {
      runner.Write(b, given->second);
    } else if (!initial.empty()) {
      runner.Write(b, initial);
    }
  }
}

// The tensor with random numbers of the deviations that belong to the bounds.
Tensor Disturbed(const Tensor& value, const Tensor& bounds,
                 const train::RandomStream& random) {
  std::vector<float> numbers(static_cast<size_t>(value.shape().elements()));
  random.FillNormal(1 / kRoundingDeviations, numbers);
  const DType dtype = value.type().dtype;
  std::byte* to = nullptr;
  Tensor disturbed = Tensor::Allocate(value.type(), &to);
  for (int64_t i = 0; i < std::ssize(numbers); ++i) {
    StoreElement(to + i * SizeOf(dtype), dtype,
                 value.At(i) + numbers[static_cast<size_t>(i)] *
                                   bounds.floats()[static_cast<size_t>(i)]);
  }
  return disturbed;
}

Result<std::vector<Tensor>> RunDisturbed(const Program& program,
                                         const Inputs& inputs,
                                         StepRunner& runner,
                                         const std::vector<StepResult>& steps,
                                         uint64_t seed) {
  WriteInputs(program, inputs, runner);
  for (size_t s = 0; s < program.steps.size(); ++s) {
    MXC_RETURN_IF_ERROR(runner.RunStep(static_cast<int>(s)));
    if (steps[s].bounds.empty()) continue;
    for (size_t o = 0; o < steps[s].bounds.size(); ++o) {
      if (steps[s].bounds[o].empty()) continue;
      const int output = program.steps[s].outputs[o];
      const train::RandomStream random(
          seed, o == 0 ? fmt::format("{}", s) : fmt::format("{}/{}", s, o));
      runner.Write(output,
                   Disturbed(runner.Read(output), steps[s].bounds[o], random));
    }
  }
  std::vector<Tensor> outputs;
  for (const int b : program.BuffersOf(BufferKind::kOutput)) {
    outputs.push_back(runner.Read(b));
  }
  return outputs;
}

// Of the tensors' bytes, one after the other.
size_t HashOf(std::span<const Tensor> tensors) {
  size_t hash = 0;
  for (const Tensor& tensor : tensors) {
    const auto size = static_cast<size_t>(tensor.shape().elements() *
                                          SizeOf(tensor.type().dtype));
    const std::string_view bytes(reinterpret_cast<const char*>(tensor.bytes()),
                                 size);
    hash = hash * 0x9e3779b97f4a7c15u + std::hash<std::string_view>()(bytes);
  }
  return hash;
}

// What the step computes, whatever its operands are called. Where its outputs
// cannot be read nothing is known of it.
std::optional<RightSteps::Run> RunOf(const Program& program, const Step& step,
                                     std::span<const Tensor> operands,
                                     const StepRunner& runner) {
  std::vector<Tensor> found;
  for (size_t o = 0;
       o + static_cast<size_t>(step.body.workspaces()) < step.outputs.size();
       ++o) {
    if (!Readable(program.buffers[step.outputs[o]])) return std::nullopt;
    found.push_back(runner.Read(step.outputs[o]));
  }
  const ExprText text = [](const Expr& e) { return Print(e); };
  return RightSteps::Run(KeyOf(program, step, text), HashOf(operands),
                         HashOf(found));
}

}  // namespace

const StepResult* RightSteps::Find(const Run& run) const {
  const auto found = results_.find(run);
  return found == results_.end() ? nullptr : &found->second;
}

void RightSteps::Add(Run run, const StepResult& result) {
  results_.try_emplace(std::move(run), result);
}

double StepResult::bound() const {
  double largest = 0;
  for (const Tensor& of_output : bounds) {
    if (of_output.empty()) continue;
    for (const float bound : of_output.floats()) {
      largest = std::max<double>(largest, bound);
    }
  }
  return difference.scale > 0 ? largest / difference.scale : largest;
}

Result<std::vector<double>> OutputBounds(const Program& program,
                                         const Inputs& inputs,
                                         StepRunner& runner,
                                         const std::vector<StepResult>& steps) {
  constexpr uint64_t kRuns = 8;
  const size_t count = program.BuffersOf(BufferKind::kOutput).size();
  std::vector<double> bounds(count);
  if (std::ranges::all_of(
          steps, [](const StepResult& step) { return step.bounds.empty(); })) {
    return bounds;
  }
  std::vector<std::vector<double>> squares(count);
  std::vector<Tensor> as_it_is;
  for (uint64_t run = 0; run <= kRuns; ++run) {
    const std::vector<StepResult> calm(steps.size());
    MXC_ASSIGN(
        const std::vector<Tensor> outputs,
        RunDisturbed(program, inputs, runner, run == 0 ? calm : steps, run));
    if (run == 0) as_it_is = outputs;
    for (size_t o = 0; o < count; ++o) {
      const int64_t elements = outputs[o].shape().elements();
      squares[o].resize(static_cast<size_t>(elements));
      for (int64_t i = 0; i < elements; ++i) {
        const double change = outputs[o].At(i) - as_it_is[o].At(i);
        if (std::isfinite(change)) squares[o][i] += change * change / kRuns;
      }
    }
  }
  for (size_t o = 0; o < count; ++o) {
    for (const double square : squares[o]) {
      bounds[o] = std::max(bounds[o], kRoundingDeviations * std::sqrt(square));
    }
  }
  return bounds;
}

// Slices without a turn keep the bytes that they had: zeros, as the interpreter
// has them. What is carried begins in the bytes of its stack.
void ClearSlices(const Program& program, const Step& step,
                 const std::vector<Tensor>& operands, StepRunner& runner) {
  const Repeat* repeat = step.body.As<Repeat>();
  if (repeat == nullptr || !repeat->may_end_early()) return;
  const std::vector<int> buffers = step.operands();
  for (size_t i = step.inputs.size(); i < repeat->sliced.size(); ++i) {
    if (!repeat->sliced[i]) continue;
    const TensorType& type = program.buffers[buffers[i]].type;
    runner.Write(buffers[i], Tensor::Filled(type, 0));
  }
  for (const Repeat::Carry& carry : repeat->carries) {
    if (!repeat->sliced[carry.output]) continue;
    runner.Write(buffers[carry.input], operands[carry.input]);
  }
}

Result<std::vector<StepResult>> RunSteps(
    const Program& program, const Inputs& inputs, StepRunner& runner,
    const Tolerance& tolerance, const std::string& repro_folder,
    RightSteps& right, const StepPrice* price, WorkCount* count) {
  if (count != nullptr) count->total += std::ssize(program.steps);
  WriteInputs(program, inputs, runner);
  std::map<int, Tensor> unreadable;  // buffers, as they must be
  const auto read = [&](int buffer) {
    const auto found = unreadable.find(buffer);
    return found == unreadable.end() ? runner.Read(buffer) : found->second;
  };
  std::vector<StepResult> results;
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = program.steps[s];
    const int index = static_cast<int>(s);
    if (count != nullptr) count->done = index;
    std::vector<Tensor> operands;
    for (const int input : step.inputs) operands.push_back(read(input));
    ClearSlices(program, step, operands, runner);
    MXC_RETURN_IF_ERROR(runner.RunStep(index));
    const auto run = RunOf(program, step, operands, runner);
    const StepResult* before = run ? right.Find(*run) : nullptr;
    if (before != nullptr) {
      results.push_back(*before);
      results.back().name = step.name;
      results.back().kernel = runner.KernelName(index);
      continue;
    }
    const std::vector<Tensor> expected = InterpretStep(program, step, operands);
    StepResult result;
    if (price != nullptr) {
      result.price = price->Of(program, step, operands, expected[0]);
    }
    result.name = step.name;
    result.kernel = runner.KernelName(index);
    result.bounds = RoundingBounds(program, step, operands);
    const auto workspaces = static_cast<size_t>(step.body.workspaces());
    for (size_t o = 0; o + workspaces < expected.size(); ++o) {
      if (!Readable(program.buffers[step.outputs[o]])) {
        unreadable[step.outputs[o]] = expected[o];
        continue;
      }
      const Tensor found = runner.Read(step.outputs[o]);
      const bool bounded =
          o < result.bounds.size() && !result.bounds[o].empty();
      const Tensor* bounds = bounded ? &result.bounds[o] : nullptr;
      Difference d = CompareOutput(step, found, expected[o], tolerance, bounds);
      if (d.worst >= 0 && result.bounds.empty()) {
        std::vector<Tensor> wider =
            ConditioningBounds(program, step, operands, expected, tolerance);
        if (!wider[o].empty()) {
          d = Compare(found, expected[o], tolerance, &wider[o]);
        }
        result.ill_conditioned = d.worst < 0;
        if (result.ill_conditioned) result.bounds = std::move(wider);
      }
      if (d.relative() >= result.difference.relative()) result.difference = d;
      if (d.worst < 0) continue;
      MXC_RETURN_IF_ERROR(WriteRepro(repro_folder, program, index, operands,
                                     found, expected[o]));
      Diagnostic wrong = Wrong(program, index, result.kernel,
                               program.buffers[step.outputs[o]], d);
      wrong.notes.push_back("repro in " + repro_folder);
      return wrong;
    }
    if (run) right.Add(*run, result);
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace mxc
