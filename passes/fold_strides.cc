// SPDX-License-Identifier: Apache-2.0
// fold-strides: a strided convolution becomes one of stride 1 over the phases
// of its data, where that has a faster algorithm.
//
//   x[3, 224, 224]                       p[12, 112, 112] = x, the four pixels
//   y[64, 112, 112] = conv 7x7 / 2 (x) ⇒     of every 2x2 as channels
//                                        y[64, 112, 112] = conv 4x4 (p)
//
// Along each axis, position i + shift = stride·h + phase of the data becomes
// position h of channel (c, phase): the kernel's positions fall into ⌈kernel /
// stride⌉ values of h where the shift is chosen well, those beyond its ends get
// weights of zero. That multiplies more (192 products in place of 147), but
// Winograd's algorithm, which computes no strided convolutions, needs far fewer
// (31 in tiles of 5x5). The catalog's estimates decide, with the copy into
// phases; a constant weight is permuted now, others stay as they are.
#include <algorithm>
#include <optional>

#include "ir/program/add_buffer.h"
#include "ir/program/steps/contraction.h"
#include "ir/program/steps/map.h"
#include "ir/support/division.h"
#include "passes/dead_code.h"
#include "passes/evaluation_cost.h"
#include "passes/kernel_seconds.h"
#include "passes/passes.h"
#include "passes/step_readers.h"

namespace mxc {
namespace {

// One spatial axis in phases.
struct Phases {
  int64_t stride = 1, pad = 0;  // of the convolution that was
  int64_t shift = 0;
  // Extents of the new convolution, whose stride is 1.
  int64_t input = 1, kernel = 1, low = 0;

  // The position of the data, or beyond it, at position h of a phase.
  Expr Data(const Expr& h, const Expr& phase) const {
    return h * Expr(stride) + phase - Expr(shift);
  }
  // The kernel's position, or beyond it, at the new kernel's position.
  int64_t Weight(int64_t position, int64_t phase) const {
    return stride * (position - low) + phase - shift + pad;
  }
};

// The shift that leaves the smallest kernel.
Phases PhasesOf(const Contraction& c, size_t axis) {
  Phases best;
  for (int64_t shift = 0; shift < c.stride[axis]; ++shift) {
    Phases phases{c.stride[axis], c.pad[axis], shift};
    const int64_t first = DivideDown(shift - phases.pad, phases.stride);
    const int64_t last =
        DivideDown(shift - phases.pad + c.kernel[axis] - 1, phases.stride);
    phases.low = -first;
    phases.kernel = last - first + 1;
    phases.input = DivideUp(c.input[axis] + shift, phases.stride);
    if (shift == 0 || phases.kernel < best.kernel) best = phases;
  }
  return best;
}

// A convolution f[N, C, spatial …] by f[O, C, spatial …] whose every axis is
// strided by less than the kernel.
bool MayFold(const Contraction& c) {
  if (c.groups != 1 || c.flip || c.kernel.empty()) return false;
  const auto in_order = [&](const std::vector<Role>& axes) {
    if (axes.size() != c.kernel.size() + 2) return false;
    for (size_t d = 0; d < c.kernel.size(); ++d) {
      const auto role =
          static_cast<Role>(static_cast<size_t>(Role::kSpatial0) + d);
      if (axes[d + 2] != role) return false;
    }
    return true;
  };
  const auto is = [](Role role, Role plain, Role with_group) {
    return role == plain || role == with_group;
  };
  if (!in_order(c.data_axes) || !in_order(c.weight_axes)) return false;
  for (size_t d = 0; d < c.kernel.size(); ++d) {
    const bool strided = c.stride[d] > 1 && c.stride[d] < c.kernel[d];
    if (!strided || c.dilate[d] != 1 || c.data_dilate[d] != 1 || c.pad[d] < 0) {
      return false;
    }
  }
  return c.data_axes[0] == Role::kBatch &&
         is(c.data_axes[1], Role::kIn, Role::kGroupIn) &&
         is(c.weight_axes[0], Role::kOut, Role::kGroupOut) &&
         c.weight_axes[1] == Role::kIn;
}

class Folding {
 public:
  explicit Folding(const Contraction& c) : before_(c), after_(c) {
    for (size_t d = 0; d < c.kernel.size(); ++d) {
      axes_.push_back(PhasesOf(c, d));
      const Phases& axis = axes_.back();
      after_.in *= axis.stride;
      after_.input[d] = axis.input;
      after_.kernel[d] = axis.kernel;
      after_.stride[d] = 1;
      after_.pad[d] = axis.low;
    }
  }

  const Contraction& after() const { return after_; }

  // The data's phases, as a function of operand 0.
  Store DataStore() const {
    Extents extent = {before_.batch, after_.in};
    extent.insert(extent.end(), after_.input.begin(), after_.input.end());
    Expr channel = Var(1), inside;
    std::vector<Expr> index(extent.size());
    for (size_t d = axes_.size(); d-- > 0;) {
      const Expr phase = channel % Expr(axes_[d].stride);
      channel = channel / Expr(axes_[d].stride);
      index[d + 2] = axes_[d].Data(Var(static_cast<int>(d) + 2), phase);
      const Expr within =
          Expr(0) <= index[d + 2] && index[d + 2] < Expr(before_.input[d]);
      inside = inside ? within && inside : within;
    }
    index[0] = Var(0);
    index[1] = channel;
    const Extents begin(extent.size(), 0);
    const DType dtype = before_.types.data;
    const Expr load = Load(0, dtype, std::move(index));
    return {0, begin, extent,
            Simplify(Select(inside, load, Constant(0, dtype)),
                     BoxOf(begin, extent))};
  }

  Tensor Weight(const Tensor& weight) const {
    Extents dims = {before_.out, after_.in};
    dims.insert(dims.end(), after_.kernel.begin(), after_.kernel.end());
    const Shape shape(dims);
    const DType dtype = weight.type().dtype;
    std::byte* to = nullptr;
    Tensor folded = Tensor::Allocate({dtype, shape}, &to);
    Extents index(dims.size(), 0);
    for (int64_t i = 0; i < shape.elements(); ++i) {
      int64_t rest = i;
      for (size_t axis = dims.size(); axis-- > 0; rest /= dims[axis]) {
        index[axis] = rest % dims[axis];
      }
      const int64_t from = WeightElement(index);
      StoreElement(to + i * SizeOf(dtype), dtype,
                   from < 0 ? 0 : weight.At(from));
    }
    return folded;
  }

 private:
  // Which element of the weight an index of the new one stands for; -1: none.
  int64_t WeightElement(const Extents& index) const {
    int64_t channel = index[1], element = 0;
    Extents position(axes_.size());
    for (size_t d = axes_.size(); d-- > 0;) {
      position[d] = axes_[d].Weight(index[d + 2], channel % axes_[d].stride);
      channel /= axes_[d].stride;
      if (position[d] < 0 || position[d] >= before_.kernel[d]) return -1;
    }
    element = index[0] * before_.in + channel;
    for (size_t d = 0; d < axes_.size(); ++d) {
      element = element * before_.kernel[d] + position[d];
    }
    return element;
  }

  const Contraction before_;
  Contraction after_;
  std::vector<Phases> axes_;
};

// The step that writes the phases of the data of `step`, which then reads them.
std::optional<Step> Fold(Program& program, Step& step,
                         const KernelCatalog& catalog, const Machine& machine) {
  Contraction& c = step.contraction()->contraction;
  const Buffer& data = program.buffers[step.inputs[0]];
  const Buffer& weight = program.buffers[step.inputs[1]];
  if (weight.kind != BufferKind::kConstant || !MayFold(c)) return std::nullopt;
  const Folding folding(c);
  const Store phases = folding.DataStore();
  const double copy = HoistedCost(phases) / machine.elements_per_second;
  const auto before = KernelSeconds(catalog, c, /*constant_weight=*/true);
  const auto after = KernelSeconds(catalog, folding.after(), true);
  if (!before || !after || *after + copy >= *before) return std::nullopt;

  Step split;
  split.name = step.name + "/phases";
  split.origins = step.origins;
  split.loc = step.loc;
  split.inputs = {step.inputs[0]};
  split.body = Map{{phases}};
  const Tensor permuted = folding.Weight(weight.constant);
  const std::string data_name = data.name, weight_name = weight.name;
  split.outputs = {AddBuffer(program, data_name + "/phases",
                             {c.types.data, Shape(phases.extent)})};
  step.inputs[0] = split.outputs[0];
  step.inputs[1] = AddBuffer(program, weight_name + "/phases", permuted.type(),
                             BufferKind::kConstant);
  program.buffers.back().constant = permuted;
  c = folding.after();
  return split;
}

}  // namespace

Result<bool> FoldStrides(Program& program, PassContext& context) {
  if (context.catalog == nullptr) return false;
  bool changed = false;
  std::vector<Step> steps;
  for (Step& step : program.steps) {
    if (step.contraction()) {
      if (auto split =
              Fold(program, step, *context.catalog, context.machine())) {
        steps.push_back(std::move(*split));
        changed = true;
      }
    }
    steps.push_back(std::move(step));
  }
  program.steps = std::move(steps);
  if (changed) RemoveUnusedBuffers(program);
  return changed;
}

}  // namespace mxc
