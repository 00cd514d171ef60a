// SPDX-License-Identifier: Apache-2.0
// _random_generalized_negative_binomial_like: as many numbers as the input has
// elements.
#include "ir/ops/tensor/sampling.h"

namespace mxc {

MXC_OP(RandomGeneralizedNegativeBinomialLike) {
  return RandomLikeOperator<Distribution::kGeneralizedNegativeBinomial>();
}

}  // namespace mxc
