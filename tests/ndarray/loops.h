// SPDX-License-Identifier: Apache-2.0
// For tests of loops.
#pragma once

#include <cstdlib>
#include <string_view>

#include "runtime/ndarray/imperative.h"

namespace mxc::test {

// In a program of tests that includes this small loops become programs, too.
inline const bool kSmallLoopsAreTaken = [] {
  runtime::Imperative::Get().loops().TakeShortOnes();
  return true;
}();

// Returns whether operations run one by one, and loops are never programs.
inline bool IsNaive() {
  const char* const engine = std::getenv("MXC_ENGINE");
  return engine != nullptr && std::string_view(engine) == "naive";
}

}  // namespace mxc::test
