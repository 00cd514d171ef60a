// SPDX-License-Identifier: Apache-2.0
// _integer_fully_connected: FullyConnected of 8-bit integers.
//   data i8[…] or u8[…], weight i8[num_hidden, K], bias i32[num_hidden] → i32[…]
// Sums are exact within i32, and wrap around beyond.
// C1  data are i8 or u8
#include "ir/ops/nn/convolution/fully_connected.h"
#include "ir/ops/quantized/quantization.h"
#include "ir/program/steps/contraction.h"

namespace mxc {

MXC_OP(IntegerFullyConnected) {
  return Op<FullyConnectedAttrs>("_integer_fully_connected")
      .Doc("FullyConnected of 8-bit integers, as int32")
      .Internal()
      .InputsOf(FullyConnectedInputs)
      .Types([](const FullyConnectedAttrs& a, TypeInference& t) {
        SetIntegerTypes(t);
        FullyConnectedShapes(a, t);
      })
      .Meaning(FullyConnectedMeaning)
      .Decompose(FullyConnectedByRows)
      .AsContraction(FullyConnectedContraction)
      .ZeroGradient();
}

}  // namespace mxc
