// SPDX-License-Identifier: Apache-2.0
// _sample_negative_binomial: numbers drawn for each element of the parameters.
#include "ir/ops/tensor/sampling.h"

namespace mxc {

MXC_OP(SampleNegativeBinomial) {
  return SampleOperator<Distribution::kNegativeBinomial>();
}

}  // namespace mxc
