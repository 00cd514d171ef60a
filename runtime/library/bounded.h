// SPDX-License-Identifier: Apache-2.0
// bounded: a count that data decide and that what was compiled has a greatest
// of.
//
//   count i32[1] → the same    with the attribute "most=16": 1, which ends the
//                              run, where it is greater
//
// It returns -1000 where the operands or the attribute are not so.
#pragma once

#include "runtime/base/status.h"
#include "runtime/library/registry.h"

namespace mxc::runtime {

StatusOr<Function> LoadBounded();

}  // namespace mxc::runtime
