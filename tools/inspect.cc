// SPDX-License-Identifier: Apache-2.0
// mxc inspect: what an artifact holds, or what a network would become.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tools/artifact_overview.h"
#include "tools/command.h"
#include "tools/communication.h"
#include "tools/driver/plan.h"
#include "tools/driver/stages.h"
#include "tools/operator_use.h"
#include "tools/output_file.h"
#include "tools/overview.h"
#include "tools/page/html_page.h"
#include "tools/request_options.h"
#include "tools/signature/requirement.h"
#include "tools/stage_timeline.h"
#include "tools/terminal.h"

namespace mxc {
namespace {

struct InspectOptions {
  ReportStyle style;
  RequestOptions request;
  bool memory = false, steps = false, ops = false, manifest = false;
  bool communication = false, schedule = false;
  bool check = false, run = false;
  signature::Requirement requirement;
  std::string html, picture;

  const std::string& model() const { return request.request.network.model; }
  const std::string& params() const { return request.request.network.params; }
  bool needs_plan() const { return memory || steps || !html.empty(); }
};

// Prints them or, with --json, adds them to the report.
void InspectOperators(const InspectOptions& options, const Graph& graph,
                      Json& report) {
  const auto uses = OperatorsOf(graph);
  if (options.style.json) {
    report["operators"] = OperatorsToJson(uses);
  } else {
    PrintOperators(uses);
  }
}

// --- plans

Json OverviewToJson(const InspectOptions& options, const Overview& overview) {
  Json json = MemoryToJson(overview);
  if (!options.memory) json.erase("buffers");
  if (options.steps) json["steps"] = StepsToJson(overview);
  if (options.communication) {
    json["communication"] = CommunicationToJson(overview);
    for (const auto& [workers, bytes] : overview.shares) {
      json["optimizer_bytes_of_workers"][std::to_string(workers)] = bytes;
    }
  }
  return json;
}

// Updates, of which there is one for each parameter, in one line.
void PrintSummaries(const std::vector<Overview>& overviews) {
  const auto updates = std::ranges::count(overviews, true, &Overview::updates);
  for (const Overview& overview : overviews) {
    if (updates > 1 && overview.updates) continue;
    PrintOut("{}\n", overview.Title());
    PrintSummary(overview);
  }
  if (updates < 2) return;
  const ProgramEntry any = {.purpose = Purpose::kUpdate, .of = "PARAMETER"};
  PrintOut("{}.{}, {} entries (--memory, --steps)\n", overviews.front().network,
           any.Name(), updates);
}

// What the page of --html shows beside the plan.
struct PageParts {
  OperatorTexts operators;
  std::vector<TensorStatistics> weights;
};

// The reports that were asked for, for each entry; a summary by default.
int Report(const InspectOptions& options,
           const std::vector<Overview>& overviews, const PageParts& page,
           const Json& more) {
  if (!options.html.empty()) {
    const Diagram diagram = StepDiagram(overviews.front(), page.operators);
    const Status written = WriteOutput(
        options.html, MakeHtmlPage(overviews.front(), diagram, page.weights));
    if (!written.ok()) return Fail(options.style, written.errors());
  }
  if (options.style.json) {
    Json report;
    if (overviews.size() == 1) {
      report = OverviewToJson(options, overviews.front());
    } else {
      report["entries"] = Json::array();
      for (const Overview& overview : overviews) {
        report["entries"].push_back(OverviewToJson(options, overview));
      }
    }
    report.update(more);
    PrintJson(report);
    return kSuccess;
  }
  if (options.memory || options.steps || options.communication) {
    for (const Overview& overview : overviews) {
      PrintOut("{}\n", overview.Title());
      if (options.memory) PrintMemory(overview);
      if (options.steps) PrintSteps(overview);
      if (options.communication) PrintCommunication(overview);
    }
  } else {
    PrintSummaries(overviews);
  }
  if (!options.html.empty()) PrintOut("wrote {}\n", options.html);
  return kSuccess;
}

// Where no plan was asked for.
int ReportOnly(const InspectOptions& options, const Json& report) {
  if (options.style.json) PrintJson(report);
  return kSuccess;
}

// --- the two kinds of file

// The network as it came, but for --classes.
Result<Model> ModelToLookAt(const InspectOptions& options,
                            bool read_parameters) {
  MXC_ASSIGN(const CompileRequest request, RequestOf(options.request));
  if (request.network.classes == 0) {
    return LoadModel(request.network, request.For(0), read_parameters);
  }
  MXC_ASSIGN(const auto network, LoadedNetwork::Read(request.network));
  MXC_RETURN_IF_ERROR(network->SetClasses(request));
  return read_parameters ? network->DraftWithParameters(request.For(0))
                         : network->Draft(request.For(0));
}

Result<Plan> PlanToLookAt(const InspectOptions& options) {
  MXC_ASSIGN(CompileRequest request, RequestOf(options.request));
  request.network.make_up_weights = true;
  Progress silent;
  return MakePlan(request, silent);
}

// --schedule: of a network in stages.
Status ReportSchedule(const InspectOptions& options) {
  MXC_ASSIGN(CompileRequest request, RequestOf(options.request));
  request.network.make_up_weights = true;
  request.entries = {"train"};
  if (request.cut.count() == 1) {
    return UnplacedError(
        "--schedule is of a network in stages: --stages, --place");
  }
  MXC_ASSIGN(const auto network, LoadedNetwork::Read(request.network));
  MXC_RETURN_IF_ERROR(network->SetClasses(request));
  Progress silent;
  MXC_RETURN_IF_ERROR(SettleStages(request, network, silent));
  std::vector<Plan> plans;
  for (int stage = 0; stage < request.training.stages; ++stage) {
    request.training.stage = stage;
    MXC_ASSIGN(Plan plan, MakePlan(request, network, silent));
    plans.push_back(std::move(plan));
  }
  const StageTimeline timeline = TimelineOf(plans);
  if (!options.picture.empty()) {
    MXC_RETURN_IF_ERROR(
        WriteOutput(options.picture, TimelinePicture(timeline)));
  }
  if (options.style.json) {
    PrintJson(TimelineToJson(timeline));
  } else {
    PrintTimeline(timeline);
  }
  return Done{};
}

// The weights are those in the file beside the network, if there is one.
Result<PageParts> PagePartsOf(const InspectOptions& options) {
  PageParts parts;
  if (options.html.empty()) return parts;
  MXC_ASSIGN(const Model model,
             ModelToLookAt(options, /*read_parameters=*/true));
  parts.operators = TextsOf(model.graph);
  for (const auto& [name, tensor] : model.parameters) {
    const auto size = static_cast<size_t>(tensor.size_bytes());
    parts.weights.push_back(
        StatisticsOf(name, tensor.type(), std::span(tensor.bytes(), size)));
  }
  return parts;
}

int InspectModel(const InspectOptions& options) {
  const ReportStyle& style = options.style;
  if (options.manifest || options.communication) {
    return Fail(style,
                {UnplacedError(fmt::format(
                    "'{}' is no artifact; {} needs OUT.mxa", options.model(),
                    options.manifest ? "--manifest" : "--communication"))});
  }
  if (!options.schedule && options.request.request.cut.count() > 1) {
    return Fail(style,
                {UnplacedError("--stages and --place go with --schedule")});
  }
  if (options.schedule) {
    const Status shown = ReportSchedule(options);
    return shown.ok() ? kSuccess : Fail(style, shown.errors());
  }
  Json more = Json::object();
  if (options.ops || (options.check && !options.needs_plan())) {
    const Result<Model> model = ModelToLookAt(options, options.check);
    if (!model.ok()) return Fail(style, model.errors());
    if (options.ops) InspectOperators(options, model->graph, more);
  }
  if (options.ops && !options.needs_plan()) return ReportOnly(options, more);
  const Result<Plan> plan = PlanToLookAt(options);
  if (!plan.ok()) return Fail(style, plan.errors());
  std::vector<Overview> overviews;
  for (const Program& program : plan->programs) {
    overviews.push_back(MakeOverview(program, plan->target, *plan->catalog));
  }
  const auto page = PagePartsOf(options);
  if (!page.ok()) return Fail(style, page.errors());
  return Report(options, overviews, *page, more);
}

// Prints what was found, without --json.
Result<Json> ReportCheck(const InspectOptions& options,
                         const InspectedArtifact& artifact,
                         const runtime::Approval& approve) {
  const std::string& path = options.model();
  const ArtifactFindings& found = artifact.findings;
  Json report = {
      {"sound", true}, {"sha256", found.sha256}, {"signer", found.signer}};
  if (!options.style.json) {
    PrintOut("{}: every section is sound\nsha256 {}, {}\n", path, found.sha256,
             found.signer.empty() ? "not signed" : "signed by " + found.signer);
  }
  if (!options.run) return report;
  MXC_ASSIGN(const int same, CheckGolden(path, approve));
  report["golden"] = same;
  if (!options.style.json) {
    PrintOut("golden digests: {} of {} as when it was compiled\n", same,
             artifact.entries.size());
  }
  return report;
}

// Of communication, those that have any.
std::vector<Overview> EntriesToReport(const InspectOptions& options,
                                      const InspectedArtifact& artifact) {
  std::vector<Overview> entries = artifact.entries;
  if (!options.communication) return entries;
  std::erase_if(entries,
                [](const Overview& entry) { return entry.exchanges.empty(); });
  return entries.empty() ? artifact.entries : entries;
}

Result<Model> ModelIn(const InspectedArtifact& artifact,
                      const std::string& path) {
  return LoadText(std::make_shared<SourceFile>(
                      SourceFile{path + " (network)", artifact.symbol}),
                  {});
}

// A network that cannot be read leaves its operators unexplained.
PageParts PagePartsOf(const InspectOptions& options,
                      const InspectedArtifact& artifact) {
  PageParts parts;
  if (options.html.empty()) return parts;
  parts.weights = artifact.weights;
  const Result<Model> model = ModelIn(artifact, options.model());
  if (model.ok()) parts.operators = TextsOf(model->graph);
  return parts;
}

int InspectArtifact(const InspectOptions& options) {
  const std::string& path = options.model();
  if (options.request.request.network.classes > 0) {
    return Fail(options.style,
                {UnplacedError(fmt::format(
                    "'{}' is compiled; --classes needs a network", path))});
  }
  if (options.schedule) {
    return Fail(options.style,
                {UnplacedError(fmt::format(
                    "'{}' is compiled; --schedule needs a network", path))});
  }
  const auto approve = options.requirement.Approval();
  if (!approve.ok()) {
    return Fail(options.style, {UnplacedError(approve.status().message())});
  }
  const Result<InspectedArtifact> artifact =
      ReadArtifact(path, {.approve = *approve,
                          .check = options.check,
                          .weights = !options.html.empty()});
  if (!artifact.ok()) return Fail(options.style, artifact.errors());
  Json more = Json::object();
  if (options.check) {
    Result<Json> checked = ReportCheck(options, *artifact, *approve);
    if (!checked.ok()) return Fail(options.style, checked.errors());
    more["check"] = std::move(*checked);
  }
  if (options.manifest && options.style.json) {
    more["manifest"] = ManifestToJson(artifact->manifest);
  } else if (options.manifest) {
    PrintLines(stdout, artifact->manifest);
  }
  if (options.ops) {
    const Result<Model> model = ModelIn(*artifact, path);
    if (!model.ok()) return Fail(options.style, model.errors());
    InspectOperators(options, model->graph, more);
  }
  const bool alone =
      options.manifest || options.ops || (options.check && !options.style.json);
  if (alone && !options.needs_plan()) return ReportOnly(options, more);
  return Report(options, EntriesToReport(options, *artifact),
                PagePartsOf(options, *artifact), more);
}

}  // namespace

std::function<int()> AddInspect(CLI::App& app) {
  auto options = std::make_shared<InspectOptions>();
  AddModelOptions(app, options->request);
  AddClassesOption(app, options->request.request.network);
  app.get_option("MODEL")->required()->description(
      "an artifact, or a network, which needs no weights");
  app.option_defaults()->group("What to show");
  app.add_flag("--memory", options->memory,
               "peak, lower bound, and what shares bytes with what");
  app.add_flag("--steps", options->steps, "what runs, in order");
  app.add_flag("--communication", options->communication,
               "of an artifact with an entry 'grad': when a worker of a job "
               "sends which gradient, and by when its parameter must be back");
  CLI::Option* schedule = app.add_flag(
      "--schedule", options->schedule,
      "of a network in stages (--stages, --place): what each of them does in a "
      "training step, when by the modelled times, and its exact bytes");
  app.add_option("--picture", options->picture, "and as a picture, SVG")
      ->needs(schedule)
      ->type_name("FILE.svg");
  app.add_flag("--ops", options->ops, "operators, unknown ones marked");
  app.add_flag("--manifest", options->manifest,
               "what the artifact says of itself");
  CLI::Option* check = app.add_flag(
      "--check", options->check,
      "all checksums and digests of an artifact and the rules about its code, "
      "or all of a network");
  app.add_flag("--run", options->run,
               "with --check: run the artifact's code and compare what it "
               "computes with what it computed when it was compiled")
      ->needs(check);
  options->requirement.Declare(app);
  app.add_option("--html", options->html,
                 "write one page: the graph, memory over time, the steps")
      ->type_name("FILE");
  AddEntryOptions(app, options->request);
  AddTrainingOptions(app, options->request.request.training);
  AddStageOptions(app, options->request.request.cut);
  AddPlanOptions(app, options->request);
  AddFunctionsOption(app);
  ReferToCompile(app);
  AddJsonOption(app, options->style);
  app.footer(
      "examples:\n"
      "  mxc inspect net.mxa --memory --steps\n"
      "  mxc inspect models/resnet-50.json --html resnet-50.html\n"
      "  mxc inspect net.mxa --check --run\n"
      "An .mxa file is a program. Only --run runs anything of it;\n"
      "all else reads it and is safe, whoever made the file.");
  return [options] {
    const Status legal = RequireOutputName(
        options->html, {options->model(), options->params()}, ".html");
    if (!legal.ok()) return Fail(options->style, legal.errors());
    return IsArtifact(options->model()) ? InspectArtifact(*options)
                                        : InspectModel(*options);
  };
}

}  // namespace mxc
