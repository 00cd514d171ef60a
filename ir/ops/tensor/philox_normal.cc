// SPDX-License-Identifier: Apache-2.0
// _philox_normal: random numbers, normal with mean 0 and variance 1.
//   state   i64[2]   seed, counter
//   output  f32 of the stated shape
// C1  the output has fewer than 2^32 elements
#include "ir/ops/tensor/philox.h"

namespace mxc {

MXC_OP(PhiloxNormal) {
  return Op<PhiloxAttrs>("_philox_normal")
      .Doc("normal random numbers from a counter")
      .Inputs({{"state", InputKind::kData}})
      .Types(PhiloxTypes)
      .Internal()
      .ZeroGradient()
      .Meaning([](const PhiloxAttrs& attrs, Definition& def) {
        def.Set(0, NormalOf(BlockOf(attrs, def)));
      });
}

}  // namespace mxc
