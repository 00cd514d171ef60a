// SPDX-License-Identifier: Apache-2.0
// _shuffle: the entries of the first axis in random order.
// C1  it has fewer than 2^32 entries
#include "ir/ops/op.h"
#include "ir/ops/tensor/drawable.h"

namespace mxc {

MXC_OP(Shuffle) {
  return Op<>("_shuffle")
      .Alias({"shuffle"})
      .Doc("the first axis in random order")
      .RandomIf([](const auto&, bool) { return true; })
      .Types([](const NoAttrs&, TypeInference& t) {
        if (t.In(0).known() && t.In(0).rank() > 0) {
          RequireDrawable(Shape{t.In(0)[0]}, "C1", t);
        }
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
