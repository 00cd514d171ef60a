// SPDX-License-Identifier: Apache-2.0
#include "tests/codegen/map_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <random>

#include "ir/program/interpreter.h"
#include "ir/support/division.h"
#include "tests/codegen/emulated_kernel.h"
#include "tests/codegen/native_kernel.h"
#include "tests/codegen/toy/toy_backend.h"
#include "tests/support/positions.h"

namespace mxc::test {
namespace {

constexpr std::byte kUntouched{0xff};

using MapMemory = std::unique_ptr<FencedFloats>;

// Of a multiple of `alignment` bytes, and aligned to them.
MapMemory Allocate(const Buffer& buffer, int64_t alignment) {
  return std::make_unique<FencedFloats>(
      static_cast<size_t>(DivideUp(buffer.reach_bytes(), alignment) *
                          alignment / 4),
      FencedFloats::Fence::kAfter);
}

std::byte* Bytes(const MapMemory& memory) {
  return reinterpret_cast<std::byte*>(memory->data());
}

Extents Unflatten(int64_t i, const Shape& shape) {
  Extents index(static_cast<size_t>(shape.rank()));
  for (size_t a = index.size(); a-- > 0;) {
    const int64_t extent = shape[static_cast<int>(a)];
    index[a] = i % extent;
    i /= extent;
  }
  return index;
}

// Elements of the buffer's memory: 0 halo, 1 padding of a block, 2 the tensor,
// 3 a gap.
std::vector<int> Kinds(const Buffer& buffer) {
  std::vector<int> kinds(static_cast<size_t>(buffer.layout.reach()), 3);
  // Where no element of the tensor lies although no halo is there.
  const int other = buffer.layout.has_halo() ? 0 : 1;
  ForEachPosition(buffer.layout, [&](int64_t at, const Extents&) {
    kinds[static_cast<size_t>(at)] = other;
  });
  for (int64_t i = 0; i < buffer.type.shape.elements(); ++i) {
    const Extents index = Unflatten(i, buffer.type.shape);
    kinds[static_cast<size_t>(buffer.layout.Offset(index))] = 2;
  }
  return kinds;
}

void Fill(const Buffer& buffer, const Tensor& tensor, std::byte* to) {
  const int64_t size = SizeOf(buffer.type.dtype);
  const std::vector<int> kinds = Kinds(buffer);
  for (size_t i = 0; i < kinds.size(); ++i) {
    const double beside[] = {0, 77, 0, std::nan("")};
    StoreElement(
        to + static_cast<int64_t>(i) * size, buffer.type.dtype,
        IsFloat(buffer.type.dtype) || kinds[i] < 3 ? beside[kinds[i]] : 99);
  }
  for (int64_t i = 0; i < buffer.type.shape.elements(); ++i) {
    const int64_t at = buffer.layout.Offset(Unflatten(i, buffer.type.shape));
    std::memcpy(to + at * size, tensor.bytes() + i * size,
                static_cast<size_t>(size));
  }
}

std::string CompareBuffer(const Buffer& buffer, const Tensor& expected,
                          const std::byte* got, double tolerance) {
  const int64_t size = SizeOf(buffer.type.dtype);
  double scale = 1;
  for (int64_t i = 0; i < buffer.type.shape.elements(); ++i) {
    const double y = std::fabs(expected.At(i));
    if (std::isfinite(y)) scale = std::max(scale, y);
  }
  if (!IsFloat(buffer.type.dtype)) tolerance = 0;
  if (buffer.type.dtype == DType::kF16) tolerance = 1e-3;
  if (buffer.type.dtype == DType::kBF16) tolerance = 8e-3;
  for (int64_t i = 0; i < buffer.type.shape.elements(); ++i) {
    const int64_t at = buffer.layout.Offset(Unflatten(i, buffer.type.shape));
    const Element y = LoadElement(got + at * size, buffer.type.dtype);
    const Element want = expected.ExactAt(i);
    const bool same = y == want || (std::isnan(y) && std::isnan(want)) ||
                      std::fabs(y - want) <= tolerance * scale;
    if (!same) {
      return fmt::format("{}{}: got {}, expected {}", buffer.name,
                         ToString(Unflatten(i, buffer.type.shape)), y, want);
    }
  }
  const std::vector<int> kinds = Kinds(buffer);
  for (size_t i = 0; i < kinds.size(); ++i) {
    const std::byte* at = got + static_cast<int64_t>(i) * size;
    if (kinds[i] == 3) {
      const auto untouched = [](std::byte b) { return b == kUntouched; };
      if (!std::all_of(at, at + size, untouched)) {
        return fmt::format("{}: a gap at {} was written", buffer.name, i);
      }
      continue;
    }
    const Element y = LoadElement(at, buffer.type.dtype);
    if (kinds[i] != 2 && y != 0) {
      return fmt::format("{} element {} beside the tensor is {}", buffer.name,
                         i, y);
    }
  }
  return "";
}

// The step's kernel as a target runs it.
class CaseKernel {
 public:
  CaseKernel(const Program& program, const Target& target,
             const Backend& backend)
      : plan_(backend.Plan(program, program.steps[0], target, {})) {
    if (target.device.empty()) {
      native_.emplace(target, plan_.write);
    } else {
      emulated_.emplace(target, plan_.write);
    }
  }

  int64_t tasks() const { return plan_.tasks; }

  // Tasks from the last to the first if `split`, else all at once, or one by one
  // where each is launched. Returns what a device would not have done.
  std::string Run(const std::vector<void*>& operands, bool split) const {
    if (emulated_) {
      return emulated_->Run(operands, plan_.launch,
                            {.backwards = split, .seed = split ? 1u : 0u});
    }
    using Order = NativeKernel::Order;
    if (split) {
      native_->RunEach(operands, plan_.tasks, Order::kBackwards);
    } else if (plan_.launch.grid[0] > 0) {
      native_->RunEach(operands, plan_.tasks, Order::kForwards);
    } else {
      native_->Run(operands, 0, plan_.tasks);
    }
    return "";
  }

 private:
  const KernelPlan plan_;
  std::optional<NativeKernel> native_;
  std::optional<EmulatedKernel> emulated_;
};

}  // namespace

int MapCase::In(TensorType type, Layout layout,
                std::function<Element(int64_t)> value) {
  const int id = static_cast<int>(program_.buffers.size());
  Buffer buffer;
  buffer.name = fmt::format("in{}", id);
  buffer.type = type;
  buffer.layout = std::move(layout);
  buffer.kind = BufferKind::kInput;
  program_.buffers.push_back(buffer);
  if (!value) {
    auto random = std::make_shared<std::mt19937>(1234 + id);
    const bool is_float = IsFloat(type.dtype);
    const bool is_bool = type.dtype == DType::kBool;
    value = [random, is_float, is_bool](int64_t) -> double {
      const uint32_t bits = (*random)();
      if (is_bool) return bits % 2;
      if (is_float) return static_cast<float>(bits * 4.0 / 4294967296.0 - 2);
      return 1 + bits % 5;
    };
  }
  values_.push_back(std::move(value));
  if (program_.steps.empty()) program_.steps.emplace_back();
  program_.steps[0].inputs.push_back(id);
  return id;
}

int MapCase::Out(TensorType type, Layout layout) {
  const int id = static_cast<int>(program_.buffers.size());
  Buffer buffer;
  buffer.name = fmt::format("out{}", id);
  buffer.type = type;
  buffer.layout = std::move(layout);
  buffer.kind = BufferKind::kInternal;
  program_.buffers.push_back(buffer);
  if (program_.steps.empty()) program_.steps.emplace_back();
  program_.steps[0].outputs.push_back(id);
  return static_cast<int>(program_.steps[0].outputs.size()) - 1;
}

void MapCase::Set(Expr value) {
  const int output = static_cast<int>(map_.stores.size());
  const int id = program_.steps[0].outputs[static_cast<size_t>(output)];
  const Shape& shape = program_.buffers[static_cast<size_t>(id)].type.shape;
  Box(output, Extents(static_cast<size_t>(shape.rank()), 0), shape.dims(),
      std::move(value));
}

void MapCase::Box(int output, Extents begin, Extents extent, Expr value) {
  map_.stores.push_back(
      {output, std::move(begin), std::move(extent), std::move(value)});
  program_.steps[0].body = map_;
}

Expr MapCase::At(int operand) const {
  const Shape& shape =
      program_.buffers[static_cast<size_t>(operand)].type.shape;
  std::vector<Expr> index;
  for (int a = 0; a < shape.rank(); ++a) index.push_back(Var(a));
  return At(operand, index);
}

Expr MapCase::At(int operand, std::vector<Expr> index) const {
  return Load(operand,
              program_.buffers[static_cast<size_t>(operand)].type.dtype,
              std::move(index));
}

// The case and its operands in memory; nothing is in the outputs yet.
struct MapCase::Placed {
  Program program;
  std::vector<Tensor> inputs;
  std::vector<MapMemory> memory;
  std::vector<void*> operands;

  const Step& step() const { return program.steps[0]; }
  const Buffer& Output(size_t k) const {
    return program.buffers[static_cast<size_t>(step().outputs[k])];
  }
  std::byte* OutputBytes(size_t k) const {
    return static_cast<std::byte*>(operands[inputs.size() + k]);
  }
  void ClearOutputs() const {
    for (size_t k = 0; k < step().outputs.size(); ++k) {
      std::memset(OutputBytes(k), std::to_integer<int>(kUntouched),
                  static_cast<size_t>(Output(k).reach_bytes()));
    }
  }
};

MapCase::Placed MapCase::Place(const Target& target) const {
  Placed placed{program_, {}, {}, {}};
  auto& [program, inputs, memory, operands] = placed;
  const Step& step = placed.step();
  const int64_t alignment = target.device.empty() ? 4 : 16;
  if (alignment > 4) {  // as planned in an arena
    for (const int id : step.outputs) program.buffers[id].offset = 0;
  }
  for (size_t k = 0; k < step.inputs.size(); ++k) {
    const Buffer& buffer = program.buffers[static_cast<size_t>(step.inputs[k])];
    std::byte* data = nullptr;
    Tensor tensor = Tensor::Allocate(buffer.type, &data);
    for (int64_t i = 0; i < buffer.type.shape.elements(); ++i) {
      StoreElement(data + i * SizeOf(buffer.type.dtype), buffer.type.dtype,
                   values_[k](i));
    }
    memory.push_back(Allocate(buffer, alignment));
    Fill(buffer, tensor, Bytes(memory.back()));
    operands.push_back(memory.back()->data());
    inputs.push_back(std::move(tensor));
  }
  for (const int id : step.outputs) {
    memory.push_back(
        Allocate(program.buffers[static_cast<size_t>(id)], alignment));
    operands.push_back(memory.back()->data());
  }
  return placed;
}

std::vector<Tensor> MapCase::Outputs(const Target& target) const {
  const Placed placed = Place(target);
  placed.ClearOutputs();
  const CaseKernel kernel(placed.program, target, BackendOf(target));
  const std::string refused = kernel.Run(placed.operands, /*split=*/false);
  MXC_CHECK(refused.empty(), "{}: {}", target.name, refused);
  std::vector<Tensor> outputs;
  for (size_t k = 0; k < placed.step().outputs.size(); ++k) {
    std::byte* to = nullptr;
    outputs.push_back(Tensor::Allocate(placed.Output(k).type, &to));
    MXC_CHECK(placed.Output(k).layout.row_major());
    std::memcpy(to, placed.OutputBytes(k), outputs.back().size_bytes());
  }
  return outputs;
}

std::string MapCase::Check(const Target& target, const Backend& backend,
                           double tolerance) const {
  const Placed placed = Place(target);
  const std::vector<Tensor> expected =
      InterpretStep(placed.program, placed.step(), placed.inputs);
  const CaseKernel kernel(placed.program, target, backend);
  // Tasks from the last to the first, then all at once.
  std::vector<std::vector<std::byte>> first;
  for (const bool split : {true, false}) {
    placed.ClearOutputs();
    const std::string refused = kernel.Run(placed.operands, split);
    if (!refused.empty()) return target.name + ": " + refused;
    for (size_t k = 0; k < expected.size(); ++k) {
      const Buffer& buffer = placed.Output(k);
      const std::byte* got = placed.OutputBytes(k);
      std::string wrong = CompareBuffer(buffer, expected[k], got, tolerance);
      if (!wrong.empty()) {
        return fmt::format("{} ({} tasks{}): {}", target.name, kernel.tasks(),
                           split ? ", split" : "", wrong);
      }
      std::vector<std::byte> bytes(got, got + buffer.reach_bytes());
      if (split) {
        first.push_back(std::move(bytes));
      } else if (first[k] != bytes) {
        return target.name + ": the bytes depend on the split of the tasks";
      }
    }
  }
  for (const MapMemory& each : placed.memory) {
    if (!each->PatternIntact()) return target.name + ": wrote out of bounds";
  }
  return "";
}

std::string MapCase::CheckAll(double tolerance) const {
  std::vector<Target> targets = RunnableTargets();
  targets.push_back(EmulatedTarget());
  for (const Target& target : targets) {
    std::string wrong = Check(target, tolerance);
    if (!wrong.empty()) return wrong;
  }
  return Check(ToyTarget(), ToyBackend(), tolerance);
}

Expr SumOver(int64_t extent, const std::function<Expr(Expr)>& body) {
  const int r = FreshReductionVar();
  return Reduce(ReduceOp::kSum, {{r, 0, Expr(extent)}}, body(Var(r)));
}

Expr MaxOver(int64_t extent, const std::function<Expr(Expr)>& body) {
  const int r = FreshReductionVar();
  return Reduce(ReduceOp::kMax, {{r, 0, Expr(extent)}}, body(Var(r)));
}

}  // namespace mxc::test
