// SPDX-License-Identifier: Apache-2.0
// all_finite and multi_all_finite: what they share.
#pragma once

#include "ir/ops/op.h"

namespace mxc {

// 1 if an input holds neither an infinity nor NaN, else 0; f32.
Expr FiniteInput(const Definition& def, int input);
// f32[1]
void FiniteTypes(TypeInference& t);

}  // namespace mxc
