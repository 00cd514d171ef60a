// SPDX-License-Identifier: Apache-2.0
// mxc dot: a network as a picture for Graphviz.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "passes/pass.h"
#include "tools/command.h"
#include "tools/diagram/diagram.h"
#include "tools/diagram/graphviz.h"
#include "tools/driver/plan.h"
#include "tools/output_file.h"
#include "tools/request_options.h"
#include "tools/terminal.h"

namespace mxc {
namespace {

struct DotOptions {
  ReportStyle style;
  RequestOptions request;
  std::string after;   // a graph pass; empty: the network as written
  std::string output;  // empty: stdout
  bool plain = false;
  std::vector<std::string> unfold;  // blocks
};

// The graph as the pass `after` leaves it.
Result<Diagram> DiagramAfterPass(const std::string& after,
                                 const CompileRequest& request,
                                 LoadedNetwork& network) {
  MXC_ASSIGN(const DType storage,
             network.StorageFor(request.First(), request.multiplied()));
  MXC_ASSIGN(const Target target, ResolveTarget(request.target, storage));
  MXC_ASSIGN(Model model,
             network.Specialize(request.For(0),
                                request.trains() ? ParameterUse::kStates
                                                 : ParameterUse::kConstants));
  model.graph.training =
      PurposeNamed(request.entries.front()) == Purpose::kTrain;
  PassContext context;
  context.target = &target;
  if (request.trains()) context.training = &request.training;
  std::optional<Diagram> diagram;
  PassOptions passes;
  passes.level = request.level;
  passes.disabled = {request.disabled.begin(), request.disabled.end()};
  passes.after_pass = [&](const PassOptions::Report& report) {
    if (report.name == after && report.graph) {
      diagram = GraphDiagram(*report.graph);
    }
  };
  MXC_RETURN_IF_ERROR(RunGraphPasses(model.graph, context, passes));
  if (!diagram) {
    return UnplacedError(
        fmt::format("pass '{}' did not run at -O{}", after, request.level));
  }
  return std::move(*diagram);
}

// Returns whether every operator can be compiled and every shape is known, so
// that there is a program to show.
bool CanPlan(const Graph& graph) {
  for (const Node* node : graph.TopologicalOrder()) {
    for (const TensorType& type : node->types) {
      if (!type.shape.known()) return false;
    }
  }
  return RequireSupported(graph).ok();
}

Result<Diagram> MakeDiagram(const DotOptions& options) {
  MXC_ASSIGN(const CompileRequest request, RequestOf(options.request));
  MXC_ASSIGN(const auto network, LoadedNetwork::Read(request.network));
  MXC_RETURN_IF_ERROR(network->SetClasses(request));
  if (!options.after.empty()) {
    return DiagramAfterPass(options.after, request, *network);
  }
  MXC_ASSIGN(Model model, network->Draft(request.First()));
  MXC_RETURN_IF_ERROR(InferTypes(model.graph, /*complete=*/false));
  if (options.plain || !CanPlan(model.graph)) {
    return GraphDiagram(model.graph);
  }
  Progress silent;
  MXC_ASSIGN(const Plan plan, MakePlan(request, network, silent));
  return StepDiagram(
      MakeOverview(plan.programs.front(), plan.target, *plan.catalog),
      TextsOf(model.graph));
}

Result<std::string> Draw(const DotOptions& options) {
  MXC_RETURN_IF_ERROR(RequireOutputName(
      options.output, {options.request.request.network.model}, ".dot"));
  MXC_ASSIGN(Diagram diagram, MakeDiagram(options));
  MXC_RETURN_IF_ERROR(Unfold(options.unfold, diagram));
  return GraphvizText(diagram);
}

int RunDot(DotOptions& options) {
  options.request.request.network.make_up_weights = true;
  const Result<std::string> dot = Draw(options);
  if (!dot.ok()) {
    return Fail(options.style, dot.errors(), "nothing was written");
  }
  if (options.output.empty()) {
    if (options.style.json) {
      PrintJson({{"dot", *dot}});
    } else {
      PrintLines(stdout, *dot);
    }
    return kSuccess;
  }
  const Status written = WriteOutput(options.output, *dot);
  if (!written.ok()) return Fail(options.style, written.errors());
  if (options.style.json) PrintJson({{"files", {options.output}}});
  return kSuccess;
}

// Graphviz makes pictures of what is written here.
std::string CheckOutput(const std::string& path) {
  for (const char* format : {"png", "svg", "pdf"}) {
    if (!path.ends_with(std::string(".") + format)) continue;
    return fmt::format(
        "'{1}' would hold text; Graphviz draws it: mxc dot … | dot -T{0} -o "
        "{1}",
        format, path);
  }
  return "";
}

std::string CheckGraphPass(const std::string& name) {
  std::string known;
  for (const PassDescription& pass : AllPasses()) {
    if (pass.stage != "graph") continue;
    if (pass.name == name) return "";
    known += (known.empty() ? "" : ", ") + std::string(pass.name);
  }
  return fmt::format("'{}' is no pass over graphs; those are {}", name, known);
}

}  // namespace

std::function<int()> AddDot(CLI::App& app) {
  auto options = std::make_shared<DotOptions>();
  AddModelOptions(app, options->request);
  AddClassesOption(app, options->request.request.network);
  app.get_option("MODEL")->required();
  app.option_defaults()->group("Drawing");
  app.add_option("-o", options->output, "the file to write (default: stdout)")
      ->check(CheckOutput)
      ->type_name("g.dot");
  app.add_option("--after", options->after,
                 "the network as a pass over graphs leaves it")
      ->check(CheckGraphPass)
      ->type_name("PASS");
  app.add_flag("--plain", options->plain,
               "the network as written, without the plan");
  app.add_option("--unfold", options->unfold,
                 "open these blocks, or all; a picture that would exceed a "
                 "screen shows them as boxes")
      ->delimiter(',')
      ->type_name("BLOCK,…");
  AddEntryOptions(app, options->request);
  AddTrainingOptions(app, options->request.request.training);
  AddPlanOptions(app, options->request);
  ReferToCompile(app);
  AddJsonOption(app, options->style);
  app.footer(
      "examples:\n"
      "  mxc dot models/lenet.json | dot -Tsvg -o lenet.svg\n"
      "  mxc dot models/resnet-50.json --unfold stage2 -o net.dot\n"
      "  mxc dot models/lenet.json --entry train -o step.dot\n"
      "a page that zooms and folds: mxc inspect MODEL --html FILE");
  return [options] { return RunDot(*options); };
}

}  // namespace mxc
