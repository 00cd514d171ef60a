// SPDX-License-Identifier: Apache-2.0
// _random_normal: numbers drawn from one distribution.
#include "ir/ops/tensor/sampling.h"

namespace mxc {

MXC_OP(RandomNormal) { return RandomOperator<Distribution::kNormal>(); }

}  // namespace mxc
