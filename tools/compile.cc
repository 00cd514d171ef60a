// SPDX-License-Identifier: Apache-2.0
// mxc compile: MODEL becomes one native file.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "runtime/base/destination.h"
#include "tools/command.h"
#include "tools/compile_report.h"
#include "tools/emit.h"
#include "tools/ensemble.h"
#include "tools/output_file.h"
#include "tools/picture_settings.h"
#include "tools/quantize/within_budget.h"
#include "tools/request_options.h"
#include "tools/run/label_file.h"
#include "tools/terminal.h"
#include "tools/train/train_shapes.h"
#include "tools/usage/values.h"

namespace mxc {
namespace {

struct CompileOptions {
  RequestOptions request;
  EmitOptions emit;
  PictureSettings pictures;
  EnsembleRequest ensemble;
  SampleOptions samples;
  std::optional<double> accuracy_budget;
  bool time_passes = false, print_passes = false;
};

// What was asked for and changes nothing.
void WarnOfUnused(const CompileRequest& request, Progress& progress) {
  if (request.trains()) return;
  const TrainingOptions defaults;
  const TrainingOptions& training = request.training;
  const auto warn = [&](const char* options, const char* they) {
    progress.Warning(fmt::format(
        "{} how to train; without --entry train {} nothing", options, they));
  };
  if (training.optimizer != defaults.optimizer ||
      !training.optimizer_attrs.empty()) {
    warn("--optimizer and --opt say", "they change");
  }
  if (!training.fixed.empty()) warn("--fixed says", "it changes");
  if (training.label_smoothing > 0)
    warn("--label-smoothing says", "it changes");
  if (!training.lr_mult.empty()) warn("--lr-mult says", "it changes");
  if (!training.wd_mult.empty()) warn("--wd-mult says", "it changes");
}

// The network that is compiled, where several make it.
Status TakeMembers(const CompileOptions& options, CompileRequest& request) {
  const EnsembleRequest& ensemble = options.ensemble;
  if (ensemble.how.empty()) {
    if (ensemble.members.empty()) return Done{};
    return UnplacedError(
        fmt::format("'{}' is one network too many: --ensemble mean joins them",
                    ensemble.members.front()));
  }
  if (options.emit.output.empty()) {
    return UnplacedError("-o is missing: an ensemble has no name of its own");
  }
  return JoinEnsemble(ensemble, request);
}

// What the artifact keeps of pictures and classes.
Status TakePictures(const PictureSettings& settings, CompileRequest& request) {
  request.pictures = settings.words;
  if (settings.labels.empty()) return Done{};
  auto names = run::ReadLabelFile(settings.labels);
  if (!names.ok()) return UnplacedError(names.status().message());
  request.label_names = std::move(*names);
  return Done{};
}

// What becomes of the request within --accuracy-budget; none where it says
// nothing.
Result<std::optional<BudgetReport>> FitBudget(const CompileOptions& options,
                                              CompileRequest& request) {
  const bool has_samples = !options.samples.data.source.empty();
  if (!options.accuracy_budget) {
    if (!has_samples) return std::optional<BudgetReport>();
    return UnplacedError(
        "--data without --accuracy-budget, which says by how much the network "
        "may get worse on them");
  }
  if (!has_samples) {
    return UnplacedError(
        "--accuracy-budget needs the samples on which it is measured (--data)");
  }
  const auto tell = [&](const char* phase, const std::string& text) {
    PrintPhase(options.emit.style, phase, text);
  };
  MXC_ASSIGN(
      BudgetReport report,
      FitIntoBudget(options.samples, *options.accuracy_budget, request, tell));
  tell("accuracy", report.Text());
  return std::optional(std::move(report));
}

// Names that belong to no class, or classes without one.
void NoteOtherNames(const CompileOptions& options, const Plan& plan) {
  const auto outputs = plan.programs.front().BuffersOf(BufferKind::kOutput);
  if (options.pictures.labels.empty() || outputs.empty()) return;
  const Buffer& output = plan.programs.front().buffers[outputs.front()];
  const Shape& shape = output.type.shape;
  const int64_t values = shape.rank() > 0 ? shape[shape.rank() - 1] : 1;
  const size_t names = plan.label_names.size();
  if (values == static_cast<int64_t>(names)) return;
  PrintPhase(options.emit.style, "note",
             run::OtherNames(names, output.name, values));
}

// A page is a folder, for a target of its own.
Status SettlePage(CompileOptions& options) {
  if (!options.emit.Emits("web")) return Done{};
  if (options.emit.kinds.size() > 1) {
    return UnplacedError(
        "--emit web writes a folder, and nothing else beside it");
  }
  std::string& target = options.request.request.target;
  if (target == "native") target = "wasm32";
  std::string& output = options.emit.output;
  while (output.size() > 1 && output.ends_with('/')) output.pop_back();
  if (output.empty()) return Done{};
  const runtime::Status to =
      runtime::RequireDestination(output + "/index.html");
  if (!to.ok()) return UnplacedError(to.message());
  return Done{};
}

Status RequireOutput(const std::string& path, const CompileRequest& request) {
  const runtime::Status to = runtime::RequireDestination(path);
  if (!to.ok()) return UnplacedError(to.message());
  return RequireOutputName(
      path, {request.network.model, request.network.params}, ".mxa");
}

int RunCompile(CompileOptions options) {
  if (options.print_passes) {
    PrintPasses(options.emit.style);
    return kSuccess;
  }
  const Stopwatch watch;
  if (const Status page = SettlePage(options); !page.ok()) {
    return Fail(options.emit.style, page.errors(), "nothing was written");
  }
  Result<CompileRequest> request = RequestOf(options.request);
  const bool is_page = options.emit.Emits("web");
  if (request.ok() && !options.emit.output.empty() && !is_page) {
    const Status to = RequireOutput(options.emit.output, *request);
    if (!to.ok()) request = to.errors();
  }
  if (request.ok()) {
    const Status members = TakeMembers(options, *request);
    if (!members.ok()) request = members.errors();
  }
  if (request.ok()) {
    const Status pictures = TakePictures(options.pictures, *request);
    if (!pictures.ok()) request = pictures.errors();
  }
  std::optional<BudgetReport> budget;
  if (request.ok()) {
    auto fitted = FitBudget(options, *request);
    if (fitted.ok()) {
      budget = std::move(*fitted);
    } else {
      request = fitted.errors();
    }
  }
  if (!request.ok()) {
    return Fail(options.emit.style, request.errors(), "nothing was written");
  }
  request->keep_llvm = options.emit.Emits("llvm");
  request->keep_assembly =
      options.emit.Emits("asm") || options.emit.Emits("ptx");
  TerminalProgress progress(options.emit.style);
  WarnOfUnused(*request, progress);
  const Result<Plan> plan = MakePlan(*request, progress);
  if (!plan.ok()) {
    return Fail(options.emit.style, plan.errors(), "nothing was written");
  }
  for (const std::string& sentence :
       OtherShapes(*plan->network, request->input_shapes)) {
    PrintPhase(options.emit.style, "note", sentence);
  }
  NoteOtherNames(options, *plan);
  if (options.emit.output.empty()) {
    options.emit.output = plan->stem + (is_page ? "-web" : ".mxa");
  }
  Outcome outcome;
  const Status emitted = Emit(options.emit, *request, *plan, outcome);
  if (!emitted.ok()) {
    return Fail(options.emit.style, emitted.errors(), outcome.WhatIsWritten());
  }
  if (options.emit.style.json) {
    PrintReport(options.emit, *plan, outcome, budget, options.time_passes,
                watch.seconds());
    return kSuccess;
  }
  for (const std::string& file : outcome.files) {
    PrintWrote(options.emit.style, file);
  }
  if (options.time_passes) PrintPassTimes(*plan);
  PrintNext(options.emit, *plan);
  return kSuccess;
}

}  // namespace

std::function<int()> AddCompile(CLI::App& app) {
  auto options = std::make_shared<CompileOptions>();
  CompileRequest& request = options->request.request;
  AddModelOptions(app, options->request);
  AddWeightOptions(app, request.network);
  AddClassesOption(app, request.network);
  app.add_option("MEMBER", options->ensemble.members,
                 "further networks of an ensemble")
      ->expected(0, 255);
  app.add_option("--ensemble", options->ensemble.how,
                 "one artifact of several networks: mean of their outputs, or "
                 "vote, the share of them that tells a class; each has the "
                 "parameters that lie beside it")
      ->check(OneOf({"mean", "vote"}))
      ->type_name("mean|vote");
  app.option_defaults()->group("Output");
  app.add_option("-o", options->emit.output,
                 "the file to write (default: MODEL's name)")
      ->type_name("OUT.mxa");
  AddPictureOptions(app, options->pictures);
  AddEntryOptions(app, options->request);
  AddTrainingOptions(app, request.training);
  AddPlanOptions(app, options->request);
  AddFunctionsOption(app);
  AddKernelOptions(app, request);
  AddSampleOptions(app, options->samples);
  app.add_option(
         "--accuracy-budget", options->accuracy_budget,
         "compute with fewer bits what can be so that the network gets worse "
         "by no more than this on the samples, in points of accuracy (else "
         "percent of the metric): weights as --weights says, or what is kept "
         "between layers as --precision says; where neither does, layers of "
         "8-bit numbers, as 'mxc calibrate' makes them")
      ->transform(Percent())
      ->type_name("P%")
      ->group("Data");
  app.option_defaults()->group("Output");
  app.add_option(
         "--emit", options->emit.kinds,
         "what to write; web: a folder with a page that runs and trains "
         "the network in a browser, and a module for Node")
      ->delimiter(',')
      ->check(OneOf({"mxa", "web", "so", "obj", "header", "llvm", "asm", "ptx",
                     "dot", "ir"}))
      ->capture_default_str();
  app.add_option("--transformed-weights", request.transform_at_load,
                 "where weights of Winograd's kernels are transformed: in the "
                 "file, mapped and shared; or at load, for a file as small as "
                 "the parameters")
      ->transform(Named<bool>({{"file", false}, {"load", true}}))
      ->default_str("file")
      ->type_name("file|load");
  app.add_option(
         "--golden", request.golden,
         "keep a digest of what each entry computes, with which 'inspect "
         "--check --run' compares; auto: on, unless --target names "
         "another machine's level")
      ->transform(Named<Golden>({{"auto", Golden::kAuto},
                                 {"on", Golden::kOn},
                                 {"off", Golden::kOff}}))
      ->default_str("auto")
      ->type_name("on|off|auto");
  app.option_defaults()->group("Report");
  app.add_flag("--time-passes", options->time_passes,
               "how long each pass took");
  app.add_flag("--print-passes", options->print_passes,
               "list the pipeline, in order, and stop");
  AddJsonOption(app, options->emit.style);
  AddQuietOption(app, options->emit.style);
  app.footer(
      "examples:\n"
      "  mxc compile models/resnet-50.json --init xavier\n"
      "  mxc compile net-symbol.json --batch 1,8 -o net.mxa\n"
      "  mxc compile net.json --emit obj,header\n"
      "  mxc compile net-symbol.json --data digits --accuracy-budget 0.5%\n"
      "  mxc compile net.json --emit web --entry train,infer -o page\n"
      "  mxc compile --ensemble mean a-symbol.json b-symbol.json -o ab.mxa\n"
      "  mxc compile net.json --init xavier --entry train,score");
  return [options]() -> int {
    if (options->request.request.network.model.empty() &&
        !options->print_passes) {
      throw CLI::RequiredError("MODEL");
    }
    return RunCompile(*options);
  };
}

}  // namespace mxc
