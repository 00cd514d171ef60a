// SPDX-License-Identifier: Apache-2.0
#include "tests/codegen/contraction_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>

#include "codegen/artifact/weights.h"
#include "codegen/codegen.h"
#include "codegen/cpu/contraction/contraction.h"
#include "codegen/cpu/contraction/tile_choice.h"
#include "ir/program/int4_blocks.h"
#include "ir/program/interpreter.h"
#include "ir/program/role_strides.h"
#include "runtime/abi/abi.h"
#include "tests/codegen/native_kernel.h"
#include "tests/support/positions.h"

namespace mxc::test {
namespace {

Role SpatialRole(size_t i) {
  return static_cast<Role>(static_cast<int>(Role::kSpatial0) + i);
}

int ChannelAxis(const std::vector<Role>& axes) {
  const auto found = std::ranges::find_if(axes, [](Role role) {
    return role == Role::kOut || role == Role::kGroupOut;
  });
  return static_cast<int>(found - axes.begin());
}

Layout WithBorder(const Layout& layout, const std::vector<Role>& axes,
                  const Extents& low, const Extents& high, int64_t extra) {
  Extents all_low(axes.size(), 0), all_high(axes.size(), 0);
  for (size_t i = 0; i < low.size(); ++i) {
    const auto axis = std::ranges::find(axes, SpatialRole(i)) - axes.begin();
    all_low[axis] = low[i] + extra;
    all_high[axis] = high[i] + extra;
  }
  return layout.WithHalo(all_low, all_high);
}

Layout InBlocks(const Shape& shape, int axis, int64_t block) {
  return block == kWholeAxis ? Layout::AxisLast(shape, axis)
                             : Layout::Blocked(shape, axis, block);
}

Layout DataLayout(const Contraction& c, const Shape& shape,
                  const KernelCandidate& candidate, int64_t extra) {
  return WithBorder(InBlocks(shape, candidate.data_axis, candidate.data_block),
                    c.data_axes, candidate.halo_low, candidate.halo_high,
                    extra);
}

// A weight that is taken as an activation may have a border.
Layout WeightLayout(const Contraction& c, const Shape& shape,
                    const KernelCandidate& candidate, int64_t halo) {
  if (candidate.weight_block == 0) return candidate.weight;
  const Extents border(c.kernel.size(), halo);
  return WithBorder(
      InBlocks(shape, candidate.weight_axis, candidate.weight_block),
      c.weight_axes, border, border, 0);
}

Layout OutputLayout(const Contraction& c, const Shape& shape,
                    const KernelCandidate& candidate, int64_t halo) {
  const Extents border(c.kernel.size(), halo);
  return WithBorder(
      InBlocks(shape, candidate.output_axis, candidate.output_block),
      c.output_axes, border, border, 0);
}

// Calls f(index) for every index of the shape, in row-major order.
template <class F>
void ForEach(const Shape& shape, F f) {
  Extents index(shape.rank(), 0);
  for (int64_t i = 0; i < shape.elements(); ++i) {
    f(i, index);
    for (int axis = shape.rank(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
}

// Integers of at most 8 bits, so that all sums are small.
Tensor RandomTensor(const TensorType& type, std::mt19937_64& random) {
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::uniform_int_distribution<int> small(
      0, type.dtype == DType::kU8 ? 255 : 127);
  std::byte* to = nullptr;
  Tensor tensor = Tensor::Allocate(type, &to);
  for (int64_t i = 0; i < type.shape.elements(); ++i) {
    StoreElement(to + i * SizeOf(type.dtype), type.dtype,
                 IsFloat(type.dtype) ? uniform(random) : small(random));
  }
  return tensor;
}

// An operand in memory. Halo and weights' padding are zero; padding channels of
// activations hold something finite that must not matter, gaps what must not be
// touched.
class Memory {
 public:
  Memory(const Buffer& buffer, const Tensor* values, FencedFloats::Fence fence)
      : buffer_(buffer),
        dtype_(buffer.type.dtype),
        floats_((buffer.layout.reach() * SizeOf(dtype_) + 3) / 4, fence) {
    const bool weight = buffer.kind == BufferKind::kConstant;
    constexpr double padding = 1e4, unwritten = 77;
    const double unseen = IsFloat(dtype_) ? NAN : unwritten;
    std::fill_n(floats_.data(), floats_.size(), values == nullptr ? kGap : NAN);
    ForEachPosition(buffer.layout, [&](int64_t at, const Extents&) {
      // What a kernel does not write shows as a NaN.
      Set(at, values == nullptr ? unseen : padding);
    });
    if (values == nullptr) return;
    if (weight) {
      const std::vector<std::byte> laid = LayOut(*values, buffer.layout);
      std::memcpy(floats_.data(), laid.data(), laid.size());
      return;
    }
    ForEachOfBorder([&](int64_t at) { Set(at, 0); });
    ForEach(buffer.type.shape, [&](int64_t i, const Extents& index) {
      Set(buffer.layout.Offset(index), values->At(i));
    });
  }

  float* data() const { return floats_.data(); }
  bool intact() const { return floats_.PatternIntact(); }
  double At(const Extents& index) const {
    return Get(buffer_.layout.Offset(index));
  }
  bool AllFinite() const {
    bool finite = true;
    ForEachPosition(buffer_.layout, [&](int64_t at, const Extents&) {
      finite &= std::isfinite(Get(at));
    });
    return finite;
  }
  // Of an output.
  bool GapsIntact() const {
    const std::vector<float> gaps(floats_.size(), kGap);
    std::vector<bool> own(floats_.size() * sizeof(float) / Size(), false);
    ForEachPosition(buffer_.layout,
                    [&](int64_t at, const Extents&) { own[at] = true; });
    const auto* const gap = reinterpret_cast<const std::byte*>(gaps.data());
    for (size_t i = 0; i < own.size(); ++i) {
      const size_t at = i * Size();
      if (!own[i] && std::memcmp(bytes() + at, gap + at, Size()) != 0) {
        return false;
      }
    }
    return true;
  }
  bool BorderIsZero() const {
    bool zero = true;
    ForEachOfBorder([&](int64_t at) { zero &= Get(at) == 0; });
    return zero;
  }

 private:
  // Every element of the halo: the box of whole extents minus the interior.
  template <class F>
  void ForEachOfBorder(F f) const {
    const Layout& layout = buffer_.layout;
    ForEachPosition(layout, [&](int64_t at, const Extents& position) {
      for (size_t d = 0; d < position.size(); ++d) {
        const auto& [axis, extent, span] = layout.dims[d];
        const int64_t low = layout.halo_low[axis];
        const int64_t high = layout.halo_high[axis];
        if (position[d] < low || position[d] >= extent - high) {
          if (low + high > 0) return f(at);
        }
      }
    });
  }

  static constexpr float kGap = 2e30f;

  std::byte* bytes() const { return reinterpret_cast<std::byte*>(data()); }
  size_t Size() const { return static_cast<size_t>(SizeOf(dtype_)); }
  double Get(int64_t at) const {
    return LoadElement(bytes() + at * SizeOf(dtype_), dtype_);
  }
  void Set(int64_t at, double value) {
    StoreElement(bytes() + at * SizeOf(dtype_), dtype_, value);
  }

  Buffer buffer_;
  DType dtype_;
  FencedFloats floats_;
};

std::string Compare(const Memory& output, const Tensor& expected,
                    double tolerance) {
  double largest = 0, error = 0;
  Extents worst;
  ForEach(expected.shape(), [&](int64_t i, const Extents& index) {
    const double want = expected.At(i);
    const double got = output.At(index);
    largest = std::max(largest, std::fabs(want));
    const double e = std::isfinite(got) ? std::fabs(got - want) : INFINITY;
    if (e > error) {
      error = e;
      worst = index;
    }
  });
  if (error <= tolerance * largest) return "";
  return fmt::format("error {} at {} where the largest value is {}", error,
                     ToString(worst), largest);
}

std::string Name(const KernelCandidate& candidate) {
  const auto tile = contraction::TileOf(candidate.choice).tile;
  return fmt::format("{} {}c→{}c {}x{}", candidate.choice.algorithm,
                     candidate.data_block, candidate.output_block, tile.pixels,
                     tile.vectors);
}

bool Takes(const KernelCandidate& candidate, const Extents& maxima) {
  for (size_t i = 0; i < maxima.size(); ++i) {
    if (candidate.tile.empty() || candidate.tile[i] % maxima[i] != 0) {
      return false;
    }
  }
  return true;
}

std::string CheckCandidate(const ContractionCase& c,
                           const KernelCandidate& candidate,
                           const Target& target, std::mt19937_64& random,
                           double tolerance) {
  const Program program = Build(c, candidate);
  const Step& step = program.steps[0];
  const FunctionPlan plan = PlanContraction(program, step, target);
  if (plan.scratch_bytes > candidate.scratch_bytes) return "more scratch";
  const int operands = static_cast<int>(step.inputs.size()) + 1;
  const NativeKernel kernel(target, operands, plan.emit);

  std::vector<Tensor> inputs;
  for (const int input : step.inputs) {
    inputs.push_back(RandomTensor(program.buffers[input].type, random));
  }
  const Tensor expected = InterpretStep(program, step, inputs)[0];
  for (const auto fence :
       {FencedFloats::Fence::kAfter, FencedFloats::Fence::kBefore}) {
    std::vector<std::unique_ptr<Memory>> memory;
    std::vector<void*> pointers;
    for (int i = 0; i < operands; ++i) {
      const bool is_input = i + 1 < operands;
      const int buffer = is_input ? step.inputs[i] : step.outputs[0];
      memory.push_back(std::make_unique<Memory>(
          program.buffers[buffer], is_input ? &inputs[i] : nullptr, fence));
      pointers.push_back(memory.back()->data());
    }
    // As a thread does that takes three portions: tasks are independent, and
    // the scratch keeps what a portion left there.
    const FencedFloats scratch(plan.scratch_bytes / 4, fence);
    std::fill_n(scratch.data(), scratch.size(), NAN);
    if (scratch.size() > 0) std::memset(scratch.data(), 0, MXC_SCRATCH_NOTE);
    const int64_t half = plan.tasks / 2, more = (plan.tasks + half) / 2;
    kernel.Run(pointers, half, more, scratch.data());
    kernel.Run(pointers, more, plan.tasks, scratch.data());
    kernel.Run(pointers, 0, half, scratch.data());
    if (!scratch.PatternIntact()) return "bytes outside of scratch changed";
    const Memory& output = *memory.back();
    for (const auto& m : memory) {
      if (!m->intact()) return "bytes outside of an operand changed";
    }
    if (const std::string wrong = Compare(output, expected, tolerance);
        !wrong.empty()) {
      return wrong;
    }
    if (!output.AllFinite()) return "padding of the output is not finite";
    if (!output.GapsIntact()) return "a gap of the output changed";
    if (!output.BorderIsZero()) return "the halo of the output is not zero";
  }
  return "";
}

}  // namespace

Contraction Convolution(const ConvolutionShape& s) {
  Contraction c;
  c.batch = s.batch;
  c.groups = s.groups;
  c.in = s.in / s.groups;
  c.out = s.out / s.groups;
  c.input = s.input;
  c.kernel = s.kernel;
  const Extents ones(s.kernel.size(), 1), zeros(s.kernel.size(), 0);
  c.stride = s.stride.empty() ? ones : s.stride;
  c.dilate = s.dilate.empty() ? ones : s.dilate;
  c.pad = s.pad.empty() ? zeros : s.pad;
  c.data_dilate = ones;
  c.data_axes = {Role::kBatch, Role::kGroupIn};
  c.weight_axes = {Role::kGroupOut, Role::kIn};
  c.output_axes = {Role::kBatch, Role::kGroupOut};
  for (size_t i = 0; i < s.kernel.size(); ++i) {
    const int64_t window = c.dilate[i] * (s.kernel[i] - 1) + 1;
    c.output.push_back((s.input[i] + 2 * c.pad[i] - window) / c.stride[i] + 1);
    for (auto* axes : {&c.data_axes, &c.weight_axes, &c.output_axes}) {
      axes->push_back(SpatialRole(i));
    }
  }
  return c;
}

Contraction BackwardData(const ConvolutionShape& shape) {
  const Contraction forward = Convolution(shape);
  Contraction c = forward;
  std::swap(c.in, c.out);
  std::swap(c.input, c.output);
  c.data_dilate = forward.stride;
  c.stride.assign(forward.kernel.size(), 1);
  c.flip = true;
  for (size_t i = 0; i < c.kernel.size(); ++i) {
    c.pad[i] = c.dilate[i] * (c.kernel[i] - 1) - forward.pad[i];
  }
  c.weight_axes[0] = Role::kGroupIn;
  c.weight_axes[1] = Role::kOut;
  return c;
}

Contraction BackwardWeight(const ConvolutionShape& shape) {
  const Contraction forward = Convolution(shape);
  Contraction c = forward;
  c.batch = forward.in;
  c.in = forward.batch;
  std::swap(c.kernel, c.output);
  std::swap(c.stride, c.dilate);
  c.data_axes[0] = c.weight_axes[0] = Role::kIn;
  c.data_axes[1] = Role::kGroupBatch;
  c.weight_axes[1] = c.output_axes[0] = Role::kGroupOut;
  c.output_axes[1] = Role::kBatch;
  return c;
}

Contraction Product(int64_t groups, int64_t rows, int64_t in, int64_t out) {
  Contraction c;
  c.groups = groups;
  c.batch = rows;
  c.in = in;
  c.out = out;
  c.data_axes = {Role::kBatch, Role::kIn};
  c.weight_axes = {Role::kOut, Role::kIn};
  c.output_axes = {Role::kBatch, Role::kOut};
  if (groups > 1) {
    c.weight_axes = {Role::kIn, Role::kOut};
    for (auto* axes : {&c.data_axes, &c.weight_axes, &c.output_axes}) {
      axes->insert(axes->begin(), Role::kGroup);
    }
  }
  return c;
}

Contraction Typed(Contraction c, DType operands, DType output) {
  c.types = {operands, operands, SumTypeOf(operands, operands, output), output};
  return c;
}

Expr Bias(const Contraction& c) {
  return Cast(Load(2, c.types.output, {Var(ChannelAxis(c.output_axes))}),
              c.types.sum);
}

Expr Residual(const Contraction& c) {
  std::vector<Expr> index;
  for (size_t i = 0; i < c.output_axes.size(); ++i) {
    index.push_back(Var(static_cast<int>(i)));
  }
  return Cast(Load(3, c.types.output, std::move(index)), c.types.sum);
}

Program Build(const ContractionCase& test, const KernelCandidate& candidate) {
  const Contraction& c = test.contraction;
  const Shape data = DimsOf(c, c.data_axes, c.input);
  const Shape weight = c.int4_group > 0 ? Shape({c.out, WeightRows(c)})
                                        : DimsOf(c, c.weight_axes, c.kernel);
  const Shape output = DimsOf(c, c.output_axes, c.output);
  const Shape bias = {output[ChannelAxis(c.output_axes)]};
  Extents stored = c.output;
  for (size_t i = 0; i < test.maxima.size(); ++i) stored[i] /= test.maxima[i];
  const Shape result = DimsOf(c, c.output_axes, stored);
  Program program;
  const auto add = [&](std::string name, DType dtype, const Shape& shape,
                       Layout layout, BufferKind kind) {
    Buffer buffer;
    buffer.name = std::move(name);
    buffer.type = {dtype, shape};
    const bool window = test.windows && kind == BufferKind::kInternal;
    buffer.layout = window ? AsWindow(layout) : std::move(layout);
    buffer.kind = kind;
    program.buffers.push_back(std::move(buffer));
  };
  add("data", c.types.data, data,
      DataLayout(c, data, candidate, test.extra_halo), BufferKind::kInternal);
  add("weight", c.types.weight, weight,
      WeightLayout(c, weight, candidate, test.extra_halo),
      candidate.weight_block != 0 ? BufferKind::kInternal
                                  : BufferKind::kConstant);
  add("bias", c.types.output, bias, Layout::RowMajor(bias),
      BufferKind::kConstant);
  for (const auto& [name, shape] :
       {std::pair("residual", output), std::pair("output", result)}) {
    add(name, c.types.output, shape,
        OutputLayout(c, shape, candidate, test.output_halo),
        BufferKind::kInternal);
  }
  Step step;
  step.name = "step";
  step.inputs = {0, 1, 2, 3};
  step.outputs = {4};
  Contraction computed = c;
  if (candidate.flipped_weight) computed.flip = false;
  step.body = ContractionStep{computed, Cast(test.epilogue, c.types.output),
                              candidate.choice, test.maxima};
  program.steps.push_back(std::move(step));
  return program;
}

std::string Check(const ContractionCase& c, const Target& target, uint64_t seed,
                  double tolerance) {
  std::mt19937_64 random(seed);
  const auto catalog = MakeKernelCatalog(target, c.catalog);
  const auto candidates = catalog->Candidates(c.contraction);
  if (candidates.empty()) return "no candidate";
  for (const KernelCandidate& candidate : candidates) {
    if (!Takes(candidate, c.maxima)) continue;
    const std::string wrong =
        CheckCandidate(c, candidate, target, random, tolerance);
    if (!wrong.empty()) return Name(candidate) + ": " + wrong;
  }
  return "";
}

}  // namespace mxc::test
