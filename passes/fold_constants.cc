// SPDX-License-Identifier: Apache-2.0
// fold-constants: an operator of constants is a constant.
//
//   const w ─► transpose ─► FC      ⇒      const w.transposed ─► FC
//
// The value is what the interpreter computes from the operator's own lowering, or
// what the operator itself computes of constants; elements that are only moved are
// copied, and a range of a constant stays where it is. The pass runs again on what
// composite operators consist of: the weights of a recurrent layer are ranges of
// one vector.
// Refused: random operators; functions of a user's library; results that would
// enlarge the artifact; work that would take the interpreter noticeable time.
#include <algorithm>
#include <map>

#include "ir/graph/call_form.h"
#include "ir/graph/output_names.h"
#include "ir/ops/constant_value.h"
#include "ir/program/call_function.h"
#include "ir/program/definition.h"
#include "ir/program/interpreter.h"
#include "ir/program/steps/map.h"
#include "ir/program/steps/procedure.h"
#include "passes/evaluation_cost.h"
#include "passes/moved_elements.h"
#include "passes/node_values.h"
#include "passes/passes.h"

namespace mxc {
namespace {

constexpr int64_t kSmallBytes = 64 << 10;
constexpr double kMaxNodeEvaluations = 3e7;   // of all folds: about a second
constexpr double kStatementEvaluations = 10;  // of a procedure

bool AllInputsConstant(const Node& node) {
  for (const Value& input : node.inputs) {
    if (input.node->kind != Node::Kind::kConstant) return false;
    if (input.node->constant.empty()) return false;
  }
  return true;
}

// Only a library that may be absent can compute it, or other devices have a part
// in it.
bool AsksOthers(const Node& node) {
  if (!node.op->call) return false;
  const CallForm form = node.op->call(node.attrs.get());
  return form.members ||
         FindCallFunction(form.function, form.version) == nullptr;
}

bool Foldable(const Graph& graph, const Node& node) {
  return node.kind == Node::Kind::kOperator && !IsRandom(graph, node) &&
         !node.op->any_attributes && !node.op->scan && !node.op->branch &&
         !node.op->step && AllInputsConstant(node) && !AsksOthers(node);
}

// A constant may be replaced by as many bytes as it has, in whatever pieces.
class Growth {
 public:
  // Returns whether the node's outputs may stand beside what was made of its
  // inputs.
  bool Admits(const Node& node) {
    int64_t free = 0;
    for (const Value& input : node.inputs) free += FreeBytes(input);
    return OutputBytes(node) <= free + kSmallBytes;
  }

  void Add(const Node& node) {
    int64_t bytes = OutputBytes(node);
    for (const Value& input : node.inputs) {
      const int64_t taken = std::min(bytes, FreeBytes(input));
      made_[input.node->id()] += taken;
      bytes -= taken;
    }
  }

 private:
  static int64_t OutputBytes(const Node& node) {
    int64_t bytes = 0;
    for (const TensorType& type : node.types) bytes += type.bytes();
    return bytes;
  }
  int64_t FreeBytes(const Value& constant) {
    return constant.type().bytes() - made_[constant.node->id()];
  }

  std::map<int, int64_t> made_;  // bytes, by constant
};

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
    } else if (const auto* procedure = step.body.As<Procedure>()) {
      sum += static_cast<double>(procedure->tasks) *
             procedure->MostStatements() * kStatementEvaluations;
    } else {
      sum += static_cast<double>(step.flops(program)) * 4;
    }
  }
  return sum;
}

// The outputs of the node, or nothing where computing them does not fit into
// `budget`, which it else lowers.
Result<std::vector<Tensor>> Evaluate(const Graph& graph, const Node& node,
                                     double& budget, PassContext& context) {
  constexpr double kNoWork = 0;
  if (auto values = ConstantValue(node, kNoWork)) return std::move(*values);
  MXC_ASSIGN(const Program program, ProgramOf(node, graph.training, context));
  if (auto moved = MovedElements(program)) return std::move(*moved);
  const double work = NodeEvaluations(program);
  if (work > budget) return std::vector<Tensor>();
  budget -= work;
  return Interpret(program, {});
}

Result<bool> Fold(Graph& graph, Node& node, double& budget,
                  Replacements& replaced, PassContext& context) {
  MXC_ASSIGN(const std::vector<Tensor> values,
             Evaluate(graph, node, budget, context));
  OutputNamer namer;
  for (size_t i = 0; i < values.size(); ++i) {
    const int output = static_cast<int>(i);
    std::string name = node.name;
    if (values.size() > 1) name += "_" + namer.NameOf(node.out(output));
    Node* constant = graph.AddConstant(std::move(name), values[i]);
    constant->origins = OriginsOf(node);
    constant->loc = node.loc;
    replaced.Add(node.out(output), constant->out());
  }
  return !values.empty();
}

}  // namespace

Result<bool> FoldConstants(Graph& graph, PassContext& context) {
  Replacements replaced;
  double budget = kMaxNodeEvaluations;
  Growth growth;
  for (Node* node : graph.TopologicalOrder()) {
    replaced.ApplyTo(*node);
    if (!Foldable(graph, *node) || !growth.Admits(*node)) continue;
    MXC_ASSIGN(const bool folded,
               Fold(graph, *node, budget, replaced, context));
    if (folded) growth.Add(*node);
  }
  if (replaced.empty()) return false;
  graph.ReplaceUses(replaced);
  graph.RemoveDeadNodes();
  return true;
}

}  // namespace mxc
