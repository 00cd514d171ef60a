// SPDX-License-Identifier: Apache-2.0
// _random_poisson_like: as many numbers as the input has elements.
#include "ir/ops/tensor/sampling.h"

namespace mxc {

MXC_OP(RandomPoissonLike) {
  return RandomLikeOperator<Distribution::kPoisson>();
}

}  // namespace mxc
