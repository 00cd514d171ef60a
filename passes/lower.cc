// SPDX-License-Identifier: Apache-2.0
// lower: each operator becomes a step, each value a buffer.
//
//   %c = Convolution(%x, %w, %b)      step c: contraction(x, w), Acc + b[i1]
//   %r = Activation(%c) relu      ⇒   step r: r[i] = max(c[i], 0)
//   return %r                         x input, w b constant, c internal,
//                                     r output
//
// An output of the network is written by the step that computes it; one that is
// read again, that is an input, or that stands twice is copied.
//
// Inputs, states and outputs keep their names, by which the caller asks for
// them; an output may be called like the input that it is. Other buffers make
// room for them.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "ir/graph/call_form.h"
#include "ir/graph/output_names.h"
#include "ir/program/add_buffer.h"
#include "ir/program/call_function.h"
#include "ir/program/copy_step.h"
#include "ir/program/definition.h"
#include "ir/program/procedure_builder.h"
#include "ir/program/steps/amend.h"
#include "ir/program/steps/call.h"
#include "ir/program/steps/collective.h"
#include "ir/program/steps/contraction.h"
#include "ir/program/steps/map.h"
#include "passes/dead_code.h"
#include "passes/lower_branch.h"
#include "passes/lower_repeat.h"
#include "passes/passes.h"
#include "passes/run_order.h"
#include "passes/step_operands.h"
#include "passes/step_readers.h"

namespace mxc {
namespace {

using Slot = std::pair<int, int>;  // node id, output index

Slot SlotOf(Value value) { return {value.node->id(), value.index}; }

constexpr size_t kMostOutputs = 64;  // of a step

class Lowering {
 public:
  Lowering(const Graph& graph, PassContext& context)
      : graph_(graph), context_(context), order_(RunOrder(graph)) {}

  Result<Program> Run() {
    program_.name = graph_.name;
    program_.entry.purpose =
        graph_.training ? Purpose::kTrain : Purpose::kInfer;
    CountReads();
    ReserveNames();
    AddInputsAndConstants();
    AddOutputs();
    ReserveNextStates();
    for (const Node* node : order_) {
      if (node->kind != Node::Kind::kOperator) continue;
      MXC_RETURN_IF_ERROR(AddOperator(*node));
    }
    CopyRemainingOutputs();
    AddNextStates();
    RemoveUnusedBuffers(program_);
    return std::move(program_);
  }

 private:
  void CountReads() {
    for (const Node* node : order_) {
      for (const Value& input : node->inputs) ++reads_[SlotOf(input)];
    }
    for (const Value& output : graph_.outputs) ++reads_[SlotOf(output)];
    for (const Update& update : graph_.updates) {
      ++reads_[SlotOf(update.next)];
      updated_.insert(update.variable->id());
    }
  }

  void ReserveNames() {
    for (const std::string& name : graph_.output_names) names_.insert(name);
    for (const Node* node : order_) {
      if (node->kind == Node::Kind::kVariable) names_.insert(node->name);
    }
  }

  std::string UniqueName(const std::string& wish) {
    if (names_.insert(wish).second) return wish;
    int& n = numbers_.try_emplace(wish, 2).first->second;
    while (true) {
      std::string name = wish + "." + std::to_string(n++);
      if (names_.insert(name).second) return name;
    }
  }

  void AddInputsAndConstants() {
    for (const Node* node : order_) {
      if (node->kind == Node::Kind::kVariable) {
        const bool state = node->role != VariableRole::kInput &&
                           (graph_.stateful || updated_.contains(node->id()));
        const bool unique = variable_names_.insert(node->name).second;
        const int buffer = AddBuffer(
            program_, unique ? node->name : UniqueName(node->name),
            node->types[0], state ? BufferKind::kState : BufferKind::kInput);
        if (state) program_.buffers[buffer].constant = node->constant;
        program_.buffers[buffer].use = node->use;
        buffers_[{node->id(), 0}] = buffer;
      } else if (node->kind == Node::Kind::kConstant) {
        const int buffer = AddBuffer(program_, UniqueName(node->name),
                                     node->types[0], BufferKind::kConstant);
        program_.buffers[buffer].constant = node->constant;
        buffers_[{node->id(), 0}] = buffer;
      }
    }
  }

  std::string OutputName(size_t i) {
    if (i < graph_.output_names.size()) return graph_.output_names[i];
    const Value output = graph_.outputs[i];
    return output.node->name + "_" + namer_.NameOf(output);
  }

  void AddOutputs() {
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const Value value = graph_.outputs[i];
      const int buffer =
          AddBuffer(program_, OutputName(i), value.type(), BufferKind::kOutput);
      program_.buffers[buffer].use = graph_.OutputUse(i);
      outputs_.push_back(buffer);
      if (value.node->kind == Node::Kind::kOperator &&
          reads_[SlotOf(value)] == 1) {
        buffers_[SlotOf(value)] = buffer;
      }
    }
  }

  int BufferOf(Value value) {
    const auto [entry, added] = buffers_.try_emplace(SlotOf(value), -1);
    if (added) {
      const Node& node = *value.node;
      const std::string name = node.types.size() == 1
                                   ? node.name
                                   : node.name + "_" + namer_.NameOf(value);
      entry->second = AddBuffer(program_, UniqueName(name),
                                node.types[value.index], BufferKind::kInternal);
    }
    return entry->second;
  }

  Status AddOperator(const Node& node) {
    Step step;
    step.origins = node.origins;
    if (step.origins.empty()) step.origins = {node.name};
    step.name = fmt::format("{}", fmt::join(step.origins, "+"));
    step.loc = node.loc;
    step.part = node.part;
    step.backward = node.backward;
    for (const Value& input : node.inputs) {
      step.inputs.push_back(BufferOf(input));
    }
    for (size_t i = 0; i < node.types.size(); ++i) {
      const Value output{const_cast<Node*>(&node), static_cast<int>(i)};
      step.outputs.push_back(BufferOf(output));
    }
    if (node.op->scan) {
      return LowerRepeat(node, ReadOutputs(node), context_, program_,
                         std::move(step));
    }
    if (node.op->branch) {
      MXC_RETURN_IF_ERROR(
          LowerBranch(node, ReadOutputs(node), context_, program_, step));
    } else if (node.op->call) {
      DefineCall(node, step);
    } else if (node.op->procedure) {
      DefineProcedure(node, step);
    } else if (node.op->step) {
      step.body = node.op->step(node.attrs.get());
    } else {
      DefineBody(node, step);
    }
    const BufferKind kind = program_.buffers[step.outputs[0]].kind;
    step.view = node.op->view && step.map() && step.inputs.size() == 1 &&
                kind == BufferKind::kInternal;
    if (step.map() && step.outputs.size() > kMostOutputs) {
      AddInTurns(step);
    } else {
      program_.steps.push_back(std::move(step));
    }
    return Done{};
  }

  // So many outputs at a time: what is compiled as one function stays small.
  void AddInTurns(const Step& step) {
    std::vector<Step> turns;
    for (size_t k = 0; k < step.outputs.size(); ++k) {
      if (k % kMostOutputs == 0) {
        Step& turn = turns.emplace_back();
        turn.name = step.name;
        if (k > 0) turn.name += fmt::format("/{}", k);
        turn.origins = step.origins;
        turn.loc = step.loc;
        turn.inputs = step.inputs;
        turn.body = Map();
      }
      turns.back().outputs.push_back(step.outputs[k]);
    }
    for (const Store& store : step.map()->stores) {
      const auto output = static_cast<size_t>(store.output);
      std::vector<Store>& stores = turns[output / kMostOutputs].map()->stores;
      stores.push_back(store);
      stores.back().output = static_cast<int>(output % kMostOutputs);
    }
    for (Step& turn : turns) {
      TidyOperands(turn);
      program_.steps.push_back(std::move(turn));
    }
  }

  static bool Amends(const Node& node) {
    return node.op != nullptr && node.op->amends;
  }

  static void DefineProcedure(const Node& node, Step& step) {
    ProcedureBuilder builder(node);
    node.op->procedure(node.attrs.get(), builder);
    Procedure procedure = builder.Finish();
    step.scratch_bytes = procedure.ScratchOffsets().back();
    if (Amends(node)) {
      step.body = Amend{std::move(procedure)};
    } else {
      step.body = std::move(procedure);
    }
  }

  // A row times a matrix of its own, as attention has them where texts are
  // written: the sums read the matrix, or the part of a larger one, where it
  // lies. To pack it for a kernel takes several times as long as the product.
  bool IsReadInPlace(const Node& node, const Contraction& c) const {
    const bool made = node.inputs[1].node->kind == Node::Kind::kOperator;
    return !graph_.training && !OnDevice() && made && c.batch == 1 &&
           c.groups > 1 && c.kernel.empty();
  }

  bool OnDevice() const {
    return context_.target != nullptr && !context_.target->runs_on_host();
  }

  void DefineBody(const Node& node, Step& step) {
    Definition definition(node, graph_.training);
    if (node.op->contraction) {
      auto contraction = node.op->contraction(node.attrs.get(), definition);
      if (contraction && !IsReadInPlace(node, *contraction)) {
        ContractionTypes& types = contraction->types;
        types.data = node.inputs[0].type().dtype;
        types.weight = node.inputs[1].type().dtype;
        types.output = node.types[0].dtype;
        types.sum = SumTypeOf(types.data, types.weight, types.output);
        Expr sum = Acc(types.sum);
        if (step.inputs.size() > 2) {
          const Expr bias = Load(2, node.inputs[2].type().dtype,
                                 {OutputChannel(*contraction)});
          sum = sum + Cast(bias, types.sum);
        }
        const Expr epilogue = Cast(sum, types.output);
        step.body = ContractionStep{std::move(*contraction), epilogue, {}};
        return;
      }
    }
    MXC_CHECK(node.op->meaning, "operator '{}'", node.op->name);
    node.op->meaning(node.attrs.get(), definition);
    step.body = Map{definition.stores()};
    for (Store& store : step.map()->stores) {
      store.value = Simplify(store.value, BoxOf(store.begin, store.extent));
      store.value = WithIdentityUnitIndices(store);
    }
    TidyOperands(step);
  }

  // Of a function that says what it needs in the network.
  static int64_t WorkspaceOf(const CallForm& form, const TensorType& first) {
    const int64_t rows = first.shape.rank() > 0 ? first.shape[0] : 1;
    return form.workspace + form.workspace_per_row * rows;
  }

  void DefineCall(const Node& node, Step& step) {
    const CallForm form = node.op->call(node.attrs.get());
    if (form.members) {
      step.body = Collective{form.function, *form.members};
      return;
    }
    const CallFunction* function =
        FindCallFunction(form.function, form.version);
    std::vector<TensorType> types;
    for (const int b : step.operands()) {
      types.push_back(program_.buffers[b].type);
    }
    const int64_t bytes = function == nullptr ? WorkspaceOf(form, types[0])
                                              : function->workspace(types);
    step.outputs.push_back(
        AddBuffer(program_, step.name + "/workspace",
                  {DType::kU8, Shape{std::max<int64_t>(1, bytes)}}));
    step.body = Call{form.function, form.version, form.attributes};
  }

  std::vector<bool> ReadOutputs(const Node& node) const {
    std::vector<bool> read;
    for (size_t i = 0; i < node.types.size(); ++i) {
      const Slot slot{node.id(), static_cast<int>(i)};
      read.push_back(reads_.contains(slot));
    }
    return read;
  }

  // The index of a bias over all output channels.
  static Expr OutputChannel(const Contraction& c) {
    Expr channel = Expr(0);
    for (size_t axis = 0; axis < c.output_axes.size(); ++axis) {
      const Expr index = Var(static_cast<int>(axis));
      switch (c.output_axes[axis]) {
        case Role::kGroup:
          channel = channel + index * Expr(c.out);
          break;
        case Role::kOut:
        case Role::kGroupOut:
          channel = channel + index;
          break;
        default:
          break;
      }
    }
    return channel;
  }

  void CopyRemainingOutputs() {
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const Value value = graph_.outputs[i];
      const int source = BufferOf(value);
      if (source != outputs_[i]) AddCopy(*value.node, source, outputs_[i]);
    }
  }

  // Written by the step that computes it, if nothing else reads it, or if it
  // amends the state.
  void ReserveNextStates() {
    for (const Update& update : graph_.updates) {
      if (update.next == update.variable->out()) continue;
      const int state = BufferOf(update.variable->out());
      const int next =
          AddBuffer(program_, UniqueName(update.variable->name + "/next"),
                    update.variable->types[0], BufferKind::kNextState);
      program_.buffers[next].state = state;
      next_states_[update.variable->id()] = next;
      if (update.next.node->kind == Node::Kind::kOperator &&
          (reads_[SlotOf(update.next)] == 1 || Amends(*update.next.node))) {
        buffers_[SlotOf(update.next)] = next;
      }
    }
  }

  // The others by a copy.
  void AddNextStates() {
    for (const Update& update : graph_.updates) {
      const auto next = next_states_.find(update.variable->id());
      if (next == next_states_.end()) continue;
      const int source = BufferOf(update.next);
      if (source != next->second) {
        AddCopy(*update.next.node, source, next->second);
      }
    }
  }

  void AddCopy(const Node& origin, int from, int to) {
    program_.steps.push_back(CopyStep(program_, from, to,
                                      program_.buffers[to].name + "/copy",
                                      {origin.name}, origin.loc));
  }

  const Graph& graph_;
  PassContext& context_;
  const std::vector<Node*> order_;
  Program program_;
  std::map<Slot, int> reads_, buffers_;
  std::map<int, int> next_states_;  // by variable
  std::set<int> updated_;           // variables
  std::vector<int> outputs_;
  std::set<std::string> names_, variable_names_;
  std::map<std::string, int> numbers_;  // by wish: the next to try
  OutputNamer namer_;
};

}  // namespace

Result<Program> Lower(const Graph& graph, PassContext& context) {
  return Lowering(graph, context).Run();
}

}  // namespace mxc
