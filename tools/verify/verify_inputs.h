// SPDX-License-Identifier: Apache-2.0
// The inputs on which mxc verify runs a network: those that the user gives,
// converted to their types; the others are drawn (draw_input.h).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ir/program/program.h"
#include "ir/support/result.h"
#include "tools/driver/request.h"
#include "tools/terminal.h"
#include "tools/verify/draw_input.h"
#include "tools/verify/verify_steps.h"

namespace mxc {

// Values by name that were given, and what the others are drawn by.
struct InputSource {
  Inputs given;
  std::map<std::string, int64_t> positions;  // FindPositionInputs
  Lengths most;  // of sequences whose lengths are open
  uint64_t seed = 0;
  InputRange range;
  Inputs states;      // that are not to have their initial values
  ReportStyle style;  // for notes on conversions
};

// Of texts "NAME=FILE.npy".
Result<Inputs> ReadInputs(const std::vector<std::string>& texts);

// Every name that is given must be that of an input of some program.
Status RequireInputs(std::span<const Program> programs, const Inputs& given);

// One value for each input of the program, and the source's states.
Result<Inputs> MakeInputs(const Program& program, const InputSource& source);

}  // namespace mxc
