// SPDX-License-Identifier: Apache-2.0
// Reads all that tables say, as executors and reports do.
#pragma once

#include <string>

#include "runtime/artifact/tables.h"

namespace mxc::test {

// What is said of a row that is not there; empty: nothing.
std::string ReadAll(const runtime::Tables& tables);

}  // namespace mxc::test
