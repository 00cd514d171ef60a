// SPDX-License-Identifier: Apache-2.0
// _random_exponential: numbers drawn from one distribution.
#include "ir/ops/tensor/sampling.h"

namespace mxc {

MXC_OP(RandomExponential) {
  return RandomOperator<Distribution::kExponential>();
}

}  // namespace mxc
