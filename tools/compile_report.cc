// SPDX-License-Identifier: Apache-2.0
#include "tools/compile_report.h"

#include <fmt/format.h>

#include "passes/pass.h"
#include "runtime/base/shell_word.h"
#include "tools/command.h"
#include "tools/overview.h"
#include "tools/quantize/accuracy_text.h"

namespace mxc {
namespace {

Json ToJson(const TuningReport& tuning) {
  return {{"contractions", tuning.contractions},
          {"cached", tuning.cached},
          {"measured", tuning.measured},
          {"changed", tuning.changed},
          {"seconds", tuning.seconds},
          {"cache", tuning.cache},
          {"note", tuning.note}};
}

Json ToJson(const BudgetReport& report) {
  Json layers = Json::array();
  for (size_t i = 0; i < report.layers.size(); ++i) {
    layers.push_back({{"name", report.layers[i].name},
                      {"error", report.layers[i].error},
                      {"narrow", bool{report.outcome.narrow[i]}}});
  }
  const Accuracy &before = report.outcome.before, &after = report.outcome.after;
  return {{"budget", report.budget},
          {"form", report.form},
          {"layers", layers},
          {"samples", before.samples},
          {"before", JsonOf(before)},
          {"after", JsonOf(after)},
          {"worse", after.WorseThan(before)}};
}

// Null where there is no file.
Json ToJson(const ParameterFile& file) {
  if (file.path.empty()) return nullptr;
  Json json = {{"file", file.path}};
  if (file.epoch) {
    json["epoch"] = *file.epoch;
    json["epochs"] = file.epochs;
  }
  const std::string run = file.provenance.Note("run");
  if (!run.empty()) json["run"] = run;
  return json;
}

// "digits" where these fit, else a word to replace.
std::string SourceFor(const Program& program) {
  const std::vector<int> inputs = program.BuffersOf(BufferKind::kInput);
  if (inputs.empty()) return "SOURCE";
  const Shape& shape = program.buffers[inputs.front()].type.shape;
  const bool digits = shape.rank() == 4 && shape[1] == 1 && shape[2] == 28;
  return digits ? "digits" : "SOURCE";
}

// Of Where.
constexpr const char* kWhere[] = {"any", "host", "device"};

}  // namespace

void PrintPasses(const ReportStyle& style) {
  if (style.json) {
    Json passes = Json::array();
    for (const PassDescription& pass : AllPasses()) {
      passes.push_back({{"name", pass.name},
                        {"stage", pass.stage},
                        {"required", pass.required},
                        {"where", kWhere[static_cast<size_t>(pass.where)]},
                        {"prose", pass.prose}});
    }
    PrintJson({{"passes", passes}});
    return;
  }
  for (const PassDescription& pass : AllPasses()) {
    const char* where = kWhere[static_cast<size_t>(pass.where)];
    const bool any = pass.where == Where::kAny;
    PrintOut("{:<28} {:<8} {:<9} {}{}\n", pass.name, pass.stage,
             pass.required ? "required" : "optional",
             any ? "" : fmt::format("for a {}: ", where), pass.prose);
  }
}

void PrintPassTimes(const Plan& plan) {
  double total = 0;
  for (const PassTime& pass : plan.passes) total += pass.seconds;
  PrintErr("  {:<28} {:<8} {:<9} {:>8} {:>6}\n", "pass", "stage", "", "time",
           "");
  for (const PassTime& pass : plan.passes) {
    PrintErr("  {:<28} {:<8} {:<9} {:>8} {:>5.1f}%\n", pass.name, pass.stage,
             pass.changed ? "changed" : "", FormatSeconds(pass.seconds),
             100 * pass.seconds / total);
  }
}

void PrintReport(const EmitOptions& options, const Plan& plan,
                 const Outcome& outcome,
                 const std::optional<BudgetReport>& budget, bool time_passes,
                 double seconds) {
  Json phases = Json::array();
  for (const Outcome::Phase& phase : outcome.phases) {
    phases.push_back({{"name", phase.name}, {"seconds", phase.seconds}});
  }
  const ParameterFile& file = plan.network->parameter_file();
  const Overview largest =
      MakeOverview(plan.largest(), plan.target, *plan.catalog);
  Json report = {{"output", options.output},
                 {"parameters", ToJson(file)},
                 {"warnings", file.warnings},
                 {"files", outcome.files},
                 {"target", plan.target.name},
                 {"seconds", seconds},
                 {"code_bytes", outcome.sizes.code_bytes},
                 {"weight_bytes", outcome.sizes.weight_bytes},
                 {"file_bytes", outcome.sizes.file_bytes},
                 {"peak_bytes", largest.memory.peak()},
                 {"lower_bound_bytes", largest.memory.lower_bound()},
                 {"state_bytes", largest.state_bytes()},
                 {"steps", plan.programs.front().steps.size()},
                 {"kernels", outcome.kernels},
                 {"kernels_cached", outcome.cached},
                 {"phases", phases}};
  if (budget) report["accuracy"] = ToJson(*budget);
  if (plan.tuning) report["tuning"] = ToJson(*plan.tuning);
  if (time_passes) {
    Json passes = Json::array();
    for (const PassTime& pass : plan.passes) {
      passes.push_back({{"name", pass.name},
                        {"changed", pass.changed},
                        {"seconds", pass.seconds}});
    }
    report["passes"] = passes;
  }
  PrintJson(report);
}

void PrintNext(const EmitOptions& options, const Plan& plan) {
  if (options.style.quiet) return;
  const std::string output = runtime::ShellWord(options.output);
  if (options.Emits("web")) PrintErr("next: mxc serve --web {}\n", output);
  if (!options.Emits("mxa")) return;
  const Program& program = plan.programs.front();
  if (program.entry.purpose == Purpose::kTrain) {
    PrintErr("next: mxc train {} --data {}\n", output, SourceFor(program));
    return;
  }
  if (program.entry.purpose == Purpose::kScore) {
    PrintErr("next: mxc score {} --data {}\n", output, SourceFor(program));
    return;
  }
  const bool writes = plan.rows_kept > 0 ||
                      (!plan.carries.empty() && !plan.label_names.empty());
  if (writes) {
    PrintErr("next: mxc sample {}\n", output);
    return;
  }
  constexpr int kMostNamed = 8;
  std::string inputs;
  int count = 0;
  const std::vector<bool> read = ReadBuffers(program);
  for (const int b : program.BuffersOf(BufferKind::kInput)) {
    const Buffer& buffer = program.buffers[b];
    if (!read[b] || buffer.use.role == TensorRole::kLength) continue;
    if (++count > kMostNamed) continue;
    const bool picture =
        buffer.type.shape.rank() == 4 &&
        (buffer.type.shape[1] == 3 || buffer.type.shape[1] == 1);
    inputs += fmt::format(" --input {}={}", buffer.name,
                          picture ? "photo.jpg" : "x.npy");
  }
  if (count > kMostNamed) inputs += " …";
  PrintErr("next: mxc run {}{}\n", output, inputs);
}

}  // namespace mxc
