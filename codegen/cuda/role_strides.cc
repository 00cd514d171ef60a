// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/role_strides.h"

namespace mxc {

std::optional<RoleStrides> StridesOf(const Contraction& c,
                                     const std::vector<Role>& axes,
                                     const Layout& layout) {
  if (layout.dims.size() != axes.size() || layout.has_halo() ||
      layout.basis != KernelBasis::kPlain) {
    return std::nullopt;
  }
  RoleStrides found;
  const Extents strides = layout.strides();
  for (size_t part = 0; part < axes.size(); ++part) {
    const int64_t stride = strides[part];
    const auto within = [&](int64_t& inner, int64_t extent) {
      inner = stride;
      found.group = stride * extent;
    };
    switch (axes[static_cast<size_t>(layout.dims[part].axis)]) {
      case Role::kBatch:
        found.batch = stride;
        break;
      case Role::kGroup:
        found.group = stride;
        break;
      case Role::kIn:
        found.in = stride;
        break;
      case Role::kOut:
        found.out = stride;
        break;
      case Role::kGroupIn:
        within(found.in, c.in);
        break;
      case Role::kGroupOut:
        within(found.out, c.out);
        break;
      case Role::kGroupBatch:
        within(found.batch, c.batch);
        break;
      case Role::kSpatial0:
        found.spatial[0] = stride;
        break;
      case Role::kSpatial1:
        found.spatial[1] = stride;
        break;
      case Role::kSpatial2:
        found.spatial[2] = stride;
        break;
    }
  }
  return found;
}

std::optional<int64_t> BiasOf(const Program& program, const Step& step,
                              int64_t channels) {
  const ContractionStep& contraction = *step.contraction();
  Expr e = contraction.epilogue;
  if (e->kind == ExprKind::kCast) e = e->args[0];
  if (e->kind == ExprKind::kAcc) return 0;
  if (e->kind != ExprKind::kBinary || e->binary != BinaryOp::kAdd) {
    return std::nullopt;
  }
  const bool sum_first = e->args[0]->kind == ExprKind::kAcc;
  const Expr& sum = e->args[sum_first ? 0 : 1];
  const Expr& load = e->args[sum_first ? 1 : 0];
  if (sum->kind != ExprKind::kAcc || load->kind != ExprKind::kLoad ||
      load->args.size() != 1 || load->args[0]->kind != ExprKind::kVar) {
    return std::nullopt;
  }
  const auto axis = static_cast<size_t>(load->args[0]->index);
  const auto& roles = contraction.contraction.output_axes;
  const bool of_channel =
      axis < roles.size() &&
      (roles[axis] == Role::kOut || roles[axis] == Role::kGroupOut);
  const Buffer& bias =
      program.buffers[step.inputs[static_cast<size_t>(load->index)]];
  if (!of_channel || bias.type.dtype != DType::kF32 ||
      bias.type.shape.elements() != channels || !bias.layout.row_major()) {
    return std::nullopt;
  }
  return load->index;
}

}  // namespace mxc
