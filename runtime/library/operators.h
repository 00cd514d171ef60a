// SPDX-License-Identifier: Apache-2.0
// The operators that a user's libraries have registered for networks that name
// them. Any thread may ask at any time.
#pragma once

#include <string>

#include "runtime/base/status.h"
#include "runtime/mxc_operators.h"

namespace mxc::runtime {

// What a registered operator's functions are called in artifacts.
std::string ForwardOf(const mxc_operator& op);
std::string BackwardOf(const mxc_operator& op);

// Registers it with its functions; copies what it points to. Refuses a name that
// is taken.
Status RegisterOperator(const mxc_operator& op);

// Null where nobody has registered it; else it stays as it is.
const mxc_operator* FindOperator(const std::string& name);

}  // namespace mxc::runtime
