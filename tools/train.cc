// SPDX-License-Identifier: Apache-2.0
// mxc train: compiles MODEL for training on the given data, then hands over to
// `mxc-run train`, whose options are known here, too.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string_view>

#include "frontend/variables.h"
#include "runtime/data/iterator.h"
#include "runtime/kvstore/averaging.h"
#include "tools/artifact_overview.h"
#include "tools/command.h"
#include "tools/driver/compile.h"
#include "tools/driver/plan_text.h"
#include "tools/driver/temporary_file.h"
#include "tools/request_options.h"
#include "tools/run/job.h"
#include "tools/run/subcommand.h"
#include "tools/saved_series.h"
#include "tools/source_help.h"
#include "tools/usage/values.h"

namespace mxc {
namespace {

struct TrainOptions {
  ReportStyle style;
  RequestOptions request;
  std::string output;  // empty: a file that goes with the process
  std::string data;
  std::vector<std::string> data_options;
  int64_t batch_size = 64;
  bool begins_anew = false;  // --init was said
  std::string kvstore;       // of a job
  std::string device;        // as mxc-run will be told; empty: the target's
};

// What mxc-run is told as well; the others are settled when it is compiled.
const std::set<std::string>& SharedOptions() {
  static const std::set<std::string> names = {
      "MODEL",  "--data",  "--data-opt", "--batch-size", "--seed",
      "--json", "--quiet", "--help",     "--functions",  "--kvstore"};
  return names;
}

// What mxc-run alone knows: its options, here for --help and to find mistakes
// before anything is compiled.
class Loop {
 public:
  Loop() : command_(run::AddTrain(app_, reporting_)) {}

  // Declares on `app` what it does not have.
  void Declare(CLI::App& app) {
    for (const CLI::Option* option : app_.get_options()) {
      const std::string name = option->get_name();
      if (option->get_positional() || name == "--help" ||
          app.get_option_no_throw(name) != nullptr) {
        continue;
      }
      names_.insert(name);
      app.add_option(option->get_name(false, true), CLI::callback_t(Accept),
                     option->get_description())
          ->type_size(option->get_type_size_min(), option->get_type_size_max())
          ->expected(option->get_expected_min(), option->get_expected_max())
          ->allow_extra_args(option->get_allow_extra_args())
          ->type_name(option->get_type_name())
          ->default_str(option->get_default_str())
          ->group(option->get_group());
    }
  }
  bool Knows(const std::string& name) const { return names_.contains(name); }

  // Throws what mxc-run would say of these words.
  void Check(std::vector<std::string> words) {
    std::ranges::reverse(words);
    app_.parse(std::move(words));
  }

 private:
  static bool Accept(const CLI::results_t&) { return true; }

  CLI::App app_;
  run::Reporting reporting_;
  run::Command command_;
  std::set<std::string> names_;
};

// What was learned on other data goes on with their numbers of labels, and with
// pictures that are treated as theirs.
Result<std::unique_ptr<data::Iterator>> OpenData(
    const TrainOptions& options, const train::Provenance& learned) {
  data::IteratorOptions settings;
  settings.label_names = LabelNamesOf(learned);
  settings.preprocessing = learned.Note("preprocess");
  settings.batch_size = options.batch_size;
  settings.threads = 0;  // only shapes are asked for
  for (const std::string& text : options.data_options) {
    const size_t equals = text.find('=');
    if (equals == text.npos) {
      return UnplacedError(
          fmt::format("--data-opt '{}' is not NAME=VALUE", text));
    }
    settings.settings.emplace_back(text.substr(0, equals),
                                   text.substr(equals + 1));
  }
  auto opened = data::Open(options.data, settings);
  if (!opened.ok()) return UnplacedError(opened.status().message());
  return std::move(*opened);
}

// The shape of each input that the data fill: by name, else in order.
void AddShapes(const std::vector<std::string>& inputs,
               const std::vector<data::Field>& fields, InputShapes& shapes) {
  for (size_t k = 0; k < inputs.size(); ++k) {
    auto field = std::ranges::find(fields, inputs[k], &data::Field::name);
    if (field == fields.end() && k < fields.size()) {
      field = fields.begin() + static_cast<ptrdiff_t>(k);
    }
    if (field == fields.end()) continue;
    shapes.insert_or_assign(inputs[k], field->shape);
  }
}

// The network before the shapes are settled. One whose inputs have open extents
// ("T") is read with the shapes of the arrays that have the inputs' names.
Result<Model> DraftForShapes(const data::Iterator& source,
                             const LoadedNetwork& network, Specialization of) {
  Result<Model> model = network.Draft(of);
  if (model.ok()) return model;
  for (const auto* fields :
       {&source.provides().data, &source.provides().labels}) {
    for (const data::Field& field : *fields) {
      of.shapes.emplace(field.name, field.shape);
    }
  }
  Result<Model> shaped = network.Draft(of);
  return shaped.ok() ? std::move(shaped) : std::move(model);
}

// The shapes that the source says, for every input of which the command line
// says nothing.
void TakeShapes(const data::Iterator& source, const Model& model,
                CompileRequest& request) {
  std::vector<std::string> data, labels;
  for (const Node* input : model.graph.Variables(VariableRole::kInput)) {
    if (request.input_shapes.contains(input->name)) continue;
    const bool label =
        IsLabel(model.graph, *input) || input->name.ends_with("label");
    (label ? labels : data).push_back(input->name);
  }
  for (int bucket = 0; bucket < source.buckets(); ++bucket) {
    const data::Provides& provides = source.provides(bucket);
    InputShapes shapes = request.input_shapes;
    AddShapes(data, provides.data, shapes);
    AddShapes(labels, provides.labels, shapes);
    if (source.buckets() == 1) {
      request.input_shapes = std::move(shapes);
    } else {
      request.buckets.push_back({source.bucket_key(bucket), std::move(shapes)});
    }
  }
}

// A target that the device runs, unless one was named.
void ChooseTarget(const std::string& device, CompileRequest& request) {
  if (request.target != CompileRequest().target) return;
  if (!device.starts_with("cuda")) return;
  // Later generations run it, too.
  request.target =
      ResolveTarget("cuda:emulated").ok() ? "cuda:emulated" : "cuda:sm_80";
}

// Each of several devices gets a part of the batch.
Status DealBatch(const TrainOptions& options, const Model& model,
                 CompileRequest& request) {
  const int64_t devices = 1 + std::ranges::count(options.device, ',');
  if (devices == 1) return Done{};
  request.training.replicas = static_cast<int>(devices);
  Diagnostics errors;
  if (!request.buckets.empty()) {
    errors.push_back(
        UnplacedError("sequences of several lengths train on one device"));
  }
  for (auto& [name, shape] : request.input_shapes) {
    const Node* input = model.graph.FindVariable(name);
    if (shape.empty() || input == nullptr) continue;
    const auto rank = static_cast<int>(shape.size());
    if (shape[0] % devices != 0 || BatchAxis(*input, rank) != 0) {
      errors.push_back(UnplacedError(fmt::format(
          "'{}' of shape {} cannot be dealt to {} devices: they take equal "
          "parts along the first axis, which is the batch's",
          name, ToString(Shape(Extents(shape.begin(), shape.end()))),
          devices)));
    }
    shape[0] /= devices;
  }
  if (!errors.empty()) return errors;
  return Done{};
}

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
                         "tells {} apart",
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
};

// Or all that is wrong with any of it.
Result<Material> Gather(const TrainOptions& options,
                        const SavedSeries& series) {
  Material material;
  Diagnostics errors;
  MXC_ASSIGN(material.request, RequestOf(options.request));
  NetworkRequest& network = material.request.network;
  Done room;
  TakeOrAdd(RequireRoom(series), room, errors);
  network.parameters = std::make_shared<const ParameterFile>();
  TakeOrAdd(FirstParameters(options.request.request.network, series,
                            options.begins_anew),
            network.parameters, errors);
  TakeOrAdd(OpenData(options, network.parameters->provenance), material.source,
            errors);
  TakeOrAdd(LoadedNetwork::Read(network), material.network, errors);
  if (!errors.empty()) return errors;
  return material;
}

Status CompileTo(const std::string& path, const TrainOptions& options,
                 const SavedSeries& series) {
  MXC_ASSIGN(Material material, Gather(options, series));
  auto& [request, source, network] = material;
  MXC_ASSIGN(const Model model,
             DraftForShapes(*source, *network, request.For(0)));
  request.label_names = source->label_names();
  request.preprocessing = source->preprocessing();
  TakeShapes(*source, model, request);
  ChooseTarget(options.device, request);
  MXC_RETURN_IF_ERROR(DealBatch(options, model, request));
  request.entries = {"train", "score"};
  const bool in_job = run::InJob();
  // Servers update the parameters, unless workers train by themselves.
  if (in_job && !kvstore::ParseRule(options.kvstore)) {
    request.entries = {"grad", "update", "score"};
  }
  request.golden = Golden::kOff;
  ReportStyle style = options.style;
  if (in_job && !run::SpeaksForJob()) style.quiet = true;
  TerminalProgress progress(style);
  MXC_ASSIGN(Plan plan, MakePlan(request, network, progress));
  WarnOfFewClasses(style, plan);
  TellFirstParameters(style, request.network);
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

// Returns where mxc-run finds the artifact: the file to keep, or one that goes
// with mxc-run.
Result<std::string> CompileSomewhere(
    const TrainOptions& options, const SavedSeries& series,
    std::optional<runtime::NamelessFile>& temporary) {
  std::string path = options.output;
  if (path.empty()) {
    MXC_ASSIGN(temporary, MakeTemporaryFile());
    path = temporary->path();
  }
  MXC_RETURN_IF_ERROR(CompileTo(path, options, series));
  if (!temporary) return path;
  const runtime::Status kept = temporary->KeepAtExec();
  if (!kept.ok()) return UnplacedError(kept.message());
  return path;
}

// What was said to both and what was not said to the compiler.
std::vector<std::string> WordsForRun(const CLI::App& app, const Loop& loop) {
  std::vector<std::string> words;
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    const bool shared = SharedOptions().contains(name);
    if (name == "MODEL" || name == "--batch-size" || option->count() == 0 ||
        !(shared || loop.Knows(name))) {
      continue;
    }
    if (option->get_expected_max() == 0) {
      words.push_back(name);
      continue;
    }
    for (const std::string& value : option->results()) {
      words.push_back(name);
      words.push_back(value);
    }
  }
  return words;
}

// `mxc-run train ARTIFACT`.
int HandOver(const CLI::App& app, const Loop& loop,
             const std::string& artifact) {
  std::vector<std::string> words = {"mxc", "train", artifact};
  for (const std::string& word : WordsForRun(app, loop)) words.push_back(word);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  return HandOverToRun(argv.data());
}
// An artifact has been compiled: what would have settled that comes too late.
Status RequireNoPlan(const CLI::App& app, const Loop& loop,
                     const std::string& artifact) {
  Diagnostics errors;
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || SharedOptions().contains(name) ||
        loop.Knows(name)) {
      continue;
    }
    errors.push_back(UnplacedError(fmt::format(
        "{} is settled when a network is compiled; '{}' is an artifact", name,
        artifact)));
  }
  if (!errors.empty()) return errors;
  return Done{};
}

int RunTrain(TrainOptions options, const CLI::App& app, Loop& loop) {
  std::vector<std::string> words = WordsForRun(app, loop);
  words.insert(words.begin(), options.request.request.network.model);
  loop.Check(words);
  const CLI::Option* device = app.get_option("--device");
  if (device->count() > 0) options.device = device->results().back();
  options.begins_anew = app.get_option("--init")->count() > 0;
  const std::string& model = options.request.request.network.model;
  if (IsArtifact(model)) {
    const Status legal = RequireNoPlan(app, loop, model);
    if (!legal.ok()) return Fail(options.style, legal.errors());
    return HandOver(app, loop, model);
  }
  std::optional<runtime::NamelessFile> temporary;
  const Result<std::string> artifact =
      CompileSomewhere(options, SeriesAmong(words), temporary);
  if (!artifact.ok()) {
    return Fail(options.style, artifact.errors(), "nothing was trained");
  }
  return HandOver(app, loop, *artifact);
}

}  // namespace

std::function<int()> AddTrain(CLI::App& app) {
  auto options = std::make_shared<TrainOptions>();
  CompileRequest& request = options->request.request;
  request.network.init = "xavier";
  AddModelOptions(app, options->request);
  app.get_option("MODEL")->required()->description(
      "a network to compile for training, or an artifact that trains");
  AddWeightOptions(app, request.network);
  app.get_option("--init")->capture_default_str()->description(
      "initialize missing parameters; without --params and --epoch, all of "
      "them, whatever lies beside MODEL: " +
      InitializersHelp());
  app.option_defaults()->group("Data");
  app.add_option("--data", options->data,
                 "what to train on:\n" + data::SourcesHelp())
      ->required()
      ->type_name("SOURCE");
  app.add_option("--data-opt", options->data_options,
                 "an option of the data (repeatable); help: list them")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  OfferSourceHelp(app, {{"--data", options->data, options->data_options}});
  app.add_option("--batch-size", options->batch_size, "samples of a step")
      ->check(AtLeast(1))
      ->capture_default_str();
  AddTrainingOptions(app, request.training);
  AddPlanOptions(app, options->request);
  AddFunctionsOption(app);
  AddKernelOptions(app, request);
  app.add_option("--kvstore", options->kvstore,
                 "of a job (mxc launch): dist_sync, allreduce_ea …")
      ->type_name("HOW");
  app.option_defaults()->group("Report");
  app.add_option("-o", options->output, "keep the artifact")
      ->type_name("OUT.mxa");
  AddJsonOption(app, options->style);
  AddQuietOption(app, options->style);
  auto loop = std::make_shared<Loop>();
  loop->Declare(app);
  app.footer(
      "examples:\n"
      "  mxc train models/mlp.json --data digits --save net\n"
      "  mxc train net.json --data folder:photos \\\n"
      "      --data-opt data_shape=3,224,224 --val folder:more \\\n"
      "      --lr 0.05 --opt momentum=0.9 --save net\n"
      "  mxc train net.json --data digits --save net --resume\n"
      "what a source of data takes: --data csv:F --data-opt help");
  return
      [options, loop, &app]() -> int { return RunTrain(*options, app, *loop); };
}

}  // namespace mxc
