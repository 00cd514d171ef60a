// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/library_convolution.h"

#include <algorithm>

#include "codegen/cuda/product_shape.h"
#include "codegen/cuda/role_strides.h"

namespace mxc {
namespace {

using Operand = Convolution::Tensor;
using Axis = Convolution::Axis;

// As ir/program/steps/contraction.h has gradients.
Convolution::Kind KindOf(const Contraction& c) {
  if (c.data_axes[0] == Role::kIn) return Convolution::kOfWeight;
  const bool exchanged =
      c.weight_axes[0] == Role::kGroupIn || c.weight_axes[0] == Role::kIn;
  return c.flip || exchanged ? Convolution::kOfData : Convolution::kForward;
}

// The forward convolution's, along one axis; nothing where the contraction is
// none of the kind.
std::optional<Axis> AxisOf(const Contraction& c, Convolution::Kind kind,
                           size_t i) {
  Axis axis;
  switch (kind) {
    case Convolution::kForward:
      axis = {c.input[i],  c.kernel[i], c.output[i],
              c.stride[i], c.dilate[i], c.pad[i]};
      if (c.data_dilate[i] != 1) return std::nullopt;
      break;
    case Convolution::kOfData:
      axis = {c.output[i], c.kernel[i],
              c.input[i],  c.data_dilate[i],
              c.dilate[i], c.dilate[i] * (c.kernel[i] - 1) - c.pad[i]};
      if (c.stride[i] != 1 || (!c.flip && c.kernel[i] != 1)) {
        return std::nullopt;
      }
      break;
    case Convolution::kOfWeight:
      axis = {c.input[i],  c.output[i], c.kernel[i],
              c.dilate[i], c.stride[i], c.pad[i]};
      if (c.data_dilate[i] != 1 || c.flip) return std::nullopt;
      break;
  }
  // What x must be extended by, so that all of y has its windows; less would do
  // where the last window leaves a rest.
  const int64_t needed = (axis.y - 1) * axis.stride +
                         (axis.w - 1) * axis.dilate + 1 - axis.x - axis.before;
  axis.after = std::max<int64_t>(0, needed);
  if (axis.before < 0 || needed <= -axis.stride) return std::nullopt;
  return axis;
}

// Nothing where a group's channels do not follow the last group's.
std::optional<Operand> OperandOf(const RoleStrides& strides, int64_t outer,
                                 int64_t channel, int64_t grouped,
                                 int64_t extent, int64_t groups, DType dtype) {
  if (groups > 1 && strides.group != grouped * extent) return std::nullopt;
  return Operand{static_cast<int64_t>(dtype), outer, channel, strides.spatial};
}

bool AreSmall(const Convolution& convolution) {
  return std::ranges::all_of(
      ConvolutionNumbers(convolution), [](const int64_t* number) {
        return *number >= 0 && *number <= kMostOfConvolution;
      });
}

}  // namespace

bool MayBeConvolution(const Contraction& c) {
  const auto is_float = [](DType dtype) {
    return dtype == DType::kF32 || dtype == DType::kF16 ||
           dtype == DType::kBF16;
  };
  const size_t axes = c.kernel.size();
  const bool empty = c.flops() == 0;
  return !empty && (axes == 2 || axes == 3) && c.types.sum == DType::kF32 &&
         c.types.data == c.types.weight && is_float(c.types.data) &&
         is_float(c.types.output) && c.data_axes.size() == axes + 2 &&
         c.weight_axes.size() == axes + 2 && c.output_axes.size() == axes + 2;
}

std::optional<int64_t> ConvolutionBias(const Program& program,
                                       const Step& step) {
  const Contraction& c = step.contraction()->contraction;
  const auto bias = BiasOf(program, step, c.groups * c.out);
  const bool biased = bias && *bias > 0;
  if (biased && KindOf(c) != Convolution::kForward) return std::nullopt;
  return bias;
}

std::optional<Convolution> ConvolutionOf(const Program& program,
                                         const Step& step) {
  const ContractionStep* contraction = step.contraction();
  if (contraction == nullptr || step.outputs.size() != 1 ||
      !contraction->maxima.empty() ||
      !MayBeConvolution(contraction->contraction)) {
    return std::nullopt;
  }
  const Contraction& c = contraction->contraction;
  const Convolution::Kind kind = KindOf(c);
  Convolution found;
  found.kind = kind;
  found.axes = std::ssize(c.kernel);
  found.groups = c.groups;
  for (size_t i = 0; i < c.kernel.size(); ++i) {
    const auto axis = AxisOf(c, kind, i);
    if (!axis) return std::nullopt;
    found.along[i] = *axis;
  }
  const auto strides_of = [&](const std::vector<Role>& axes, int buffer) {
    return StridesOf(c, axes,
                     program.buffers[static_cast<size_t>(buffer)].layout);
  };
  const auto data = strides_of(c.data_axes, step.inputs[0]);
  const auto weight = strides_of(c.weight_axes, step.inputs[1]);
  const auto out = strides_of(c.output_axes, step.outputs[0]);
  const auto bias = ConvolutionBias(program, step);
  if (!data || !weight || !out || !bias) return std::nullopt;
  const auto tensor = [&](const RoleStrides& s, int64_t outer, int64_t channel,
                          int64_t grouped, int64_t extent, DType dtype) {
    return OperandOf(s, outer, channel, grouped, extent, c.groups, dtype);
  };
  const ContractionTypes& t = c.types;
  std::optional<Operand> x, w, y;
  switch (kind) {
    case Convolution::kForward:
      found.images = c.batch, found.in = c.groups * c.in;
      found.out = c.groups * c.out;
      x = tensor(*data, data->batch, data->in, data->in, c.in, t.data);
      w = tensor(*weight, weight->out, weight->in, weight->out, c.out,
                 t.weight);
      y = tensor(*out, out->batch, out->out, out->out, c.out, t.output);
      break;
    case Convolution::kOfData:
      found.images = c.batch, found.in = c.groups * c.out;
      found.out = c.groups * c.in;
      y = tensor(*data, data->batch, data->in, data->in, c.in, t.data);
      w = tensor(*weight, weight->in, weight->out, weight->in, c.in, t.weight);
      x = tensor(*out, out->batch, out->out, out->out, c.out, t.output);
      break;
    case Convolution::kOfWeight:
      found.images = c.in, found.in = c.groups * c.batch;
      found.out = c.groups * c.out;
      x = tensor(*data, data->in, data->batch, data->batch, c.batch, t.data);
      y = tensor(*weight, weight->in, weight->out, weight->out, c.out,
                 t.weight);
      w = tensor(*out, out->out, out->batch, out->out, c.out, t.output);
      break;
  }
  if (!x || !w || !y) return std::nullopt;
  found.x = *x, found.w = *w, found.y = *y;
  found.bias = *bias;
  found.tf32 = contraction->choice.algorithm == kMmaTf32Algorithm ? 1 : 0;
  found.preferred = IsOfLibrary(contraction->choice) ? 1 : 0;
  if (!AreSmall(found)) return std::nullopt;
  return found;
}

}  // namespace mxc
