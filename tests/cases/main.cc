// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "passes/pass.h"
#include "tests/cases/cases.h"
#include "tests/cases/device.h"

namespace mxc {
namespace {

struct Kind {
  const char* name;
  const char* about;
  const char* engine;  // unless another one is asked for
  int (*run)(const CaseOptions&);
};

constexpr Kind kKinds[] = {
    {"ops", "operators against their outputs", "interpreter", RunOperatorCases},
    {"models", "models against their outputs", "compiled", RunModelCases},
    {"symbols", "graphs load, their shapes agree", "", RunSymbolCases},
    {"training", "training runs, step by step", "interpreter",
     RunTrainingCases},
    {"bad", "damaged files are refused", "interpreter", RunBadCases},
    {"onnx", "ONNX's node tests", "compiled", RunOnnxCases},
    {"kvstore", "jobs of several processes", "compiled", RunKvstoreCases},
};

void AddOptions(CLI::App& command, const Kind& kind, CaseOptions& options,
                bool& without_each_pass) {
  command.add_option("folder", options.folder)->required();
  command.add_option("--only", options.only, "names that begin so");
  command.add_flag("-v,--verbose", options.verbose);
  command.add_option("--part", options.part, "of each operator case")
      ->check(CLI::IsMember({"outputs", "gradients"}));
  command
      .add_option("--engine", options.engine.engine,
                  fmt::format("{} by default", kind.engine))
      ->check(CLI::IsMember({"interpreter", "compiled"}));
  command.add_option("-O", options.engine.level, "optimization level");
  command.add_option("--disable-pass", options.engine.disabled);
  command.add_flag("--without-each-pass", without_each_pass,
                   "once for each optional pass, without it");
  auto* target =
      command.add_option("--target", options.targets)->delimiter(',');
  command
      .add_option("--device", options.device,
                  "compiles for a GPU, emulated or not, and runs there")
      ->check(CLI::IsMember(DeviceTargets()))
      ->excludes(target);
  command.add_option("--threads", options.threads)->delimiter(',');
}

Status ChooseDevice(CaseOptions& options) {
  if (options.device.empty()) return Done{};
  options.targets = {options.device};
  options.engine.engine = "compiled";
  return UseDevice(options.device);
}

int RunWithoutEachPass(const Kind& kind, CaseOptions options) {
  int status = 0;
  for (const PassDescription& pass : AllPasses()) {
    if (pass.required) continue;
    fmt::print("without {}: ", pass.name);
    std::fflush(stdout);
    options.engine.disabled = {std::string(pass.name)};
    status = std::max(status, kind.run(options));
  }
  return status;
}

int Main(int argc, char** argv) {
  CLI::App app("runs cases that were computed by other programs");
  app.require_subcommand(1);
  CaseOptions options;
  options.engine.engine.clear();
  bool without_each_pass = false;
  const Kind* chosen = nullptr;
  for (const Kind& kind : kKinds) {
    CLI::App* command = app.add_subcommand(kind.name, kind.about);
    command->callback([&chosen, &kind] { chosen = &kind; });
    AddOptions(*command, kind, options, without_each_pass);
  }
  CLI11_PARSE(app, argc, argv);
  if (const Status status = ChooseDevice(options); !status.ok()) {
    fmt::print("{}\n", status.errors().front().message);
    return 2;
  }
  if (options.engine.engine.empty()) options.engine.engine = chosen->engine;
  options.engine.target = options.targets.front();
  options.engine.threads = options.threads.front();
  return without_each_pass ? RunWithoutEachPass(*chosen, options)
                           : chosen->run(options);
}

}  // namespace
}  // namespace mxc

int main(int argc, char** argv) { return mxc::Main(argc, argv); }
