// SPDX-License-Identifier: Apache-2.0
// _integer_convolution: Convolution of 8-bit integers.
//   data i8[…] or u8[…], weight i8[…], bias i32[num_filter] → i32[…]
// Sums are exact within i32, and wrap around beyond.
// C1  data are i8 or u8
#include "ir/ops/nn/convolution/convolution_geometry.h"
#include "ir/ops/quantized/quantization.h"
#include "ir/program/steps/contraction.h"

namespace mxc {

MXC_OP(IntegerConvolution) {
  return Op<ConvolutionAttrs>("_integer_convolution")
      .Doc("Convolution of 8-bit integers, as int32")
      .Internal()
      .InputsOf(ConvolutionInputs)
      .Check(CheckGeometry)
      .Types([](const ConvolutionAttrs& a, TypeInference& t) {
        SetIntegerTypes(t);
        ConvolutionShapes(a, t);
      })
      .Meaning(ConvolutionMeaning)
      .AsContraction(ConvolutionContraction)
      .ZeroGradient();
}

}  // namespace mxc
