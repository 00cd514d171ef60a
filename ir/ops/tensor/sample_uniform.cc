// SPDX-License-Identifier: Apache-2.0
// _sample_uniform: numbers drawn for each element of the parameters.
#include "ir/ops/tensor/sampling.h"

namespace mxc {

MXC_OP(SampleUniform) { return SampleOperator<Distribution::kUniform>(); }

}  // namespace mxc
