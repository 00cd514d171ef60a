// SPDX-License-Identifier: Apache-2.0
// Errors that have no place in a file, and collecting several errors.
#pragma once

#include <string>
#include <utility>

#include "ir/support/result.h"

namespace mxc {

inline Diagnostic UnplacedError(std::string message) {
  return {{}, std::move(message), {}};
}

// Moves the value to `to`, or adds what is wrong to `errors`.
template <class T, class U>
void TakeOrAdd(Result<T> from, U& to, Diagnostics& errors) {
  if (from.ok()) {
    to = std::move(*from);
  } else {
    errors.Append(from.errors());
  }
}

}  // namespace mxc
