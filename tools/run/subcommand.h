// SPDX-License-Identifier: Apache-2.0
// A subcommand of mxc-run is one file with one function that declares its
// options on `app` and returns what runs once they are parsed. What it throws,
// main reports. subcommands.def lists them.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace mxc::run {

struct Reporting {
  bool json = false;
  int exit_code = 0;  // of a command that neither fails nor succeeds
  std::vector<std::string> warnings;  // told so far, for the report
};

// "warning: …" on stderr.
void Warn(Reporting& reporting, const std::string& sentence);

// What every command that opens an artifact says in its help.
inline constexpr const char* kIsProgram =
    "An .mxa file is a program: run only what you would execute.\n"
    "'mxc inspect' is safe: it runs nothing of it.";

// The end of a command's help: `examples`, each with its two spaces and "\n",
// and what every command says.
inline std::string Footer(const std::string& examples) {
  return "examples:\n" + examples + kIsProgram;
}

using Command = std::function<void()>;

#define MXC_RUN_SUBCOMMAND(name, Function, prose) \
  Command Function(CLI::App& app, Reporting& reporting);
#include "tools/run/subcommands.def"
#undef MXC_RUN_SUBCOMMAND

}  // namespace mxc::run
