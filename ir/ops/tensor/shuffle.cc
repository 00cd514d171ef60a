// SPDX-License-Identifier: Apache-2.0
// _shuffle: the entries of the first axis in random order.
#include "ir/ops/op.h"

namespace mxc {

MXC_OP(Shuffle) {
  return Op<>("_shuffle")
      .Alias({"_npi_shuffle", "shuffle"})
      .Doc("the first axis in random order")
      .RandomIf([](const auto&, bool) { return true; })
      .Types([](const NoAttrs&, TypeInference& t) {
        t.AllSameShape();
        t.AllSameDType();
      })
      .Decompose([](const NoAttrs&, const Node& node,
                    GraphBuilder& b) -> std::vector<Value> {
        const Value data = node.inputs[0];
        if (data.shape().rank() == 0) return {b.Op("_copy", {data})};
        const Value order =
            b.Op("argsort", {b.Uniform(Shape{data.shape()[0]}, "shuffle")},
                 {{"dtype", "int32"}});
        return {b.Op("take", {data, order})};
      });
}

}  // namespace mxc
