// SPDX-License-Identifier: Apache-2.0
// _random_uniform_like: as many numbers as the input has elements.
#include "ir/ops/tensor/sampling.h"

namespace mxc {

MXC_OP(RandomUniformLike) {
  return RandomLikeOperator<Distribution::kUniform>();
}

}  // namespace mxc
