// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/matrix_product.h"

#include <algorithm>

#include "codegen/cuda/product_shape.h"
#include "codegen/cuda/role_strides.h"

namespace mxc {
namespace {

bool IsSmall(const MatrixProduct& product) {
  return std::ranges::all_of(NumbersOf(product), [](const int64_t* number) {
    return *number <= kMostOfMatrix;
  });
}

}  // namespace

bool MayBeMatrixProduct(const Contraction& c) {
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
  if (!MayBeMatrixProduct(c)) return std::nullopt;
  const auto layout_of = [&](int buffer) -> const Layout& {
    return program.buffers[static_cast<size_t>(buffer)].layout;
  };
  const auto data = StridesOf(c, c.data_axes, layout_of(step.inputs[0]));
  const auto weight = StridesOf(c, c.weight_axes, layout_of(step.inputs[1]));
  const auto out = StridesOf(c, c.output_axes, layout_of(step.outputs[0]));
  const auto bias = BiasOf(program, step, c.out);
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
      .preferred = IsOfLibrary(contraction->choice) ? 1 : 0};
  if (!IsSmall(product)) return std::nullopt;
  return product;
}

}  // namespace mxc
