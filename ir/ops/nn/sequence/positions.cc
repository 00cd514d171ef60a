// SPDX-License-Identifier: Apache-2.0
// positions: where the rows of data stand in their texts, which begin with them;
// our own operator.
//   data      [n, T …]
//   output    f32[1, T], 0 1 2 …
// A network that is compiled to write texts counts on from the runs before
// (frontend/generate.h): it has _positions_from instead.
// C1  data has two axes or more
#include "ir/ops/op.h"

namespace mxc {

MXC_OP(Positions) {
  return Op<>("positions")
      .Doc("where the rows of data stand in their texts")
      .Types([](const NoAttrs&, TypeInference& t) {
        t.SetOutDType(0, DType::kF32);
        const Shape& data = t.In(0);
        if (data.known_rank() &&
            t.Require(data.rank() >= 2,
                      "C1: data has shape {}, expected rows of several texts",
                      ToString(data))) {
          t.SetOut(0, Shape{1, data[1]});
        }
      })
      .Meaning([](const NoAttrs&, Definition& def) {
        def.Set(0, Cast(def.Indices()[1], DType::kF32));
      })
      .ZeroGradient();
}

}  // namespace mxc
