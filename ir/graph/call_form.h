// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace mxc {

// An operator as a function that the artifact imports by name and version; its
// attributes are words "name=value" (ir/program/call_function.h).
struct CallForm {
  std::string function;
  int version = 1;
  std::string attributes;
};

}  // namespace mxc
