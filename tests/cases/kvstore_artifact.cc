// SPDX-License-Identifier: Apache-2.0
#include "tests/cases/kvstore_artifact.h"

#include <utility>
#include <vector>

#include "codegen/codegen.h"
#include "ir/optimizers/optimizer.h"
#include "passes/training_graph.h"
#include "tests/cases/attribute_text.h"
#include "tests/support/levels.h"

namespace mxc {
namespace {

Result<Program> MakeProgram(Graph graph, const TrainingOptions* training,
                            const Target& target, const KernelCatalog& catalog,
                            ProgramEntry entry) {
  PassContext context;
  context.target = &target;
  context.catalog = &catalog;
  context.training = training;
  MXC_ASSIGN(Program program, RunPipeline(std::move(graph), context, {}));
  program.entry = std::move(entry);
  return program;
}

TensorRoles RolesOf(const Graph& network, const std::string& label) {
  TensorRoles roles;
  for (const auto& node : network.nodes()) {
    if (node->kind != Node::Kind::kVariable) continue;
    if (node->role == VariableRole::kParameter) {
      roles.parameters.push_back(node->name);
    } else if (node->role == VariableRole::kInput) {
      (node->name == label ? roles.labels : roles.data).push_back(node->name);
    }
  }
  return roles;
}

}  // namespace

TrainingOptions OptimizerOfJob(const nlohmann::json& line, bool decay_by_name) {
  TrainingOptions training;
  training.optimizer = line["optimizer"];
  training.decay_by_name = decay_by_name;
  for (const auto& [key, value] : line["args"].items()) {
    training.optimizer_attrs.emplace_back(key, AttributeText(value));
  }
  return training;
}

Result<double> LearningRateOf(const TrainingOptions& training) {
  const Optimizer* optimizer = FindOptimizer(training.optimizer);
  if (optimizer == nullptr) return Error({}, "no '{}'", training.optimizer);
  std::vector<AttrError> mistakes;
  const AttrsPtr attrs = optimizer->parse(training.optimizer_attrs, mistakes);
  if (!mistakes.empty()) return Error({}, "{}", mistakes[0].message);
  return optimizer->options(attrs.get()).learning_rate;
}

Status WriteJobArtifact(const std::string& path, Graph network,
                        const TrainingOptions& training,
                        const std::string& label) {
  MXC_ASSIGN(const Target target, test::RunnableTarget("x86-64-v3"));
  const auto catalog = MakeKernelCatalog(target);
  const TensorRoles roles = RolesOf(network, label);
  std::vector<Program> programs;
  for (const std::string& name : roles.parameters) {
    MXC_ASSIGN(Graph graph,
               UpdateGraph(network, *network.FindVariable(name), training));
    MXC_ASSIGN(Program program,
               MakeProgram(std::move(graph), nullptr, target, *catalog,
                           {.purpose = Purpose::kUpdate, .of = name}));
    programs.push_back(std::move(program));
  }
  if (!network.outputs.empty()) {
    TrainingOptions gradients = training;
    gradients.optimizer.clear();
    network.training = true;
    MXC_ASSIGN(Program program,
               MakeProgram(std::move(network), &gradients, target, *catalog,
                           {.purpose = Purpose::kGrad}));
    programs.insert(programs.begin(), std::move(program));
  }
  MXC_ASSIGN(const CodeImage code, GenerateCode(programs, target, {}));
  MXC_ASSIGN(const ArtifactSections sections,
             MakeSections(programs, code, target, roles));
  const auto written = WriteArtifact(path, sections, {}, "");
  if (!written.ok()) return written.errors();
  return Done{};
}

}  // namespace mxc
