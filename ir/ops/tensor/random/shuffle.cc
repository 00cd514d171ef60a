// SPDX-License-Identifier: Apache-2.0
// _shuffle: the entries of the first axis in random order.
#include "ir/ops/op.h"
#include "ir/ops/tensor/sort/argsort.h"

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
        if (data.shape().rank() == 0) return {b.Op<op::Copy>({data})};
        const Value order =
            b.Op<op::Argsort>({b.Uniform(Shape{data.shape()[0]}, "shuffle")},
                              {.dtype = DType::kI32});
        return {b.Op<op::Take>({data, order})};
      });
}

}  // namespace mxc
