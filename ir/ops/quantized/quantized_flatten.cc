// SPDX-License-Identifier: Apache-2.0
// _contrib_quantized_flatten: Flatten of 8-bit numbers.
//   data q[N, d1 …], min_data f32[1], max_data f32[1]
//   outputs  q[N, ∏ d], and the same range
// C1  data are i8 or u8
// Source: MXNet 1.9.1 operator/quantization/quantized_flatten.cc.
#include "ir/ops/quantized/quantization.h"

namespace mxc {

MXC_OP(QuantizedFlatten) {
  return Op<>("_contrib_quantized_flatten")
      .Doc("Flatten of 8-bit numbers")
      .Inputs(RangedInputs())
      .Outputs(kRangedOutputs)
      .Types([](const NoAttrs& a, TypeInference& t) {
        SetRangeTypes(t, 1, 1);
        ShapesOf("Flatten", &a, 1, t);
        if (RequireQuantized(t, 0)) t.SetOutDType(0, t.InDType(0));
      })
      .Decompose([](const NoAttrs&, const Node& node, GraphBuilder& b) {
        return WithRangeOf(node, b.Op<op::Flatten>({node.inputs[0]}));
      })
      .ZeroGradient();
}

}  // namespace mxc
