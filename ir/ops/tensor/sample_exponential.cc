// SPDX-License-Identifier: Apache-2.0
// _sample_exponential: numbers drawn for each element of the parameters.
#include "ir/ops/tensor/sampling.h"

namespace mxc {

MXC_OP(SampleExponential) {
  return SampleOperator<Distribution::kExponential>();
}

}  // namespace mxc
