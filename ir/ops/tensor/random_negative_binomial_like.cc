// SPDX-License-Identifier: Apache-2.0
// _random_negative_binomial_like: as many numbers as the input has elements.
#include "ir/ops/tensor/sampling.h"

namespace mxc {

MXC_OP(RandomNegativeBinomialLike) {
  return RandomLikeOperator<Distribution::kNegativeBinomial>();
}

}  // namespace mxc
