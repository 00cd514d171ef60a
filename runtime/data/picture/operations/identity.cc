// SPDX-License-Identifier: Apache-2.0
// The picture as it is.
#include "runtime/data/picture/operations/operation.h"

namespace mxc::data {

void ApplyIdentity(double, uint8_t, Picture*) {}

}  // namespace mxc::data
