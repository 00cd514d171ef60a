// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/create/progression.h"

#include <cmath>

namespace mxc {

Expr Progression(const Expr& position, double start, double step, DType dtype) {
  // In f32 unless the type needs more, as MXNet counts in the type itself.
  const DType wide = dtype == DType::kF32 ? DType::kF32 : DType::kF64;
  const Expr count = Cast(position, wide);
  return Cast(Constant(start, wide) + count * Constant(step, wide), dtype);
}

Expr Counting(const Expr& position, double start, double step, DType dtype) {
  if (IsFloat(dtype)) return Progression(position, start, step, dtype);
  return Progression(position, std::trunc(start), std::trunc(step), dtype);
}

}  // namespace mxc
