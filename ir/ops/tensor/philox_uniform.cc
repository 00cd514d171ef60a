// SPDX-License-Identifier: Apache-2.0
// _philox_uniform: random numbers, uniform in [0, 1) in steps of 2^-24.
//   state   i64[2]   seed, counter
//   output  f32 of the stated shape
// C1  the output has fewer than 2^32 elements
#include "ir/ops/tensor/philox.h"

namespace mxc {

MXC_OP(PhiloxUniform) {
  return Op<PhiloxAttrs>("_philox_uniform")
      .Doc("uniform random numbers from a counter")
      .Inputs({{"state", InputKind::kData}})
      .Types(PhiloxTypes)
      .Internal()
      .ZeroGradient()
      .Meaning([](const PhiloxAttrs& attrs, Definition& def) {
        def.Set(0, UnitInterval(BlockOf(attrs, def).first));
      });
}

}  // namespace mxc
