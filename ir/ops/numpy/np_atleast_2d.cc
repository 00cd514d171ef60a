// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_atleast.h"

namespace mxc {

MXC_OP(NpAtleast2d) {
  return AtleastOperator("_np_atleast_2d", "numpy.atleast_2d", 2);
}

}  // namespace mxc
