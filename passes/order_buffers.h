// SPDX-License-Identifier: Apache-2.0
// Drops and reorders buffers, for passes that make a step's inner program.
#pragma once

#include <vector>

#include "ir/program/program.h"

namespace mxc {

// Keeps the buffers `order` of a program, in that order. No step uses another,
// and none is an alias yet.
void OrderBuffers(Program& program, const std::vector<int>& order);

}  // namespace mxc
