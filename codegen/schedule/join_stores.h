// SPDX-License-Identifier: Apache-2.0
// Turns a Map's stores into one expression, for kernels that write an output in
// one loop.
#pragma once

#include <span>

#include "ir/program/program.h"

namespace mxc {

// One expression for a whole output of that shape: the value of the box that an
// index lies in. The boxes are disjoint and cover the output; at least one.
Expr JoinStores(std::span<const Store* const> stores, const Shape& shape);

}  // namespace mxc
