// SPDX-License-Identifier: Apache-2.0
// A subcommand of mxc is one file with one function
//
//   std::function<int()> AddOps(CLI::App& app);
//
// that declares its options on `app` and returns what runs once they are
// parsed. subcommands.def lists them.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace mxc {

// What the process ends with.
inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;   // the input is wrong
inline constexpr int kBadUsage = 2;  // the command line is wrong

#define MXC_SUBCOMMAND(group, name, Function, prose) \
  std::function<int()> Function(CLI::App& app);
#include "tools/subcommands.def"
#undef MXC_SUBCOMMAND

// Replaces this process by `mxc-run argv[1] …` from beside this program.
int HandOverToRun(char** argv);

}  // namespace mxc
