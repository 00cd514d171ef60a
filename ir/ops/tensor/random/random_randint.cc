// SPDX-License-Identifier: Apache-2.0
// _random_randint: integers drawn from low … high − 1, each alike.
// C1  low < high, fewer than 2^32 apart
#include "ir/ops/tensor/random/random_randint.h"
#include "ir/ops/op.h"
#include "ir/ops/tensor/random/philox_integer.h"

namespace mxc {
namespace {

void RandintTypes(const RandintAttrs& attrs, TypeInference& t) {
  const int64_t count = attrs.high - attrs.low;
  t.Require(count > 0 && count < int64_t{1} << 32, "C1: from {} to {}",
            attrs.low, attrs.high);
  t.SetOut(0, attrs.shape.empty() ? Shape{1} : Shape(attrs.shape));
  t.SetOutDType(0, attrs.dtype);
}

}  // namespace

MXC_OP(RandomRandint) {
  return Op<RandintAttrs>("_random_randint")
      .Alias({"_npi_random_randint", "random_randint"})
      .Doc("random integers")
      .Inputs({})
      .RandomIf([](const auto&, bool) { return true; })
      .ZeroGradient()
      .Types(RandintTypes)
      .Decompose([](const RandintAttrs& attrs, const Node& node,
                    GraphBuilder& b) -> std::vector<Value> {
        const Value drawn =
            b.Op<op::PhiloxInteger>({b.RandomState()},
                                    {{.shape = node.types[0].shape.dims(),
                                      .stream = b.Stream("randint")},
                                     attrs.low,
                                     attrs.high},
                                    "randint");
        return {b.Cast(drawn, attrs.dtype)};
      });
}

}  // namespace mxc
