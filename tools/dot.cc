// SPDX-License-Identifier: Apache-2.0
// mxc dot: a network as a picture for Graphviz.
#include <fmt/format.h>

#include <memory>

#include "passes/pass.h"
#include "tools/command.h"
#include "tools/drawing.h"
#include "tools/output_file.h"
#include "tools/plan.h"
#include "tools/terminal.h"

namespace mxc {
namespace {

struct DotOptions {
  Manners manners;
  PlanOptions plan;
  std::string after;   // a graph pass; empty: the network as written
  std::string output;  // empty: stdout
  bool plain = false;
};

// The graph as the pass `after` leaves it.
Result<std::string> DrawAfterPass(const DotOptions& options) {
  MXC_ASSIGN(const Target target, ResolveTarget(options.plan.target));
  const bool trains = Trains(options.plan);
  MXC_ASSIGN(Model model, LoadNetwork(options.plan.network, 0,
                                      trains ? ParameterUse::kStates
                                             : ParameterUse::kConstants));
  model.graph.training = options.plan.entries.front() == "train";
  PassContext context;
  context.target = &target;
  if (trains) context.training = &options.plan.training;
  std::string dot;
  PassOptions passes;
  passes.level = options.plan.level;
  passes.disabled = {options.plan.disabled.begin(),
                     options.plan.disabled.end()};
  passes.after_pass = [&](const PassOptions::Report& report) {
    if (report.name == options.after && report.graph) {
      dot = DrawDot(*report.graph, nullptr);
    }
  };
  MXC_RETURN_IF_ERROR(RunGraphPasses(model.graph, context, passes));
  if (dot.empty()) {
    return Complaint(fmt::format("pass '{}' did not run at -O{}", options.after,
                                 options.plan.level));
  }
  return dot;
}

// Whether every operator can be compiled and every shape is known, so that
// there is a program to show.
bool CanPlan(const Graph& graph) {
  for (const Node* node : graph.TopologicalOrder()) {
    for (const TensorType& type : node->types) {
      if (!type.shape.known()) return false;
    }
  }
  return RequireSupported(graph).ok();
}

Result<std::string> Draw(const DotOptions& options) {
  if (!options.after.empty()) return DrawAfterPass(options);
  const int64_t batch =
      options.plan.batches.empty() ? 0 : options.plan.batches.front();
  MXC_ASSIGN(Model model, LoadModel(options.plan.network, batch,
                                    /*read_parameters=*/false));
  MXC_RETURN_IF_ERROR(InferTypes(model.graph, /*complete=*/false));
  if (options.plain || !CanPlan(model.graph)) {
    return DrawDot(model.graph, nullptr);
  }
  MXC_ASSIGN(const Plan plan, MakePlan(options.plan, {.quiet = true}));
  return DrawDot(model.graph, &plan.programs.front());
}

int RunDot(DotOptions& options) {
  options.plan.network.make_up_weights = true;
  const Result<std::string> dot = Draw(options);
  if (!dot.ok()) {
    return Fail(options.manners, dot.errors(), "nothing was written");
  }
  if (options.output.empty()) {
    PrintLines(stdout, *dot);
    return kSuccess;
  }
  const Status written = WriteOutput(options.output, *dot);
  return written.ok() ? kSuccess : Fail(options.manners, written.errors());
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
  AddModelOptions(app, options->plan.network);
  app.get_option("MODEL")->required();
  app.add_option("-o", options->output, "the file to write (default: stdout)")
      ->type_name("g.dot");
  app.add_option("--after", options->after,
                 "the network as a pass over graphs leaves it")
      ->check(CheckGraphPass)
      ->type_name("PASS");
  app.add_flag("--plain", options->plain,
               "the network as written, without the plan");
  AddEntryOptions(app, options->plan);
  AddTrainingOptions(app, options->plan);
  AddPlanOptions(app, options->plan);
  AddJsonOption(app, options->manners);
  return [options] { return RunDot(*options); };
}

}  // namespace mxc
