// SPDX-License-Identifier: Apache-2.0
// fold-constants: an operator of constants is a constant.
//
//   const w ─► transpose ─► FC      ⇒      const w.transposed ─► FC
//
// The value is what the interpreter computes from the operator's own lowering.
// Refused: random operators; results that would enlarge the artifact; work
// that would take the interpreter noticeable time.
#include "ir/program/definition.h"
#include "ir/program/interpreter.h"
#include "passes/evaluation_cost.h"
#include "passes/node_values.h"
#include "passes/passes.h"

namespace mxc {
namespace {

constexpr int64_t kSmallBytes = 64 << 10;
constexpr double kMaxNodeEvaluations = 3e7;  // of all folds: about a second

bool AllInputsConstant(const Node& node) {
  for (const Value& input : node.inputs) {
    if (input.node->kind != Node::Kind::kConstant) return false;
    if (input.node->constant.empty()) return false;
  }
  return true;
}

bool EnlargesArtifact(const Node& node) {
  int64_t in = 0, out = 0;
  for (const Value& input : node.inputs) in += input.type().bytes();
  for (const TensorType& type : node.types) out += type.bytes();
  return out > std::max(in, kSmallBytes);
}

bool Foldable(const Graph& graph, const Node& node) {
  return node.kind == Node::Kind::kOperator && !IsRandom(graph, node) &&
         !node.op->any_attributes && AllInputsConstant(node) &&
         !EnlargesArtifact(node);
}

// The program that computes the outputs of `node` alone.
Result<Program> ProgramOf(const Node& node, bool training,
                          PassContext& context) {
  Graph graph;
  graph.training = training;
  std::vector<Value> inputs;
  for (const Value& input : node.inputs) {
    inputs.push_back(
        graph.AddConstant(input.node->name, input.node->constant)->out());
  }
  Node* copy =
      graph.AddOperator(node.op, node.name, node.attrs, std::move(inputs));
  copy->types = node.types;
  copy->loc = node.loc;
  for (size_t i = 0; i < node.types.size(); ++i) {
    graph.outputs.push_back(copy->out(static_cast<int>(i)));
    graph.output_names.push_back(std::to_string(i));
  }
  MXC_RETURN_IF_ERROR(Decompose(graph, context));
  return Lower(graph, context);
}

double NodeEvaluations(const Program& program) {
  double sum = 0;
  for (const Step& step : program.steps) {
    if (const Map* map = step.map()) {
      for (const Store& store : map->stores) sum += NaiveEvaluations(store);
    } else {
      sum += static_cast<double>(step.flops(program)) * 4;
    }
  }
  return sum;
}

// Folds the node if its work fits into `budget`, which it then lowers.
Result<bool> Fold(Graph& graph, Node& node, double& budget,
                  PassContext& context) {
  MXC_ASSIGN(const Program program, ProgramOf(node, graph.training, context));
  const double work = NodeEvaluations(program);
  if (work > budget) return false;
  budget -= work;
  MXC_ASSIGN(const std::vector<Tensor> values, Interpret(program, {}));
  for (size_t i = 0; i < values.size(); ++i) {
    const int output = static_cast<int>(i);
    std::string name = node.name;
    if (values.size() > 1) name += "_" + node.OutputName(output);
    Node* constant = graph.AddConstant(std::move(name), values[i]);
    constant->origins = OriginsOf(node);
    constant->loc = node.loc;
    graph.ReplaceUses(node.out(output), constant->out());
  }
  return true;
}

}  // namespace

Result<bool> FoldConstants(Graph& graph, PassContext& context) {
  bool changed = false;
  double budget = kMaxNodeEvaluations;
  for (Node* node : graph.TopologicalOrder()) {
    if (!Foldable(graph, *node)) continue;
    MXC_ASSIGN(const bool folded, Fold(graph, *node, budget, context));
    changed |= folded;
  }
  if (changed) graph.RemoveDeadNodes();
  return changed;
}

}  // namespace mxc
