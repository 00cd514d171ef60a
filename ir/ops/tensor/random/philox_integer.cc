// SPDX-License-Identifier: Apache-2.0
// _philox_integer: random integers, uniform in low … high − 1; our own
// operator.
//   state   i64[2]   seed, counter
//   output  of the stated shape, i64
// C1  the output has fewer than 2^32 elements
// C2  0 < high − low < 2^32
#include "ir/ops/tensor/random/philox_integer.h"
#include "ir/ops/tensor/random/philox.h"

namespace mxc {
namespace {

void PhiloxIntegerTypes(const PhiloxIntegerAttrs& attrs, TypeInference& t) {
  PhiloxTypesOf(DType::kI64, attrs, t);
  const int64_t count = attrs.high - attrs.low;
  t.Require(count > 0 && count < int64_t{1} << 32,
            "C2: {} integers from {} to {}", count, attrs.low, attrs.high);
}

}  // namespace

MXC_OP(PhiloxInteger) {
  return Op<PhiloxIntegerAttrs>("_philox_integer")
      .Doc("uniform random integers from a counter")
      .Inputs({{"state", InputKind::kData}})
      .Types(PhiloxIntegerTypes)
      .Internal()
      .ZeroGradient()
      .Meaning([](const PhiloxIntegerAttrs& attrs, Definition& def) {
        const auto count = static_cast<double>(attrs.high - attrs.low);
        const Expr drawn =
            MulHigh(BlockOf(attrs, def).first, Constant(count, DType::kU32));
        def.Set(0, Cast(drawn, DType::kI64) + Expr(attrs.low));
      });
}

}  // namespace mxc
