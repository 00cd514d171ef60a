// SPDX-License-Identifier: Apache-2.0
// _sample_poisson: numbers drawn for each element of the parameters.
#include "ir/ops/tensor/sampling.h"

namespace mxc {

MXC_OP(SamplePoisson) { return SampleOperator<Distribution::kPoisson>(); }

}  // namespace mxc
