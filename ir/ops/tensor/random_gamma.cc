// SPDX-License-Identifier: Apache-2.0
// _random_gamma: numbers drawn from one distribution.
#include "ir/ops/tensor/sampling.h"

namespace mxc {

MXC_OP(RandomGamma) { return RandomOperator<Distribution::kGamma>(); }

}  // namespace mxc
