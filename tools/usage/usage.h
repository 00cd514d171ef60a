// SPDX-License-Identifier: Apache-2.0
// Help, and what is wrong with a command line, for both programs.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace mxc {

inline constexpr int kUsageExitCode = 2;

// Help in lines of 79 columns, or as many as a narrower terminal has. For
// subcommands that are declared later, too. Footers stay as they are: lines of
// at most 60 columns.
void SettleHelp(CLI::App& app);

// The group of options that one command explains and others have, too: their
// help names them and refers to it.
inline constexpr const char* kAsForCompile =
    "As for 'mxc compile' (see its --help)";

// Has "1,,2" refused as a list, of which CLI11 drops what is empty. Once all
// subcommands are declared.
void RequireItems(CLI::App& app, int argc, char** argv);

// "--batch 0": what is wrong, one sentence each. Unknown options come with the
// nearest one that there is.
std::vector<std::string> UsageErrors(const CLI::App& app,
                                     const CLI::ParseError& error);

// Prints what ended the parsing: help on stdout and 0, or the errors on stderr,
// with --json among the arguments as {"errors": […]} on stdout, and 2.
int ReportUsage(const CLI::App& app, const CLI::ParseError& error, int argc,
                char** argv);

}  // namespace mxc
