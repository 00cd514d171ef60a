// SPDX-License-Identifier: Apache-2.0
// What a contraction is, by its structure.
#pragma once

#include "ir/program/program.h"

namespace mxc::contraction {

// A convolution as MXNet lays it out, f[N, C, spatial …] by f[O, I, spatial …],
// or the gradient of one with respect to its data: by f[I, O, spatial …].
bool IsConvolution(const Contraction& c);
// A matrix product whose output channels are the output's last axis.
bool IsProduct(const Contraction& c);
// A matrix product whose weight is an activation: one row, or one column, for each
// of the output's rows, which lie in lanes.
bool IsProductByRows(const Contraction& c);

}  // namespace mxc::contraction
