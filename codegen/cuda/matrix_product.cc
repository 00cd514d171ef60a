// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/matrix_product.h"

#include <algorithm>

#include "codegen/cuda/product_shape.h"

namespace mxc {
namespace {

// How far apart the elements of an operand lie along each dimension of the
// contraction.
struct RoleStrides {
  int64_t group = 0, batch = 0, in = 0, out = 0;
};

// Nothing where an axis lies in blocks or with a border. An axis of a group and
// what is within it, such as kGroupIn, is two of the contraction's dimensions.
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
      default:
        return std::nullopt;
    }
  }
  return found;
}

// The operand that an epilogue adds to each sum, -1 where it adds none.
std::optional<int64_t> BiasOf(const Program& program, const Step& step,
                              const ContractionStep& contraction) {
  const Expr& e = contraction.epilogue;
  if (e->kind == ExprKind::kAcc) return -1;
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
  const bool of_column =
      axis < roles.size() &&
      (roles[axis] == Role::kOut ||
       (roles[axis] == Role::kGroupOut && contraction.contraction.groups == 1));
  const Buffer& bias =
      program.buffers[step.inputs[static_cast<size_t>(load->index)]];
  if (!of_column || bias.type.dtype != DType::kF32 ||
      !bias.layout.row_major()) {
    return std::nullopt;
  }
  return load->index;
}

bool IsSmall(const MatrixProduct& product) {
  return std::ranges::all_of(NumbersOf(product), [](const int64_t* number) {
    return *number <= kMostOfMatrix;
  });
}

}  // namespace

bool MayBeOfLibrary(const Contraction& c) {
  const bool empty = c.groups * c.batch * c.out * c.in == 0;
  return c.types == ContractionTypes::All(DType::kF32) && c.kernel.empty() &&
         !empty;
}

std::optional<MatrixProduct> MatrixProductOf(const Program& program,
                                             const Step& step) {
  const ContractionStep* contraction = step.contraction();
  if (contraction == nullptr || step.outputs.size() != 1 ||
      !contraction->maxima.empty()) {
    return std::nullopt;
  }
  const Contraction& c = contraction->contraction;
  if (!MayBeOfLibrary(c)) return std::nullopt;
  const auto layout_of = [&](int buffer) -> const Layout& {
    return program.buffers[static_cast<size_t>(buffer)].layout;
  };
  const auto data = StridesOf(c, c.data_axes, layout_of(step.inputs[0]));
  const auto weight = StridesOf(c, c.weight_axes, layout_of(step.inputs[1]));
  const auto out = StridesOf(c, c.output_axes, layout_of(step.outputs[0]));
  const auto bias = BiasOf(program, step, *contraction);
  if (!data || !weight || !out || !bias) return std::nullopt;
  const MatrixProduct product = {
      .groups = c.groups,
      .rows = c.batch,
      .columns = c.out,
      .depth = c.in,
      .data = {data->group, data->batch, data->in},
      .weight = {weight->group, weight->out, weight->in},
      .out = {out->group, out->batch, out->out},
      .bias = *bias,
      .tf32 = contraction->choice.algorithm == kMmaTf32Algorithm ? 1 : 0,
      .preferred = contraction->choice.library ? 1 : 0};
  if (!IsSmall(product)) return std::nullopt;
  return product;
}

}  // namespace mxc
