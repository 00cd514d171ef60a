// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/shape/view.h"

namespace mxc {

void ViewMeaning(Definition& def) {
  const Expr position = Definition::Flatten(def.Indices(), def.OutShape());
  def.Set(0, def.In(0, Definition::Unflatten(position, def.InShape(0))));
}

bool SameElementCount(const Shape& a, const Shape& b) {
  if (!a.known() || !b.known()) return true;
  return CheckedProduct(a.dims()) == CheckedProduct(b.dims());
}

}  // namespace mxc
