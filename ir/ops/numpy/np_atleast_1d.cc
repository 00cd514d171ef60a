// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_atleast.h"

namespace mxc {

MXC_OP(NpAtleast1d) {
  return AtleastOperator("_np_atleast_1d", "numpy.atleast_1d", 1);
}

}  // namespace mxc
