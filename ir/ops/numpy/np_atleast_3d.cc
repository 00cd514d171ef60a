// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_atleast.h"

namespace mxc {

MXC_OP(NpAtleast3d) {
  return AtleastOperator("_np_atleast_3d", "numpy.atleast_3d", 3);
}

}  // namespace mxc
