// SPDX-License-Identifier: Apache-2.0
// _random_uniform: numbers drawn from one distribution.
#include "ir/ops/tensor/sampling.h"

namespace mxc {

MXC_OP(RandomUniform) { return RandomOperator<Distribution::kUniform>(); }

}  // namespace mxc
