// SPDX-License-Identifier: Apache-2.0
#include "tools/imperative/sequence_graph.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph/builder.h"
#include "ir/graph/copy.h"
#include "ir/target/target.h"
#include "passes/passes.h"
#include "tools/imperative/compile_function.h"
#include "tools/imperative/function_graph.h"
#include "tools/imperative/rounding_apart.h"

namespace mxc {
namespace {

namespace rt = runtime;

using Role = rt::CallSequence::Role;

Result<FunctionGraph> CalledFunction(const rt::CallSequence::Call& call) {
  // All that is called here was made by this library.
  const auto& compiler =
      static_cast<const FunctionCompiler&>(call.op->compiler());
  const rt::CallForm& form = call.compiled->form();
  return compiler.FunctionFor(form.inputs, form.training, form.recorded.get());
}

// What is computed of it in that mode, as text.
Result<std::string> Computation(const Graph& graph, bool training) {
  Graph copy = CopyOf(graph);
  copy.training = training;
  MXC_ASSIGN(const Target target, ResolveTarget("native"));
  PassContext context;
  context.target = &target;
  PassOptions required;
  required.level = 0;
  MXC_ASSIGN(Program program, RunPipeline(std::move(copy), context, required));
  program.entry.purpose = Purpose::kInfer;
  return Print(program);
}

class SequenceGraph {
 public:
  explicit SequenceGraph(const rt::CallSequence& sequence)
      : sequence_(sequence),
        values_(sequence.roles.size()),
        uses_(values_.size(), TensorRole::kOther) {
    origin_.name = "loop";
    graph_.name = origin_.name;
    variables_.resize(values_.size());
  }

  Result<FunctionGraph> Run() {
    for (const auto& call : sequence_.calls) {
      graph_.training = graph_.training || call.compiled->form().training;
    }
    for (const auto& call : sequence_.calls) {
      MXC_ASSIGN(const FunctionGraph function, CalledFunction(call));
      MXC_RETURN_IF_ERROR(RequireMode(call, function.graph));
      Append(call, function);
    }
    for (size_t v = 0; v < values_.size(); ++v) Leave(v);
    graph_.RemoveDeadNodes();
    MXC_ASSIGN(const Target target, ResolveTarget("native"));
    MXC_RETURN_IF_ERROR(RequireRoundingApart(graph_, target));
    for (const auto& node : graph_.nodes()) node->origins.clear();
    return std::move(function_);
  }

 private:
  // A graph trains, or does not.
  Status RequireMode(const rt::CallSequence::Call& call, const Graph& graph) {
    const bool training = call.compiled->form().training;
    if (graph.written.version != 0) {
      graph_.written.version = graph.written.version;
    }
    if (training == graph_.training) return Done{};
    MXC_ASSIGN(const std::string one, Computation(graph, false));
    MXC_ASSIGN(const std::string other, Computation(graph, true));
    if (one == other) return Done{};
    return Error({}, "{} does not train, and calls beside it do",
                 call.op->name());
  }

  void Append(const rt::CallSequence::Call& call,
              const FunctionGraph& function) {
    std::vector<Value> inputs;
    for (const auto& operand : call.inputs) inputs.push_back(Read(operand));
    ValueCopier copier(graph_, [&](Value from) {
      const Node& node = *from.node;
      if (node.kind != Node::Kind::kVariable) return Value();
      return inputs[FunctionGraph::InputNumber(node.name)];
    });
    std::vector<Value> outputs;
    for (const Value& output : function.graph.outputs) {
      outputs.push_back(copier.Copy(output));
    }
    const auto& nodes = graph_.nodes();
    for (; named_ < nodes.size(); ++named_) {
      Node& node = *nodes[named_];
      node.origins = {OriginInCall(calls_, node.name)};
    }
    ++calls_;
    for (size_t o = 0; o < outputs.size(); ++o) {
      const size_t value = call.outputs[o].value;
      values_[value] = outputs[o];
      uses_[value] = function.graph.OutputUse(o).role;
    }
  }

  // The value as the call sees it.
  Value Read(const rt::CallSequence::Operand& operand) {
    const TensorType type = TensorTypeOf(operand.type);
    Value& value = values_[operand.value];
    if (!value) {
      Node* const variable =
          FunctionGraph::AddInput(graph_, operand.value, type);
      if (sequence_.roles[operand.value] == Role::kInPlace) {
        variable->role = VariableRole::kState;
        variable->declared = false;
      }
      variables_[operand.value] = variable;
      value = variable->out();
    }
    return GraphBuilder(graph_, origin_).Reshape(value, type.shape);
  }

  void Leave(size_t v) {
    const Role role = sequence_.roles[v];
    if (role == Role::kOutput) {
      function_.Add(values_[v], uses_[v]);
      ++function_.visible;
    }
    if (role != Role::kInPlace) return;
    Node* const variable = variables_[v];
    const Value next = GraphBuilder(graph_, origin_)
                           .Reshape(values_[v], variable->types[0].shape);
    graph_.updates.push_back({variable, next});
  }

  const rt::CallSequence& sequence_;
  Node origin_;
  FunctionGraph function_;
  Graph& graph_ = function_.graph;
  size_t calls_ = 0, named_ = 0;  // calls so far; nodes that say whose they are
  std::vector<Value> values_;     // as they are behind the calls so far
  std::vector<TensorRole> uses_;  // of them
  std::vector<Node*> variables_;  // null: not read before it is written
};

}  // namespace

rt::StatusOr<rt::CompiledOperator> SequenceFunctions::Compile(
    const rt::CallSequence& sequence) const {
  const auto compile = [&]() -> Result<rt::CompiledOperator> {
    MXC_ASSIGN(FunctionGraph function, SequenceGraph(sequence).Run());
    return CompileFunction(std::move(function), "loop", sequence.roles.size());
  };
  return InStatus(compile());
}

}  // namespace mxc
