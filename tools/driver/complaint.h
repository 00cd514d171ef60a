// SPDX-License-Identifier: Apache-2.0
// Errors about something that is no place in a file, and many at once.
#pragma once

#include <string>
#include <utility>

#include "ir/support/result.h"

namespace mxc {

inline Diagnostic Complaint(std::string message) {
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
