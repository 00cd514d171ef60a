// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/indexing/np_where.h"

#include "ir/ops/tensor/elementwise/arithmetic.h"
#include "ir/ops/tensor/elementwise/binary.h"

namespace mxc {

void NpWhereTypes(TypeInference& t) {
  for (int i = 1; i < t.inputs(); ++i) t.SetOutDType(0, t.InDType(i));
  for (int i = 1; i < t.inputs(); ++i) t.SetInDType(i, t.OutDType(0));
  BroadcastShapes(t);
}

void NpWhereMeaning(Definition& def, std::optional<double> x,
                    std::optional<double> y) {
  const std::vector<Expr> index = def.Indices();
  int next = 1;
  const auto operand = [&](const std::optional<double>& number) {
    return number ? Number(*number, def.OutDType())
                  : def.InBroadcast(next++, index);
  };
  const Expr chosen = operand(x), otherwise = operand(y);
  def.Set(0, Select(IsTrue(def.InBroadcast(0, index)), chosen, otherwise));
}

}  // namespace mxc
