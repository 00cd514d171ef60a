// SPDX-License-Identifier: Apache-2.0
// mxc train: compiles MODEL for training on the given data, then hands over to
// `mxc-run train`, which knows the options that are not named here.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <thread>

#include "codegen/codegen.h"
#include "frontend/variables.h"
#include "runtime/data/iterator.h"
#include "tools/artifact_file.h"
#include "tools/artifact_overview.h"
#include "tools/command.h"
#include "tools/plan.h"
#include "tools/saved_series.h"
#include "tools/temporary_file.h"

namespace mxc {
namespace {

struct TrainOptions {
  Manners manners;
  PlanOptions plan;
  std::string output;  // empty: a file that goes with the process
  std::string data;
  std::vector<std::string> data_options;
  int64_t batch_size = 64;
};

// What mxc-run is told as well; the others are settled when it is compiled.
const std::set<std::string>& SharedOptions() {
  static const std::set<std::string> names = {
      "MODEL",  "--data", "--data-opt", "--batch-size",
      "--seed", "--json", "--quiet",    "--help"};
  return names;
}

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
      return Complaint(fmt::format("--data-opt '{}' is not NAME=VALUE", text));
    }
    settings.settings.emplace_back(text.substr(0, equals),
                                   text.substr(equals + 1));
  }
  auto opened = data::Open(options.data, settings);
  if (!opened.ok()) return Complaint(opened.status().message());
  return std::move(*opened);
}

// "data:64x1x28x28" for each input that the data fill: by name, else in order.
std::vector<std::string> ShapesFor(const std::vector<std::string>& inputs,
                                   const std::vector<data::Field>& fields) {
  std::vector<std::string> texts;
  for (size_t k = 0; k < inputs.size(); ++k) {
    auto field = std::ranges::find(fields, inputs[k], &data::Field::name);
    if (field == fields.end() && k < fields.size()) {
      field = fields.begin() + static_cast<ptrdiff_t>(k);
    }
    if (field == fields.end()) continue;
    texts.push_back(
        fmt::format("{}:{}", inputs[k], fmt::join(field->shape, "x")));
  }
  return texts;
}

// The network before the shapes are settled. One whose inputs have open extents
// ("T") is read with the shapes of the arrays that have the inputs' names.
Result<Model> LoadForShapes(const data::Iterator& source,
                            NetworkOptions network) {
  Result<Model> model = LoadModel(network, 0, /*read_parameters=*/false);
  if (model.ok()) return model;
  for (const auto* fields :
       {&source.provides().data, &source.provides().labels}) {
    for (const data::Field& field : *fields) {
      network.input_shapes.push_back(
          fmt::format("{}:{}", field.name, fmt::join(field.shape, "x")));
    }
  }
  Result<Model> shaped = LoadModel(network, 0, /*read_parameters=*/false);
  return shaped.ok() ? std::move(shaped) : std::move(model);
}

// The shapes that the source says, for every input of which the command line
// says nothing.
Status TakeShapes(const data::Iterator& source, const Model& model,
                  PlanOptions& plan) {
  MXC_ASSIGN(const auto given, ParseInputShapes(plan.network.input_shapes));
  std::vector<std::string> data, labels;
  for (const Node* input : model.graph.Variables(VariableRole::kInput)) {
    if (given.contains(input->name)) continue;
    const bool label =
        IsLabel(model.graph, *input) || input->name.ends_with("label");
    (label ? labels : data).push_back(input->name);
  }
  for (int bucket = 0; bucket < source.buckets(); ++bucket) {
    const data::Provides& provides = source.provides(bucket);
    std::vector<std::string> shapes = plan.network.input_shapes;
    for (const std::string& text : ShapesFor(data, provides.data)) {
      shapes.push_back(text);
    }
    for (const std::string& text : ShapesFor(labels, provides.labels)) {
      shapes.push_back(text);
    }
    if (source.buckets() == 1) {
      plan.network.input_shapes = std::move(shapes);
    } else {
      plan.buckets.push_back({source.bucket_key(bucket), std::move(shapes)});
    }
  }
  return Done{};
}

// Labels beyond the values of an output are never learned, and no loss tells.
void WarnOfFewClasses(const Manners& manners, const Plan& plan) {
  const Program& program = plan.programs.front();
  const Buffer& output =
      program.buffers[program.BuffersOf(BufferKind::kOutput).front()];
  const Shape& shape = output.type.shape;
  const int64_t values = shape.rank() > 0 ? shape[shape.rank() - 1] : 1;
  const int64_t names = std::ssize(plan.label_names);
  if (values == 1 || values >= names) return;
  PrintPhase(manners, "note",
             fmt::format("the data have {} classes or symbols, output '{}' "
                         "tells {} apart",
                         names, output.name, values));
}

Status Compile(TrainOptions& options, const std::string& path,
               const SavedSeries& series) {
  MXC_RETURN_IF_ERROR(RequireRoom(series));
  MXC_ASSIGN(options.plan.network.parameters,
             FirstParameters(options.plan.network, series));
  MXC_ASSIGN(const auto source,
             OpenData(options, options.plan.network.parameters->provenance));
  MXC_ASSIGN(const Model model, LoadForShapes(*source, options.plan.network));
  options.plan.label_names = source->label_names();
  options.plan.preprocessing = source->preprocessing();
  MXC_RETURN_IF_ERROR(TakeShapes(*source, model, options.plan));
  options.plan.entries = {"train", "score"};
  MXC_ASSIGN(const Plan plan, MakePlan(options.plan, options.manners));
  WarnOfFewClasses(options.manners, plan);
  const Stopwatch watch;
  CodegenOptions codegen;
  codegen.threads = static_cast<int>(std::thread::hardware_concurrency());
  codegen.cache = options.plan.objects.get();
  MXC_ASSIGN(const CodeImage code,
             GenerateCode(plan.programs, plan.target, codegen));
  MXC_RETURN_IF_ERROR(
      WriteModel(path, options.plan, plan, plan.programs, code, Golden::kOff));
  PrintPhase(options.manners, "generate",
             fmt::format("{} for {}", DescribeKernels(code), plan.target.name),
             watch.seconds());
  return Done{};
}

// Returns where mxc-run finds the artifact: the file to keep, or one that goes
// with mxc-run.
Result<std::string> CompileSomewhere(
    TrainOptions& options, const SavedSeries& series,
    std::optional<runtime::NamelessFile>& temporary) {
  std::string path = options.output;
  if (path.empty()) {
    MXC_ASSIGN(temporary, MakeTemporaryFile());
    path = temporary->path();
  }
  MXC_RETURN_IF_ERROR(Compile(options, path, series));
  if (!temporary) return path;
  const runtime::Status kept = temporary->KeepAtExec();
  if (!kept.ok()) return Complaint(kept.message());
  return path;
}

// `mxc-run train ARTIFACT` with what was said to both and what was not said to
// the compiler.
int HandOver(const CLI::App& app, const std::string& artifact) {
  std::vector<std::string> words = {"mxc", "train", artifact};
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    if (name == "MODEL" || name == "--batch-size" || option->count() == 0 ||
        !SharedOptions().contains(name)) {
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
  for (const std::string& word : app.remaining()) words.push_back(word);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  return HandOverToRun(argv.data());
}

// An artifact has been compiled: what would have settled that comes too late.
Status RequireNoPlan(const CLI::App& app, const std::string& artifact) {
  Diagnostics errors;
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || SharedOptions().contains(name)) continue;
    errors.push_back(Complaint(fmt::format(
        "{} is settled when a network is compiled; '{}' is an artifact", name,
        artifact)));
  }
  if (!errors.empty()) return errors;
  return Done{};
}

int RunTrain(TrainOptions options, const CLI::App& app) {
  const std::string& model = options.plan.network.model;
  if (IsArtifact(model)) {
    const Status legal = RequireNoPlan(app, model);
    if (!legal.ok()) return Fail(options.manners, legal.errors());
    return HandOver(app, model);
  }
  std::optional<runtime::NamelessFile> temporary;
  const Result<std::string> artifact =
      CompileSomewhere(options, SeriesAmong(app.remaining()), temporary);
  if (!artifact.ok()) {
    return Fail(options.manners, artifact.errors(), "nothing was trained");
  }
  return HandOver(app, *artifact);
}

}  // namespace

std::function<int()> AddTrain(CLI::App& app) {
  auto options = std::make_shared<TrainOptions>();
  options->plan.network.init = "xavier";
  AddModelOptions(app, options->plan.network);
  app.get_option("MODEL")->required()->description(
      "a network to compile for training, or an artifact that trains");
  AddWeightOptions(app, options->plan.network);
  app.get_option("--init")->capture_default_str();
  app.add_option("--data", options->data,
                 "what to train on: digits, mnist:DIR, rec:FILE …")
      ->required();
  app.add_option("--data-opt", options->data_options,
                 "an option of the data (repeatable)")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  app.add_option("--batch-size", options->batch_size, "samples of a step")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  AddTrainingOptions(app, options->plan);
  AddPlanOptions(app, options->plan);
  AddKernelOptions(app, options->plan);
  app.add_option("-o", options->output, "keep the artifact")
      ->type_name("OUT.mxa");
  AddJsonOption(app, options->manners);
  AddQuietOption(app, options->manners);
  app.footer("all other options: see 'mxc-run train --help'");
  app.allow_extras();
  return [options, &app]() -> int { return RunTrain(*options, app); };
}

}  // namespace mxc
