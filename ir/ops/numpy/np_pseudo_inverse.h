// SPDX-License-Identifier: Apache-2.0
// The pseudo-inverse of Moore and Penrose, by singular values: those of at most
// rcond times the greatest count as 0.
//   A  f[…, m, n], the shorter of both at most 512     output  f[…, n, m]
// C1  A holds matrices
// No gradient, as in MXNet 1.9.1.
#pragma once

#include "ir/ops/op.h"

namespace mxc {

void PseudoInverseTypes(TypeInference& t);
// `rcond` broadcasts with the singular values, [matrices…, min(m, n)].
Value PseudoInverse(GraphBuilder& b, Value a, Value rcond);

}  // namespace mxc
