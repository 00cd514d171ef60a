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
  std::vector<Role> roles;
  for (const Layout::Dim& part : layout.dims) {
    roles.push_back(axes[static_cast<size_t>(part.axis)]);
  }
  return RoleStridesOf(c, roles, layout.strides());
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
