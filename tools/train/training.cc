// SPDX-License-Identifier: Apache-2.0
#include "tools/train/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "runtime/base/destination.h"
#include "runtime/data/iterator.h"
#include "runtime/fit/outputs.h"
#include "runtime/fit/request.h"
#include "runtime/job/job.h"
#include "runtime/kvstore/averaging.h"
#include "runtime/train/caffe_snapshot.h"
#include "runtime/train/read_parameters.h"
#include "tools/artifact_overview.h"
#include "tools/driver/compile.h"
#include "tools/driver/plan_text.h"
#include "tools/driver/stages.h"
#include "tools/output_file.h"
#include "tools/train/train_devices.h"
#include "tools/train/train_labels.h"
#include "tools/train/train_shapes.h"
#include "tools/usage/source_help.h"
#include "tools/usage/values.h"

namespace mxc {
namespace {

// Labels beyond the values of an output are never learned, and no loss tells.
void WarnOfFewClasses(const ReportStyle& style, const Plan& plan) {
  const Program& program = plan.programs.front();
  const Buffer& output =
      program.buffers[program.BuffersOf(BufferKind::kOutput).front()];
  const Shape& shape = output.type.shape;
  const int64_t values = shape.rank() > 0 ? shape[shape.rank() - 1] : 1;
  const int64_t names = std::ssize(plan.label_names);
  if (values == 1 || values >= names) return;
  PrintPhase(style, "note",
             fmt::format("the data have {} classes or symbols, output '{}' "
                         "tells {} apart; --classes auto gives it as many",
                         names, output.name, values));
}

// Whoever did not name a file may expect new parameters.
void TellFirstParameters(const ReportStyle& style,
                         const NetworkRequest& network) {
  const std::string& path = network.parameters->path;
  if (path.empty() || !network.params.empty() || network.epoch) return;
  PrintPhase(style, "note",
             fmt::format("training begins with {}, found beside {}; with "
                         "--init {} it begins anew",
                         path, network.model, network.init));
}

// What a training step is made from.
struct Material {
  CompileRequest request;
  std::unique_ptr<data::Iterator> source;
  std::shared_ptr<LoadedNetwork> network;
  std::vector<data::Field> taken;  // what the network says of its inputs
};

std::vector<std::string> ReadFiles(const TrainOptions& options) {
  const NetworkRequest& network = options.request.request.network;
  std::vector<std::string> files = {network.model, network.params,
                                    options.states};
  for (const std::string& source : {options.data.source, options.validation}) {
    for (std::string& file : data::FilesOfSource(source)) {
      files.push_back(std::move(file));
    }
  }
  return files;
}

// What mxc-run would refuse after the network has been compiled.
Status RequireFiles(const TrainOptions& options) {
  const bool silent = job::InJob() && !job::SpeaksForJob();
  Diagnostics errors;
  for (const std::string& sentence : fit::UnwritableOf(
           {options.series.prefix, silent ? "" : options.log_folder,
            options.trace, ReadFiles(options)})) {
    errors.push_back(UnplacedError(sentence));
  }
  const std::string incomplete = job::IncompleteJob();
  if (!incomplete.empty()) errors.push_back(UnplacedError(incomplete));
  if (!options.states.empty()) {
    const bool caffes = train::IsCaffeState(options.states);
    const runtime::Status read =
        caffes ? train::ReadCaffeState(options.states).status()
               : train::ReadStates(options.states).status();
    if (!read.ok()) errors.push_back(UnplacedError(read.message()));
  }
  Done legal;
  TakeOrAdd(RequireOutputName(options.output, ReadFiles(options), ".mxa"),
            legal, errors);
  if (!options.output.empty()) {
    const auto output = runtime::RequireDestination(options.output);
    if (!output.ok()) errors.push_back(UnplacedError(output.message()));
  }
  if (!errors.empty()) return errors;
  return Done{};
}

// Empty: this is no job.
std::string KvstoreOf(const TrainOptions& options) {
  if (!job::InJob()) return "";
  return options.kvstore.empty() ? job::JobOptions().kvstore : options.kvstore;
}

Status RequireCombinationOf(const TrainOptions& options) {
  const std::string& name = options.request.request.target;
  const auto target = ResolveTarget(name);
  const bool elsewhere = target.ok() && !target->runs_on_host();
  const std::string device = !options.device.empty() ? options.device
                             : elsewhere             ? name
                                                     : "";
  const std::string cannot = fit::CannotCombine(
      {options.accumulates, options.averages, device, KvstoreOf(options),
       options.shards_states, options.shards_parameters, options.saves_pieces,
       options.saves_caffe, options.request.request.cut.count()});
  if (!cannot.empty()) return UnplacedError(cannot);
  if (options.request.request.cut.count() > 1 && !options.output.empty()) {
    return UnplacedError(
        "-o keeps one artifact, and a network in stages has one for each");
  }
  return Done{};
}

// Or all that is wrong with any of it.
Result<Material> Gather(const TrainOptions& options) {
  Material material;
  Diagnostics errors;
  MXC_ASSIGN(material.request, RequestOf(options.request));
  NetworkRequest& network = material.request.network;
  Done legal;
  TakeOrAdd(RequireRoom(options.series), legal, errors);
  TakeOrAdd(RequireFiles(options), legal, errors);
  TakeOrAdd(RequireDevices(options.device), legal, errors);
  TakeOrAdd(RequireCombinationOf(options), legal, errors);
  network.parameters = std::make_shared<const ParameterFile>();
  TakeOrAdd(FirstParameters(options.request.request.network, options.series,
                            options.begins_anew),
            network.parameters, errors);
  Diagnostics unread;
  TakeOrAdd(LoadedNetwork::Read(network), material.network, unread);
  DataRequest data = options.data;
  if (material.network != nullptr) {
    data.takes = material.taken =
        TakenBy(*material.network, material.request.For(0));
  } else {  // its shapes are not what is wrong
    data.takes = {{"data", data::ElementType::kF32, {1, 3, 1, 1}}};
  }
  train::Provenance learned =
      material.network == nullptr
          ? network.parameters->provenance
          : material.network->parameter_file().provenance;
  // The classes are to be those of the data.
  const bool anew =
      !options.classes.empty() ||
      (material.network != nullptr && !learned.Note("label_names").empty() &&
       material.network->BeginsClasses(material.request.For(0)));
  if (anew && !options.series.resume) learned.notes.erase("label_names");
  TakeOrAdd(OpenData(data, learned), material.source, errors);
  if (material.source != nullptr && !options.validation.empty()) {
    TakeOrAdd(RequireValidation(options.validation, options.validation_options,
                                data, *material.source),
              legal, errors);
  }
  errors.Append(unread);
  if (!errors.empty()) return errors;
  return material;
}

// What only a plan can tell of what was asked for, and of the data.
Status CheckPlan(const TrainOptions& options, const Material& material,
                 const Plan& plan, const ReportStyle& style) {
  const data::Iterator& source = *material.source;
  for (const std::string& sentence : OtherShapes(material.taken, source)) {
    PrintPhase(style, "note", sentence);
  }
  if (material.request.training.stages == 1) {  // else mxc-run does
    MXC_RETURN_IF_ERROR(RequireStates(options.series, material.request, plan));
  }
  MXC_RETURN_IF_ERROR(
      RequireSamples(options.series, options.data, *material.source));
  WarnOfFewClasses(style, plan);
  TellFirstParameters(style, material.request.network);
  return Done{};
}

Status GenerateTo(const std::string& path, const CompileRequest& request,
                  Plan plan, const ReportStyle& style) {
  const Stopwatch watch;
  std::string generated;
  {
    WorkCount count;
    const Working working(style, "generate", &count);
    MXC_ASSIGN(const Artifact artifact,
               Generate(request, std::move(plan), &count));
    MXC_RETURN_IF_ERROR(Save(request, artifact, path));
    generated = fmt::format("{} for {}", DescribeKernels(artifact.code),
                            artifact.plan.target.name);
  }
  PrintPhase(style, "generate", generated, watch.seconds());
  return Done{};
}

using PlanUse = std::function<Status(size_t stage, const CompileRequest&, Plan,
                                     const ReportStyle&)>;

// Plans each stage for training on the data, or tells all that is wrong.
Status PlanEach(const TrainOptions& options, const PlanUse& use) {
  MXC_ASSIGN(Material material, Gather(options));
  auto& [request, source, network, taken] = material;
  MXC_ASSIGN(const Model model,
             DraftForShapes(*source, *network, request.For(0)));
  request.label_names = source->label_names();
  request.preprocessing = source->preprocessing();
  TakeShapes(*source, model, request);
  ChooseTarget(options.device, request);
  MXC_RETURN_IF_ERROR(DealBatch(options.device, model, request));
  MXC_RETURN_IF_ERROR(SetClasses(options.classes, *source, request, *network));
  MXC_RETURN_IF_ERROR(MixLabels(*source, *network, request));
  request.entries = {"train", "score"};
  const bool in_job = job::InJob();
  // Servers update the parameters, unless workers train by themselves.
  const bool served = in_job && !kvstore::ParseRule(options.kvstore);
  const bool staged = request.cut.count() > 1;  // each updates its own
  if (!staged && (served || options.accumulates)) {
    request.entries = {"grad", "update", "score"};
  }
  request.training.gradient_norms = !options.log_folder.empty();
  request.golden = Golden::kOff;
  MXC_RETURN_IF_ERROR(
      RequireMetrics(options.metrics, HeadsOf(*network, request)));
  ReportStyle style = options.style;
  if (in_job && !job::SpeaksForJob()) style.quiet = true;
  TerminalProgress progress(style);
  MXC_RETURN_IF_ERROR(SettleStages(request, network, progress));
  for (int stage = 0; stage < request.cut.count(); ++stage) {
    request.training.stage = stage;
    MXC_ASSIGN(Plan plan, MakePlan(request, network, progress));
    MXC_RETURN_IF_ERROR(RequireLabels(*source, plan));
    if (stage == 0) {
      MXC_RETURN_IF_ERROR(CheckPlan(options, material, plan, style));
    }
    MXC_RETURN_IF_ERROR(
        use(static_cast<size_t>(stage), request, std::move(plan), style));
  }
  return Done{};
}

// What mxc-run is told.
void TakeFromLoop(const TrainLoop& loop, TrainOptions& options) {
  options.device = loop.Value("--device");
  options.series = {.prefix = loop.Value("--save"),
                    .resume = loop.Says("--resume") || job::JobResumes(),
                    .overwrite = loop.Says("--overwrite")};
  options.data.seed = options.request.request.network.seed;
  options.data.shuffle = !loop.Says("--no-shuffle");
  options.validation = loop.Value("--val");
  options.validation_options = loop.Values("--val-opt");
  options.log_folder = loop.Value("--log-dir");
  options.trace = loop.Value("--trace");
  const std::string accumulate = loop.Value("--accumulate");
  options.averages = loop.Says("--ema");
  options.shards_states = loop.Says("--shard-states");
  options.shards_parameters = loop.Says("--shard-parameters");
  options.saves_pieces = loop.Says("--save-pieces");
  options.saves_caffe = loop.Says("--save-caffe");
  options.accumulates = !accumulate.empty() && accumulate != "1";
  options.states = loop.Value("--states");
  options.metrics = loop.Value("--metric");
}

}  // namespace

Training::Training(CLI::App& app, std::optional<SolverWords> solver)
    : app_(app) {
  options_.solver = std::move(solver);
  CompileRequest& request = options_.request.request;
  request.network.state.training = true;
  request.network.init = "xavier";
  AddModelOptions(app, options_.request);
  app.get_option("MODEL")->required()->description(
      "a network to compile for training, an artifact that trains, or a solver "
      "of Caffe, whose settings the options that are given win over");
  AddWeightOptions(app, request.network);
  app.get_option("--init")->capture_default_str()->description(
      "initialize missing parameters; without --params and --epoch, all of "
      "them, whatever lies beside MODEL: " +
      InitializersHelp());
  app.get_option("--seed")->description(
      "of the values that --init makes up, of the order of the samples, of "
      "what is drawn and distorted, and of the network's own random numbers");
  app.option_defaults()->group("Data");
  app.add_option("--data", options_.data.source,
                 "what to train on (required, unless a solver says it):\n" +
                     data::SourcesHelp())
      ->type_name("SOURCE");
  app.add_option("--data-opt", options_.data.settings,
                 "an option of the data (repeatable); help: list them")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  OfferSourceHelp(app, {{"--data", options_.data.source, options_.data.settings,
                         /*shuffles=*/true}});
  app.add_option("--batch-size", options_.data.batch_size, "samples of a step")
      ->check(AtLeast(1))
      ->capture_default_str();
  app.option_defaults()->group("Weights");
  app.add_option("--classes", options_.classes,
                 "give the network's last layer as many outputs as the data "
                 "have classes (auto), or N; its parameters begin anew where "
                 "--params has others")
      ->check(CheckClasses)
      ->type_name("auto|N");
  AddTrainingOptions(app, request.training);
  AddStageOptions(app, request.cut);
  AddPlanOptions(app, options_.request);
  // The data's batch is --batch-size.
  app.remove_option(app.get_option("--batch"));
  AddFunctionsOption(app);
  AddKernelOptions(app, request);
  app.option_defaults()->group("Jobs");
  app.add_option("--kvstore", options_.kvstore,
                 "of a job (mxc launch): dist_sync, allreduce_ea …")
      ->type_name("HOW");
  app.option_defaults()->group("Report");
  app.add_option("-o", options_.output, "keep the artifact")
      ->type_name("OUT.mxa");
  app.add_option("--snapshot", options_.snapshot,
                 "go on from a .solverstate of Caffe and the .caffemodel that "
                 "it names, as a solver says")
      ->type_name("FILE");
  app.add_flag("--dry-run", options_.dry,
               "say what would be trained, on what and by which rates; nothing "
               "is compiled or written");
  AddJsonOption(app, options_.style);
  AddQuietOption(app, options_.style);
  loop_.Declare(app);
}

void Training::Settle() {
  std::vector<std::string> words = WordsForRun(app_, loop_);
  words.insert(words.begin(), options_.request.request.network.model);
  // Where nothing is read nothing needs to be named.
  if (options_.dry && options_.data.source.empty()) {
    words.insert(words.end(), {"--data", "none"});
  }
  loop_.Check(words);
  TakeFromLoop(loop_, options_);
  options_.begins_anew = app_.get_option("--init")->count() > 0;
}

Status Training::RequireCombination() const {
  return RequireCombinationOf(options_);
}

Status Training::CompileTo(const std::vector<std::string>& paths) const {
  return PlanEach(options_, [&](size_t stage, const CompileRequest& request,
                                Plan plan, const ReportStyle& style) {
    return GenerateTo(paths[stage], request, std::move(plan), style);
  });
}

Status Training::RequirePlans() const {
  TrainOptions silent = options_;
  silent.style.quiet = true;
  // No kernel is measured.
  silent.request.request.level = std::min(silent.request.request.level, 2);
  return PlanEach(silent,
                  [](size_t, const CompileRequest&, const Plan&,
                     const ReportStyle&) -> Status { return Done{}; });
}

}  // namespace mxc
