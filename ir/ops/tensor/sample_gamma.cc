// SPDX-License-Identifier: Apache-2.0
// _sample_gamma: numbers drawn for each element of the parameters.
#include "ir/ops/tensor/sampling.h"

namespace mxc {

MXC_OP(SampleGamma) { return SampleOperator<Distribution::kGamma>(); }

}  // namespace mxc
