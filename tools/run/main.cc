// SPDX-License-Identifier: Apache-2.0
// mxc-run: runs, trains, scores and benchmarks compiled networks.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/standard_streams.h"
#include "runtime/base/unfinished_name.h"
#include "runtime/base/visible.h"
#include "runtime/remote/remote.h"
#include "tools/run/failure.h"
#include "tools/run/output.h"
#include "tools/run/subcommand.h"
#include "tools/usage/errors_json.h"
#include "tools/usage/usage.h"
#include "tools/version/version.h"

namespace mxc::run {
namespace {

constexpr int kFailure = 1, kBadUsage = 2;

int Report(const Reporting& reporting,
           const std::vector<std::string>& messages) {
  if (reporting.json) {
    PrintJson(ErrorsJson(messages));
    return kFailure;
  }
  for (const std::string& message : messages) {
    PrintErr("error: %s\n", runtime::Visible(message).c_str());
  }
  return kFailure;
}

int Execute(const Command& command, const Reporting& reporting) {
  try {
    command();
    return reporting.exit_code;
  } catch (const Failure& failure) {
    return Report(reporting, failure.messages());
  } catch (const std::bad_alloc&) {
    return Report(reporting,
                  {"out of memory: the network or its data are too large for "
                   "this machine, or for the limits it runs under"});
  } catch (const std::exception& failure) {
    return Report(reporting, {failure.what()});
  }
}

bool WantsJson(int argc, char** argv) {
  return std::find(argv, argv + argc, std::string("--json")) != argv + argc;
}

int Main(int argc, char** argv) {
  CLI::App app(
      "Runs, trains, scores and benchmarks compiled networks (.mxa files).",
      std::filesystem::path(argc > 0 ? argv[0] : "mxc-run").filename());
  app.set_version_flag("-V,--version", [json = WantsJson(argc, argv)] {
    const auto report = VersionReport();
    return json ? report.dump(2) : VersionText("mxc-run", report);
  });
  app.require_subcommand(1);
  SettleHelp(app);
  app.footer(std::string("a command's options and examples: mxc-run COMMAND "
                         "--help\n") +
             kIsProgram);
  Reporting reporting;
  std::vector<std::pair<CLI::App*, Command>> commands;
  const auto add = [&](const char* name, const char* prose, auto declare) {
    CLI::App* command = app.add_subcommand(name, prose);
    commands.emplace_back(command, declare(*command, reporting));
  };
#define MXC_RUN_SUBCOMMAND(name, Function, prose) add(name, prose, Function);
#include "tools/run/subcommands.def"
#undef MXC_RUN_SUBCOMMAND
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return ReportUsage(app, error, argc, argv);
  }
  for (const auto& [command, run] : commands) {
    if (command->parsed()) return Execute(run, reporting);
  }
  return kBadUsage;
}

}  // namespace
}  // namespace mxc::run

int main(int argc, char** argv) {
  mxc::runtime::ReserveStandardStreams();
  mxc::runtime::RemoveUnfinishedAtSignals();
  mxc::remote::AllowUrls();
  return mxc::runtime::FinishStandardOutput(mxc::run::Main(argc, argv));
}
