// SPDX-License-Identifier: Apache-2.0
#include "tools/imperative/tape_compiler.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph/builder.h"
#include "ir/graph/copy.h"
#include "ir/graph/gradient.h"
#include "tools/imperative/function_graph.h"
#include "tools/imperative/pullback.h"
#include "tools/imperative/sequence_graph.h"

namespace mxc {
namespace {

namespace rt = runtime;

using Operand = rt::PartGradient::Operand;

// A graph whose operands have the types that it was made for.
class FixedFunction final : public FunctionCompiler {
 public:
  FixedFunction(std::string name, FunctionGraph function)
      : FunctionCompiler(std::move(name)), function_(std::move(function)) {}

 private:
  Result<FunctionGraph> Build(std::span<const rt::ArrayType>,
                              bool) const override {
    return CopyOf(function_);
  }

  const FunctionGraph function_;
};

bool HasLossHead(const Graph& graph) {
  return std::ranges::any_of(
      graph.nodes(), [](const auto& node) { return node->IsLossHead(); });
}

class Composition {
 public:
  explicit Composition(const rt::TapePart& part) : part_(part) {
    origin_.name = "backward";
    graph_.name = origin_.name;
    graph_.training = part.training;
    leaves_.resize(part.leaves.size());
    for (const auto& call : part.calls) {
      calls_.emplace_back(call.call->form.outputs.size());
    }
  }

  Result<rt::PartGradient> Run() {
    AddHeads();
    for (size_t c = part_.calls.size(); c-- > 0;) {
      MXC_RETURN_IF_ERROR(Visit(c));
    }
    AddWanted();
    graph_.RemoveDeadNodes();
    MXC_RETURN_IF_ERROR(RequireRecordedDraws());
    return rt::PartGradient{
        std::make_shared<rt::CallableOperator>(
            origin_.name, std::make_unique<FixedFunction>(
                              origin_.name, std::move(function_))),
        std::move(operands_)};
  }

 private:
  std::vector<Value>* At(const rt::Wire& wire) {
    if (wire.from == rt::Wire::From::kConstant) return nullptr;
    if (wire.from == rt::Wire::From::kLeaf) return &leaves_[wire.number];
    return &calls_[wire.number][wire.output];
  }

  TensorType TypeAt(const rt::Wire& wire) const {
    return TensorTypeOf(
        wire.from == rt::Wire::From::kLeaf
            ? part_.leaves[wire.number]
            : part_.calls[wire.number].call->form.outputs[wire.output]);
  }

  Value AddOperand(const Operand& operand, const TensorType& type) {
    const size_t number = operands_.size();
    operands_.push_back(operand);
    return FunctionGraph::AddInput(graph_, number, type)->out();
  }

  void AddHeads() {
    GraphBuilder builder(graph_, origin_);
    for (uint32_t h = 0; h < part_.heads.size(); ++h) {
      const rt::TapePart::Head& head = part_.heads[h];
      const TensorType type = TypeAt(head.at);
      At(head.at)->push_back(
          head.is_given ? AddOperand({Operand::Kind::kHead, h, 0}, type)
                        : builder.Ones(type));
    }
  }

  // Passes back what has arrived at a call's outputs.
  Status Visit(size_t c) {
    const rt::TapePart::Call& call = part_.calls[c];
    const rt::GradientSource& source = *call.call->form.source;
    const FunctionGraph& function = FunctionOf(source);
    std::vector<bool> heads, needed;
    for (const auto& parts : calls_[c]) heads.push_back(!parts.empty());
    if (std::ranges::none_of(heads, std::identity()) &&
        !HasLossHead(function.graph)) {
      return Done{};
    }
    for (const rt::Wire& wire : call.inputs) {
      needed.push_back(wire.from != rt::Wire::From::kConstant);
    }
    MXC_ASSIGN(const Pullback pullback, PullBack(function, heads, needed));
    std::unordered_map<Value, Value, ValueHash> arrived;
    for (size_t o = 0; o < pullback.heads.size(); ++o) {
      if (!pullback.heads[o]) continue;
      arrived.emplace(pullback.heads[o],
                      SumOfGradients(graph_, origin_, calls_[c][o]));
    }
    ValueCopier copier(graph_, [&](Value value) {
      if (pullback.IsForward(value)) return Saved(c, source, value);
      const auto head = arrived.find(value);
      return head == arrived.end() ? Value() : head->second;
    });
    for (size_t i = 0; i < needed.size(); ++i) {
      if (!pullback.gradients[i]) continue;
      At(call.inputs[i])->push_back(copier.Copy(pullback.gradients[i]));
    }
    return Done{};
  }

  // What the tape keeps of a call; empty: it is computed again.
  Value Saved(size_t c, const rt::GradientSource& source, Value value) {
    const auto number = SavedAs(source, value);
    if (!number) return {};
    Value& operand = saved_[{c, *number}];
    if (!operand) {
      operand =
          AddOperand({Operand::Kind::kSaved, static_cast<uint32_t>(c), *number},
                     value.type());
    }
    return operand;
  }

  void AddWanted() {
    for (uint32_t w = 0; w < part_.wanted.size(); ++w) {
      const rt::TapePart::Wanted& wanted = part_.wanted[w];
      const TensorType type = TypeAt(wanted.of);
      std::vector<Value> parts;
      for (uint32_t a = 0; a < wanted.addends; ++a) {
        parts.push_back(AddOperand({Operand::Kind::kAddend, w, a}, type));
      }
      const std::vector<Value>& arrived = *At(wanted.of);
      parts.insert(parts.end(), arrived.begin(), arrived.end());
      function_.Add(parts.empty() ? GraphBuilder(graph_, origin_).Zeros(type)
                                  : SumOfGradients(graph_, origin_, parts),
                    TensorRole::kGradient);
    }
    function_.visible = part_.wanted.size();
  }

  // A state is what numbers are drawn by, and they would be others.
  Status RequireRecordedDraws() const {
    const auto& nodes = graph_.nodes();
    const auto state = std::ranges::find_if(nodes, [](const auto& node) {
      return node->kind == Node::Kind::kVariable &&
             node->role != VariableRole::kInput;
    });
    if (state == nodes.end()) return Done{};
    return Error({},
                 "the gradient would draw random numbers that the recorded "
                 "call has drawn");
  }

  const rt::TapePart& part_;
  Node origin_;
  FunctionGraph function_;
  Graph& graph_ = function_.graph;
  std::vector<Operand> operands_;
  std::map<std::pair<size_t, uint32_t>, Value> saved_;
  // What has arrived, the last reader's first.
  std::vector<std::vector<Value>> leaves_;
  std::vector<std::vector<std::vector<Value>>> calls_;  // by call and output
};

}  // namespace

rt::StatusOr<rt::PartGradient> TapeCompiler::Compile(
    const rt::TapePart& part) const {
  return InStatus(Composition(part).Run());
}

rt::Autograd& TheAutograd() {
  static rt::Autograd autograd = [] {
    rt::Imperative& imperative = rt::Imperative::Get();
    imperative.CompileLoops(std::make_unique<const SequenceFunctions>());
    return rt::Autograd(imperative, std::make_unique<const TapeCompiler>());
  }();
  return autograd;
}

}  // namespace mxc
