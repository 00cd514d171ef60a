// SPDX-License-Identifier: Apache-2.0
// _sample_normal: numbers drawn for each element of the parameters.
#include "ir/ops/tensor/sampling.h"

namespace mxc {

MXC_OP(SampleNormal) { return SampleOperator<Distribution::kNormal>(); }

}  // namespace mxc
