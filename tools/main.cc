// SPDX-License-Identifier: Apache-2.0
// mxc: compiles and explains. What runs artifacts is mxc-run, without LLVM.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "ir/target/target.h"
#include "runtime/base/standard_streams.h"
#include "runtime/base/unfinished_name.h"
#include "tools/command.h"
#include "tools/out_of_memory.h"
#include "tools/terminal.h"
#include "tools/version/version.h"

#ifndef MXC_LLVM_VERSION
#error "the build defines MXC_LLVM_VERSION"
#endif

namespace {

constexpr const char* kFooter =
    "exit codes: 0 success, 1 errors in the input, 2 bad usage";

// What mxc-run does.
constexpr std::pair<const char*, const char*> kHandedOver[] = {
    {"run", "run an artifact on inputs (mxc-run)"},
    {"bench", "measure an artifact (mxc-run)"},
    {"score", "measure what an artifact has learned (mxc-run)"},
    {"sample", "text from a language model (mxc-run)"},
    {"launch", "train with several processes (mxc-run)"}};

// What CLI11 found, in our manner: one line, and where help stands.
int ReportUsage(const CLI::App& app, const CLI::ParseError& error,
                const std::string& verb) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
  std::string command = "mxc", what = error.what();
  for (const CLI::App* sub : app.get_subcommands()) {
    command += " " + sub->get_name();
  }
  if (app.get_subcommands().empty() && !verb.empty() && verb[0] != '-') {
    what = fmt::format("'{}' is no subcommand", verb);
  }
  mxc::PrintErr("{}: {}\n", command, what);
  mxc::PrintErr("see '{} --help'\n", command);
  return mxc::kBadUsage;
}

int Report(bool json, std::string message) {
  return mxc::Fail({.json = json}, {mxc::UnplacedError(std::move(message))});
}

std::string Version(bool json) {
  mxc::Json report = mxc::VersionReport();
  report["llvm"] = MXC_LLVM_VERSION;
  report["targets"] = mxc::TargetNames();
  return json ? report.dump(2) : mxc::VersionText("mxc", report);
}

int Main(int argc, char** argv) {
  const bool json =
      std::find(argv, argv + argc, std::string("--json")) != argv + argc;
  mxc::EndWhenOutOfMemory(json);
  const std::string verb = argc > 1 ? argv[1] : "";
  for (const auto& [name, prose] : kHandedOver) {
    if (verb == name) return mxc::HandOverToRun(argv);
  }
  CLI::App app("mxc compiles symbolic neural networks into native code", "mxc");
  app.set_version_flag("--version", [json] { return Version(json); });
  app.require_subcommand(1);
  app.footer(kFooter);
  int code = mxc::kSuccess;
#define MXC_SUBCOMMAND(name, Function, prose)                      \
  {                                                                \
    CLI::App* command = app.add_subcommand(name, prose);           \
    command->callback(                                             \
        [&code, run = mxc::Function(*command)] { code = run(); }); \
  }
#include "tools/subcommands.def"
#undef MXC_SUBCOMMAND
  // Listed for --help only; they were handed over above.
  for (const auto& [name, prose] : kHandedOver) app.add_subcommand(name, prose);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return ReportUsage(app, error, verb);
  } catch (const std::system_error& error) {
    // Of printing: there is nobody to tell, or the end of main does.
    if (std::ferror(stdout) || std::ferror(stderr)) return mxc::kFailure;
    return Report(json, error.what());
  } catch (const std::length_error& error) {
    // A container would become larger than any memory.
    return Report(json,
                  fmt::format("the network is too large: {}", error.what()));
  } catch (const std::exception& error) {
    return Report(json, fmt::format("internal error: {}", error.what()));
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  mxc::runtime::ReserveStandardStreams();
  mxc::runtime::RemoveUnfinishedAtSignals();
  return mxc::runtime::FinishStandardOutput(Main(argc, argv));
}
