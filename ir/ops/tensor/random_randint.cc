// SPDX-License-Identifier: Apache-2.0
// _random_randint: integers drawn from low … high − 1, each alike.
// C1  low < high, fewer than 2^32 apart
#include "ir/ops/op.h"

namespace mxc {
namespace {

struct RandintAttrs {
  int64_t low = 0, high = 0;
  Extents shape;
  std::string ctx;
  DType dtype = DType::kI32;

  void Describe(Fields& f) {
    f("low", low).Required().Range(-0x1p52, 0x1p52).Doc("the least");
    f("high", high).Required().Range(-0x1p52, 0x1p52).Doc("above the greatest");
    f("shape", shape).Min(1).Doc("extents");
    f("ctx", ctx).Doc("device").Hint();
    f("dtype", dtype).Doc("element type of the output");
  }
};

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
            b.Op("_philox_integer", {b.RandomState()},
                 {{"shape", ToString(node.types[0].shape)},
                  {"stream", std::to_string(b.Stream("randint"))},
                  {"low", std::to_string(attrs.low)},
                  {"high", std::to_string(attrs.high)}},
                 "randint");
        return {b.Cast(drawn, attrs.dtype)};
      });
}

}  // namespace mxc
