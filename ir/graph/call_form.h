// SPDX-License-Identifier: Apache-2.0
// Describes an operator as a call (Operator::call), which lowering makes a Call
// or Collective step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace mxc {

// An operator as a function that the artifact imports by name and version
// (ir/program/call_function.h), or as a collective.
struct CallForm {
  std::string function;
  int version = 1;
  std::string attributes;  // words "name=value", as the function reads them
  // Bytes of workspace for a function that call_functions.def does not hold,
  // and those for each index of the first input's first axis.
  int64_t workspace = 0, workspace_per_row = 0;
  // Of a collective, which is what `function` names: the devices that it is for
  // (ir/program/steps/collective.h).
  std::optional<int64_t> members = std::nullopt;
};

}  // namespace mxc
