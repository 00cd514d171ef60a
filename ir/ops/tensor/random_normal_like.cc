// SPDX-License-Identifier: Apache-2.0
// _random_normal_like: as many numbers as the input has elements.
#include "ir/ops/tensor/sampling.h"

namespace mxc {

MXC_OP(RandomNormalLike) { return RandomLikeOperator<Distribution::kNormal>(); }

}  // namespace mxc
