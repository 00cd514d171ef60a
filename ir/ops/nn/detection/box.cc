// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/nn/detection/box.h"

namespace mxc {

Expr BoxSide::centre() const { return low + length() * Lit(0.5, low); }

BoxSide BoxSideOf(BoxFormat format, int d,
                  const std::function<Expr(int k)>& number) {
  const Expr first = number(d), second = number(d + 2);
  if (format == BoxFormat::kCorner) return {first, second};
  const Expr half = second * Lit(0.5, second);
  return {first - half, first + half};
}

}  // namespace mxc
