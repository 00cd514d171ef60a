// SPDX-License-Identifier: Apache-2.0
// _round_to_levels: floats rounded to whole numbers that a type of integers
// holds (RoundToLevels); they stay f32.
#include "ir/ops/quantized/round_to_levels.h"
#include "ir/ops/quantized/quantization.h"

namespace mxc {

MXC_OP(RoundToLevels) {
  return Op<RoundToLevelsAttrs>("_round_to_levels")
      .Doc("floats rounded to what a type of integers holds")
      .Internal()
      .Types([](const RoundToLevelsAttrs&, TypeInference& t) {
        t.AllSameShape();
        t.SetInDType(0, DType::kF32);
        t.SetOutDType(0, DType::kF32);
      })
      .Meaning([](const RoundToLevelsAttrs& a, Definition& def) {
        def.Set(0, RoundToLevels(def.In(0, def.Indices()), a.levels));
      })
      .ZeroGradient();
}

}  // namespace mxc
