// SPDX-License-Identifier: Apache-2.0
// _random_poisson: numbers drawn from one distribution.
#include "ir/ops/tensor/sampling.h"

namespace mxc {

MXC_OP(RandomPoisson) { return RandomOperator<Distribution::kPoisson>(); }

}  // namespace mxc
