// SPDX-License-Identifier: Apache-2.0
// _random_negative_binomial: numbers drawn from one distribution.
#include "ir/ops/tensor/sampling.h"

namespace mxc {

MXC_OP(RandomNegativeBinomial) {
  return RandomOperator<Distribution::kNegativeBinomial>();
}

}  // namespace mxc
