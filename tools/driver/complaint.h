// SPDX-License-Identifier: Apache-2.0
// Errors about something that is no place in a file.
#pragma once

#include <string>
#include <utility>

#include "ir/support/diagnostic.h"

namespace mxc {

inline Diagnostic Complaint(std::string message) {
  return {{}, std::move(message), {}};
}

}  // namespace mxc
