// SPDX-License-Identifier: Apache-2.0
// mxc compile: MODEL becomes one native file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "codegen/codegen.h"
#include "passes/pass.h"
#include "runtime/artifact/container.h"
#include "runtime/base/shell_word.h"
#include "tools/command.h"
#include "tools/diagram/diagram.h"
#include "tools/diagram/graphviz.h"
#include "tools/driver/compile.h"
#include "tools/driver/plan_text.h"
#include "tools/driver/temporary_file.h"
#include "tools/output_file.h"
#include "tools/overview.h"
#include "tools/picture_settings.h"
#include "tools/request_options.h"
#include "tools/run/label_file.h"
#include "tools/terminal.h"
#include "tools/train_shapes.h"
#include "tools/usage/values.h"

namespace mxc {
namespace {

struct CompileOptions {
  ReportStyle style;
  RequestOptions request;
  std::string output;
  PictureSettings pictures;
  std::vector<std::string> emit = {"mxa"};
  bool time_passes = false, print_passes = false;

  bool Emits(std::string_view kind) const {
    return std::find(emit.begin(), emit.end(), kind) != emit.end();
  }
};

// What one run has to say.
struct Outcome {
  struct Phase {
    std::string name;
    double seconds;
  };
  std::vector<Phase> phases;
  ArtifactSizes sizes;
  int64_t kernels = 0, cached = 0;  // of them from the object cache
  std::vector<std::string> files;
  OutputSet texts;       // all of them but the artifact
  std::string artifact;  // empty: not written

  // For an error that came meanwhile.
  std::string WhatIsWritten() const {
    std::vector<std::string> written = texts.written();
    if (!artifact.empty()) written.push_back(artifact);
    if (written.empty()) return "nothing was written";
    return fmt::format("written: {}", fmt::join(written, ", "));
  }
};

void PrintPasses(const ReportStyle& style) {
  if (style.json) {
    Json passes = Json::array();
    for (const PassDescription& pass : AllPasses()) {
      passes.push_back({{"name", pass.name},
                        {"stage", pass.stage},
                        {"required", pass.required},
                        {"prose", pass.prose}});
    }
    PrintJson({{"passes", passes}});
    return;
  }
  for (const PassDescription& pass : AllPasses()) {
    PrintOut("{:<28} {:<8} {:<9} {}\n", pass.name, pass.stage,
             pass.required ? "required" : "optional", pass.prose);
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

Status WriteText(const std::string& path, std::string_view bytes,
                 Outcome& outcome) {
  MXC_RETURN_IF_ERROR(outcome.texts.Add(path, bytes));
  outcome.files.push_back(path);
  return Done{};
}

Result<Artifact> GenerateVisibly(const ReportStyle& style,
                                 const CompileRequest& request,
                                 const Plan& plan) {
  WorkCount count;
  const Working working(style, "generate", &count);
  return Generate(request, plan, &count);
}

// Everything that is asked for beside the artifact, named after it.
Status EmitTexts(const CompileOptions& options, const CompileRequest& request,
                 const Plan& plan, const std::string& stem, Outcome& outcome) {
  if (options.Emits("ir")) {
    std::string text;
    for (const Program& program : plan.programs) text += Print(program);
    MXC_RETURN_IF_ERROR(WriteText(stem + ".ir", text, outcome));
  }
  if (options.Emits("dot")) {
    MXC_ASSIGN(const Model model, plan.network->Specialize(request.First()));
    MXC_RETURN_IF_ERROR(
        WriteText(stem + ".dot",
                  GraphvizText(StepDiagram(MakeOverview(plan.programs.front()),
                                           TextsOf(model.graph))),
                  outcome));
  }
  return Done{};
}

Status EmitStandalone(const CompileOptions& options,
                      const CompileRequest& request, const Plan& plan,
                      const std::string& stem, Outcome& outcome) {
  if (!options.Emits("obj") && !options.Emits("header")) return Done{};
  MXC_ASSIGN(const StandaloneObject object,
             GenerateStandalone(plan.programs, plan.target,
                                {.cache = request.objects.get()}));
  if (options.Emits("obj")) {
    MXC_RETURN_IF_ERROR(WriteText(stem + ".o", object.object, outcome));
    MXC_RETURN_IF_ERROR(WriteText(stem + ".weights", object.weights, outcome));
  }
  if (options.Emits("header")) {
    MXC_RETURN_IF_ERROR(WriteText(stem + ".h", object.header, outcome));
  }
  return Done{};
}

// The image alone, as the artifact holds it.
Status ExtractImage(const std::string& artifact, const std::string& path,
                    Outcome& outcome) {
  auto container = runtime::Container::Open(artifact);
  if (!container.ok()) return UnplacedError(container.status().message());
  const runtime::Bytes code = container->section(MXC_SECTION_CODE);
  return WriteText(
      path, {reinterpret_cast<const char*>(code.data()), code.size()}, outcome);
}

Status EmitArtifact(const CompileOptions& options,
                    const CompileRequest& request, const Artifact& artifact,
                    const std::string& stem, Outcome& outcome) {
  const bool keep = options.Emits("mxa");
  std::optional<runtime::NamelessFile> nameless;
  if (!keep) {
    MXC_ASSIGN(nameless, MakeTemporaryFile());
  }
  const std::string path = keep ? options.output : nameless->path();
  {
    WorkCount count{.bytes = true};
    Working working(options.style, "write", &count);
    MXC_ASSIGN(outcome.sizes,
               Save(request, artifact, path, &count,
                    [&](const char* what) { working.Say(what); }));
  }
  if (keep) outcome.artifact = path;
  if (options.Emits("so")) {
    MXC_RETURN_IF_ERROR(ExtractImage(path, stem + ".so", outcome));
  }
  if (keep) outcome.files.push_back(path);
  return Done{};
}

void PrintGenerate(const CompileOptions& options, const CompileRequest& request,
                   const Artifact& artifact, int64_t code_bytes) {
  int64_t steps = 0;
  for (const Program& program : artifact.plan.programs) {
    steps += std::ssize(program.steps);
  }
  const std::string size =
      code_bytes > 0 ? FormatBytes(code_bytes) + " of code" : "code";
  PrintPhase(options.style, "generate",
             fmt::format("{}, {}, {} for {}", Count(steps, "step"),
                         DescribeKernels(artifact.code), size,
                         artifact.plan.target.name),
             artifact.generate_seconds);
  if (request.objects != nullptr) {
    const std::string problem = request.objects->problem();
    if (!problem.empty()) {
      PrintPhase(options.style, "note", "kernels not kept: " + problem);
    }
  }
}

// What a device's kernels are written as, and what a host's are.
Status CheckForms(const CompileOptions& options, const Target& target) {
  const bool device = target.backend == "cuda";
  for (const char* kind : {"asm", "obj", "header", "so", "ptx"}) {
    const bool ptx = kind == std::string_view("ptx");
    if (options.Emits(kind) && device != ptx) {
      return UnplacedError(
          fmt::format("--emit {} is for targets of {}, not "
                      "for '{}'",
                      kind, ptx ? "a GPU" : "a processor", target.name));
    }
  }
  return Done{};
}

Status EmitNative(const CompileOptions& options, const CompileRequest& request,
                  const Plan& plan, const std::string& stem, Outcome& outcome) {
  MXC_RETURN_IF_ERROR(CheckForms(options, plan.target));
  const bool file = options.Emits("mxa") || options.Emits("so");
  if (!file && !request.keep_llvm && !request.keep_assembly) return Done{};
  MXC_ASSIGN(const Artifact artifact,
             GenerateVisibly(options.style, request, plan));
  outcome.kernels = std::ssize(artifact.code.kernels);
  outcome.cached = artifact.code.cached;
  if (request.keep_llvm) {
    MXC_RETURN_IF_ERROR(WriteText(stem + ".ll", artifact.code.llvm, outcome));
  }
  if (request.keep_assembly) {
    const char* extension = options.Emits("ptx") ? ".ptx" : ".s";
    MXC_RETURN_IF_ERROR(
        WriteText(stem + extension, artifact.code.assembly, outcome));
  }
  const Stopwatch write;
  if (file) {
    MXC_RETURN_IF_ERROR(
        EmitArtifact(options, request, artifact, stem, outcome));
  }
  PrintGenerate(options, request, artifact, outcome.sizes.code_bytes);
  outcome.phases.push_back({"generate", artifact.generate_seconds});
  outcome.phases.push_back({"write", write.seconds()});
  return Done{};
}

// OUT without the extension of a kind of file that we write.
std::string StemOf(const std::string& output) {
  for (const std::string_view extension :
       {".mxa", ".so", ".o", ".h", ".ll", ".s", ".ptx", ".dot", ".ir"}) {
    if (output.ends_with(extension)) {
      return output.substr(0, output.size() - extension.size());
    }
  }
  return output;
}

Status Emit(const CompileOptions& options, const CompileRequest& request,
            const Plan& plan, Outcome& outcome) {
  outcome.phases = {{"read", plan.read_seconds},
                    {"optimize", plan.optimize_seconds},
                    {"plan", plan.plan_seconds}};
  const std::string stem = StemOf(options.output);
  MXC_RETURN_IF_ERROR(CheckForms(options, plan.target));
  MXC_RETURN_IF_ERROR(EmitTexts(options, request, plan, stem, outcome));
  MXC_RETURN_IF_ERROR(EmitStandalone(options, request, plan, stem, outcome));
  MXC_RETURN_IF_ERROR(EmitNative(options, request, plan, stem, outcome));
  return outcome.texts.Commit();
}

Json ToJson(const TuningReport& tuning) {
  return {{"contractions", tuning.contractions},
          {"cached", tuning.cached},
          {"measured", tuning.measured},
          {"changed", tuning.changed},
          {"seconds", tuning.seconds},
          {"cache", tuning.cache},
          {"note", tuning.note}};
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

void PrintReport(const CompileOptions& options, const Plan& plan,
                 const Outcome& outcome, double seconds) {
  Json phases = Json::array();
  for (const Outcome::Phase& phase : outcome.phases) {
    phases.push_back({{"name", phase.name}, {"seconds", phase.seconds}});
  }
  const ParameterFile& file = plan.network->parameter_file();
  const Overview largest = MakeOverview(plan.largest());
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
  if (plan.tuning) report["tuning"] = ToJson(*plan.tuning);
  if (options.time_passes) {
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

// "digits" where these fit, else a word to replace.
std::string SourceFor(const Program& program) {
  const std::vector<int> inputs = program.BuffersOf(BufferKind::kInput);
  if (inputs.empty()) return "SOURCE";
  const Shape& shape = program.buffers[inputs.front()].type.shape;
  const bool digits = shape.rank() == 4 && shape[1] == 1 && shape[2] == 28;
  return digits ? "digits" : "SOURCE";
}

// The next command that a person would type.
void PrintNext(const CompileOptions& options, const Plan& plan) {
  if (options.style.quiet || !options.Emits("mxa")) return;
  const Program& program = plan.programs.front();
  const std::string output = runtime::ShellWord(options.output);
  if (program.entry.starts_with("train")) {
    PrintErr("next: mxc train {} --data {}\n", output, SourceFor(program));
    return;
  }
  if (!plan.carries.empty() && !plan.label_names.empty()) {  // it writes
    PrintErr("next: mxc sample {}\n", output);
    return;
  }
  constexpr int kMostNamed = 8;
  std::string inputs;
  int count = 0;
  const std::vector<bool> read = ReadBuffers(program);
  for (const int b : program.BuffersOf(BufferKind::kInput)) {
    if (!read[b] || ++count > kMostNamed) continue;
    const Buffer& buffer = program.buffers[b];
    const bool picture =
        buffer.type.shape.rank() == 4 &&
        (buffer.type.shape[1] == 3 || buffer.type.shape[1] == 1);
    inputs += fmt::format(" --input {}={}", buffer.name,
                          picture ? "photo.jpg" : "x.npy");
  }
  if (count > kMostNamed) inputs += " …";
  PrintErr("next: mxc run {}{}\n", output, inputs);
}

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

// What the artifact keeps of pictures and classes.
Status TakePictures(const PictureSettings& settings, CompileRequest& request) {
  request.pictures = settings.words;
  if (settings.labels.empty()) return Done{};
  auto names = run::ReadLabelFile(settings.labels);
  if (!names.ok()) return UnplacedError(names.status().message());
  request.label_names = std::move(*names);
  return Done{};
}

Status RequireOutput(const std::string& path, const CompileRequest& request) {
  const runtime::Status to = runtime::RequireDestination(path);
  if (!to.ok()) return UnplacedError(to.message());
  return RequireOutputName(path,
                           {request.network.model, request.network.params});
}

int RunCompile(CompileOptions options) {
  if (options.print_passes) {
    PrintPasses(options.style);
    return kSuccess;
  }
  const Stopwatch watch;
  Result<CompileRequest> request = RequestOf(options.request);
  if (request.ok() && !options.output.empty()) {
    const Status to = RequireOutput(options.output, *request);
    if (!to.ok()) request = to.errors();
  }
  if (request.ok()) {
    const Status pictures = TakePictures(options.pictures, *request);
    if (!pictures.ok()) request = pictures.errors();
  }
  if (!request.ok()) {
    return Fail(options.style, request.errors(), "nothing was written");
  }
  request->keep_llvm = options.Emits("llvm");
  request->keep_assembly = options.Emits("asm") || options.Emits("ptx");
  TerminalProgress progress(options.style);
  WarnOfUnused(*request, progress);
  const Result<Plan> plan = MakePlan(*request, progress);
  if (!plan.ok()) {
    return Fail(options.style, plan.errors(), "nothing was written");
  }
  for (const std::string& sentence :
       OtherShapes(*plan->network, request->input_shapes)) {
    PrintPhase(options.style, "note", sentence);
  }
  if (options.output.empty()) options.output = plan->stem + ".mxa";
  Outcome outcome;
  const Status emitted = Emit(options, *request, *plan, outcome);
  if (!emitted.ok()) {
    return Fail(options.style, emitted.errors(), outcome.WhatIsWritten());
  }
  if (options.style.json) {
    PrintReport(options, *plan, outcome, watch.seconds());
    return kSuccess;
  }
  for (const std::string& file : outcome.files) {
    PrintWrote(options.style, file);
  }
  if (options.time_passes) PrintPassTimes(*plan);
  PrintNext(options, *plan);
  return kSuccess;
}

}  // namespace

std::function<int()> AddCompile(CLI::App& app) {
  auto options = std::make_shared<CompileOptions>();
  CompileRequest& request = options->request.request;
  AddModelOptions(app, options->request);
  AddWeightOptions(app, request.network);
  app.option_defaults()->group("Weights");
  app.add_option("--classes", request.network.classes,
                 "give the network's last layer N outputs; its parameters "
                 "begin anew, by --init, where --params has others")
      ->check(AtLeast(2))
      ->type_name("N");
  app.option_defaults()->group("Output");
  app.add_option("-o", options->output,
                 "the file to write (default: MODEL's name)")
      ->type_name("OUT.mxa");
  AddPictureOptions(app, options->pictures);
  AddEntryOptions(app, options->request);
  AddTrainingOptions(app, request.training);
  AddPlanOptions(app, options->request);
  AddFunctionsOption(app);
  AddKernelOptions(app, request);
  app.option_defaults()->group("Output");
  app.add_option("--emit", options->emit, "what to write")
      ->delimiter(',')
      ->check(OneOf(
          {"mxa", "so", "obj", "header", "llvm", "asm", "ptx", "dot", "ir"}))
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
  AddJsonOption(app, options->style);
  AddQuietOption(app, options->style);
  app.footer(
      "examples:\n"
      "  mxc compile models/resnet-50.json --init xavier\n"
      "  mxc compile net-symbol.json --batch 1,8 -o net.mxa\n"
      "  mxc compile net.json --emit obj,header\n"
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
