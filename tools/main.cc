// SPDX-License-Identifier: Apache-2.0
// mxc: compiles and explains. What runs artifacts is mxc-run, without LLVM.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "ir/target/target.h"
#include "runtime/base/standard_streams.h"
#include "runtime/base/unfinished_name.h"
#include "runtime/remote/remote.h"
#include "tools/command.h"
#include "tools/out_of_memory.h"
#include "tools/terminal.h"
#include "tools/usage/usage.h"
#include "tools/version/version.h"

#ifndef MXC_LLVM_VERSION
#error "the build defines MXC_LLVM_VERSION"
#endif

namespace {

constexpr const char* kFooter =
    "examples:\n"
    "  mxc train models/mlp.json --data digits --save first\n"
    "  mxc compile first-symbol.json -o first.mxa\n"
    "  mxc run first.mxa --input photo.png --top 3\n"
    "models/ and tools/ are those of the repository, and of\n"
    "share/mxc where mxc is installed\n"
    "options and examples of a command: mxc COMMAND --help\n"
    "exit codes: 0 success, 1 errors in the input, 2 bad usage";

// What mxc-run does.
struct HandedOver {
  const char* group;
  const char* name;
  const char* prose;
};
constexpr HandedOver kHandedOver[] = {
    {"Use", "run", "run an artifact on inputs"},
    {"Use", "bench", "measure how fast an artifact is"},
    {"Use", "score", "measure what an artifact has learned"},
    {"Use", "sample", "text from a language model"},
    {"Use", "serve", "answer requests over HTTP"},
    {"Many processes", "launch", "train with several processes"},
    {"Many processes", "kv", "look at jobs that are running"}};

// "mxc help", "mxc help compile": as with --help.
void UnderstandHelp(int argc, char** argv) {
  static char flag[] = "--help";
  if (argc < 2 || argc > 3 || std::string_view(argv[1]) != "help") return;
  if (argc == 3) argv[1] = argv[2];
  argv[argc - 1] = flag;
}

// "mxc trian --help" is no wish for the help of mxc.
bool IsUnknown(const CLI::App& app, const std::string& verb) {
  return !verb.empty() && verb[0] != '-' &&
         std::ranges::none_of(app.get_subcommands({}),
                              [&](const CLI::App* command) {
                                return command->get_name() == verb;
                              });
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
  UnderstandHelp(argc, argv);
  const std::string verb = argc > 1 ? argv[1] : "";
  for (const HandedOver& command : kHandedOver) {
    if (verb == command.name) return mxc::HandOverToRun(argv);
  }
  CLI::App app("mxc compiles symbolic neural networks into native code", "mxc");
  app.set_version_flag("-V,--version", [json] { return Version(json); });
  app.require_subcommand(1);
  mxc::SettleHelp(app);
  app.footer(kFooter);
  int code = mxc::kSuccess;
#define MXC_SUBCOMMAND(group_, name, Function, prose)              \
  {                                                                \
    CLI::App* command = app.add_subcommand(name, prose);           \
    command->group(group_);                                        \
    command->callback(                                             \
        [&code, run = mxc::Function(*command)] { code = run(); }); \
  }
#include "tools/subcommands.def"
#undef MXC_SUBCOMMAND
  // Listed for --help only; they were handed over above.
  for (const HandedOver& command : kHandedOver) {
    app.add_subcommand(command.name, command.prose)->group(command.group);
  }
  // Parsed alone, it is what is wrong.
  if (IsUnknown(app, verb)) argc = 2;
  try {
    mxc::RequireItems(app, argc, argv);
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return mxc::ReportUsage(app, error, argc, argv);
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
  mxc::remote::AllowUrls();
  return mxc::runtime::FinishStandardOutput(Main(argc, argv));
}
