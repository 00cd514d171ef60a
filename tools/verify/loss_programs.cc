// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/loss_programs.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <utility>

#include "ir/target/target.h"
#include "passes/pass.h"

namespace mxc {
namespace {

Result<Program> PlainProgram(Graph graph, const TrainingOptions& training) {
  MXC_ASSIGN(const Target target, ResolveTarget("x86-64-v2"));
  PassContext context;
  context.target = &target;
  context.training = &training;
  PassOptions passes;
  passes.level = 0;
  return RunPipeline(std::move(graph), context, passes);
}

// Lets the logarithms of probabilities that FLT_MIN cuts off end at `least`.
// Whether there are any.
bool CutOffAt(double least, Program& loss) {
  bool any = false;
  const auto is_end = [](const Expr& e) {
    return e->kind == ExprKind::kConst && IsFloat(e->dtype) &&
           std::abs(static_cast<double>(e->number) / FLT_MIN - 1) < 1e-5;
  };
  const auto moved = [&](const Expr& e) {
    const bool cut = e->kind == ExprKind::kBinary &&
                     e->binary == BinaryOp::kMax && is_end(e->args[1]);
    if (!cut) return Expr();
    any = true;
    return Cast(
        Max(Cast(e->args[0], DType::kF64), Constant(least, DType::kF64)),
        e->dtype);
  };
  for (Step& step : loss.steps) {
    step.body.VisitExprs([&](Expr& e) { e = Rewrite(e, moved); });
  }
  return any;
}

// What a library's loss head descends, the library alone knows.
Status RequireKnownLosses(const Graph& graph) {
  Diagnostics errors;
  for (const Node* node : graph.TopologicalOrder()) {
    if (!node->IsLossHead() || !node->op->any_attributes) continue;
    errors.push_back(Error(node->loc,
                           "{} '{}' does not say of what loss its gradient is, "
                           "so that there is nothing to compare it with",
                           node->op_name, node->name));
  }
  if (!errors.empty()) return errors;
  return Done{};
}

}  // namespace

Result<Graph> GraphOfOutput(const CompileRequest& request,
                            LoadedNetwork& network, size_t output) {
  MXC_ASSIGN(Model model,
             network.Specialize(request.First(), ParameterUse::kStates));
  Graph& graph = model.graph;
  graph.training = true;
  graph.outputs = {graph.outputs[output]};
  graph.output_names = {graph.output_names[output]};
  return std::move(graph);
}

bool HasLossHead(const Graph& graph) {
  return std::ranges::any_of(graph.TopologicalOrder(), [](const Node* node) {
    return node->IsLossHead();
  });
}

Result<LossPrograms> MakeLossPrograms(const CompileRequest& request,
                                      LoadedNetwork& network, size_t output) {
  TrainingOptions training = request.training;
  training.optimizer.clear();
  LossPrograms programs;
  MXC_ASSIGN(Graph graph, GraphOfOutput(request, network, output));
  MXC_RETURN_IF_ERROR(RequireKnownLosses(graph));
  TrainingOptions fixed = training;
  for (const Node* node : graph.Variables(VariableRole::kParameter)) {
    fixed.fixed.insert(node->name);
  }
  MXC_ASSIGN(programs.loss, PlainProgram(std::move(graph), fixed));
  programs.other_end = programs.loss;
  if (!CutOffAt(1e-290, *programs.other_end)) programs.other_end.reset();
  CutOffAt(1e-300, programs.loss);
  MXC_ASSIGN(Graph again, GraphOfOutput(request, network, output));
  MXC_ASSIGN(programs.gradients, PlainProgram(std::move(again), training));
  return programs;
}

std::map<std::string, Tensor> OutputsOfRole(TensorRole role,
                                            const Program& program,
                                            std::span<const Tensor> values) {
  std::map<std::string, Tensor> outputs;
  size_t next = 0;
  for (const int b : program.BuffersOf(BufferKind::kOutput)) {
    const TensorUse& use = program.buffers[b].use;
    const Tensor& value = values[next++];
    if (use.role == role) outputs[use.of] = value;
  }
  return outputs;
}

}  // namespace mxc
