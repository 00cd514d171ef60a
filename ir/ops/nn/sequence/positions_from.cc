// SPDX-License-Identifier: Apache-2.0
// _positions_from: where the rows of data stand in their texts.
//   data      [n, T …]
//   position  [n]        where the first row of each text stands
//   output    f32[n, T]  position[i] + t
#include "ir/ops/op.h"

namespace mxc {

MXC_OP(PositionsFrom) {
  return Op<>("_positions_from")
      .Internal()
      .Doc("where the rows of data stand in their texts")
      .Inputs({{"data"}, {"position"}})
      .Types([](const NoAttrs&, TypeInference& t) {
        t.SetOutDType(0, DType::kF32);
        const Shape& data = t.In(0);
        if (!data.known_rank() || data.rank() < 2) return;
        t.SetIn(1, Shape{data[0]});
        t.SetOut(0, Shape{data[0], data[1]});
      })
      .Meaning([](const NoAttrs&, Definition& def) {
        const std::vector<Expr> i = def.Indices();
        def.Set(0,
                Cast(def.In(1, {i[0]}), DType::kF32) + Cast(i[1], DType::kF32));
      })
      .ZeroGradient();
}

}  // namespace mxc
