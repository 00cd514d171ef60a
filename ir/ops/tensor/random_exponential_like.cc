// SPDX-License-Identifier: Apache-2.0
// _random_exponential_like: as many numbers as the input has elements.
#include "ir/ops/tensor/sampling.h"

namespace mxc {

MXC_OP(RandomExponentialLike) {
  return RandomLikeOperator<Distribution::kExponential>();
}

}  // namespace mxc
