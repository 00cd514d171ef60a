// SPDX-License-Identifier: Apache-2.0
// _branch: one of two graphs, by a condition (BranchForm).
//   condition   t[one element]
//   arg1 …      what the graphs read
// C1  `then` and `otherwise` are such graphs, of the same outputs
// The gradient is a branch, too, whose sides compute the forward values again
// that they need.
#include "ir/ops/tensor/control/branch.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "ir/graph/gradient.h"
#include "ir/graph/inner_graph.h"
#include "ir/ops/op.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

Result<Graph> ParseSide(const std::string& text) {
  return ParseInner("_branch", text);
}

struct BranchAttrs {
  int64_t num_args = 0, num_outputs = 1;
  std::string then, otherwise;

  void Describe(Fields& f) {
    f("num_args", num_args).Doc("number of inputs");
    f("num_outputs", num_outputs).Range(1, INT32_MAX).Doc("of either graph");
    f("then", then).Required().Doc("the graph if the condition is not 0");
    f("otherwise", otherwise).Required().Doc("the graph if it is");
  }

  // Types of the inputs, unknown where no graph reads one, and the outputs;
  // null if the texts are no such graphs.
  struct Types {
    std::vector<TensorType> inputs, outputs;
  };
  const Types* types() const {
    if (cache_ == nullptr) cache_ = TypesOf();
    return cache_.get();
  }

 private:
  std::shared_ptr<const Types> TypesOf() const {
    auto types = std::make_shared<Types>();
    types->inputs.resize(static_cast<size_t>(num_args));
    for (const std::string* text : {&then, &otherwise}) {
      const Result<Graph> graph = ParseSide(*text);
      if (!graph.ok() ||
          static_cast<int64_t>(graph->outputs.size()) != num_outputs) {
        return nullptr;
      }
      for (size_t i = 0; i < types->inputs.size(); ++i) {
        const Node* variable =
            graph->FindVariable(InnerVariable(static_cast<int64_t>(i)));
        if (variable != nullptr) types->inputs[i] = variable->types[0];
      }
      std::vector<TensorType> outputs;
      for (const Value& output : graph->outputs) {
        outputs.push_back(output.type());
      }
      if (text == &then) types->outputs = outputs;
      if (types->outputs != outputs) return nullptr;
    }
    return types;
  }

  mutable std::shared_ptr<const Types> cache_;
};

std::optional<std::string> CheckBranch(const BranchAttrs& a) {
  if (a.num_args >= 1 && a.types() != nullptr) return std::nullopt;
  return "C1: the graphs have not these inputs and the same outputs";
}

std::vector<std::string> BranchOutputs(const BranchAttrs& a) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < a.num_outputs; ++i) {
    names.push_back("output" + std::to_string(i));
  }
  return names;
}

void BranchTypes(const BranchAttrs& a, TypeInference& t) {
  const BranchAttrs::Types& types = *a.types();
  if (!t.Require(t.inputs() == a.num_args, "{} inputs, expected {}", t.inputs(),
                 a.num_args)) {
    return;
  }
  for (int i = 1; i < t.inputs(); ++i) {
    const TensorType& type = types.inputs[static_cast<size_t>(i)];
    t.SetIn(i, type.shape);
    t.SetInDType(i, type.dtype);
  }
  for (int i = 0; i < t.outputs(); ++i) {
    const TensorType& type = types.outputs[static_cast<size_t>(i)];
    t.SetOut(i, type.shape);
    t.SetOutDType(i, type.dtype);
  }
}

// The graph of a side and what it reads of the node; gradients of its outputs
// follow as more inputs.
class SideGradient {
 public:
  SideGradient(GradientBuilder& g, const std::string& text)
      : g_(g), graph_(std::move(*ParseSide(text))) {}

  // `heads` are the outputs whose gradients are inputs from `first_head` on.
  void Differentiate(const std::vector<int>& heads, size_t first_head,
                     const std::vector<int>& wanted) {
    std::vector<HeadGradient> given;
    for (size_t k = 0; k < heads.size(); ++k) {
      const Value output = graph_.outputs[static_cast<size_t>(heads[k])];
      Node* head = graph_.AddVariable(
          InnerVariable(static_cast<int64_t>(first_head + k)));
      head->types = {output.type()};
      given.push_back({output, head->out()});
    }
    std::vector<Value> variables;
    for (const int input : wanted) {
      Node* node = graph_.FindVariable(InnerVariable(input));
      if (node != nullptr) variables.push_back(node->out());
    }
    const auto found = Gradients(graph_, given, variables);
    MXC_CHECK(found.ok(), "'{}'", g_.origin().name);
    for (size_t i = 0; i < variables.size(); ++i) {
      gradients_[variables[i].node->name] = (*found)[i];
    }
  }

  bool Reaches(int input) const {
    const auto at = gradients_.find(InnerVariable(input));
    return at != gradients_.end() && at->second;
  }

  // The graph that puts out the gradients of these inputs.
  Graph Take(const std::vector<int>& inputs) {
    graph_.outputs.clear();
    for (const int input : inputs) {
      GraphBuilder builder(graph_, g_.origin());
      graph_.outputs.push_back(Reaches(input)
                                   ? gradients_.at(InnerVariable(input))
                                   : builder.Zeros(g_.In(input).type()));
    }
    graph_.output_names.clear();
    graph_.RemoveDeadNodes();
    return std::move(graph_);
  }

 private:
  GradientBuilder& g_;
  Graph graph_;
  std::map<std::string, Value> gradients_;  // by variable
};

std::vector<Value> BranchGradient(const BranchAttrs& a, GradientBuilder& g) {
  std::vector<int> heads, wanted, reached;
  std::vector<Value> inputs;
  for (int i = 1; i < g.inputs(); ++i) {
    inputs.push_back(g.In(i));
    if (g.Needs(i) && IsFloat(g.In(i).type().dtype)) wanted.push_back(i);
  }
  const size_t first_head = inputs.size() + 1;
  for (int i = 0; i < g.outputs(); ++i) {
    if (!g.HasHead(i)) continue;
    heads.push_back(i);
    inputs.push_back(g.Head(i));
  }
  SideGradient then(g, a.then), otherwise(g, a.otherwise);
  then.Differentiate(heads, first_head, wanted);
  otherwise.Differentiate(heads, first_head, wanted);
  for (const int i : wanted) {
    if (then.Reaches(i) || otherwise.Reaches(i)) reached.push_back(i);
  }
  std::vector<Value> gradients = g.None();
  if (reached.empty()) return gradients;
  const std::vector<Value> found =
      AddBranch(g, g.In(0), std::move(inputs), then.Take(reached),
                otherwise.Take(reached), "branch");
  for (size_t i = 0; i < reached.size(); ++i) {
    gradients[static_cast<size_t>(reached[i])] = found[i];
  }
  return gradients;
}

void TakeConstants(GraphBuilder& b, Graph& side, std::vector<Value>& inputs) {
  Replacements replaced;
  for (Node* node : LargeConstants(side)) {
    inputs.push_back(b.Constant(node->constant, "constant"));
    Node* variable = side.AddVariable(InnerVariable(std::ssize(inputs)));
    variable->types = node->types;
    replaced.Add(node->out(), variable->out());
  }
  side.ReplaceUses(replaced);
}

}  // namespace

MXC_ATTRS(Branch, BranchAttrs);

std::vector<Value> AddBranch(GraphBuilder& b, Value condition,
                             std::vector<Value> inputs, Graph then,
                             Graph otherwise, std::string_view role) {
  for (Graph* side : {&then, &otherwise}) {
    TakeConstants(b, *side, inputs);
    side->name = "side";
    side->RemoveDeadNodes();
  }
  inputs.insert(inputs.begin(), condition);
  BranchAttrs attrs;
  attrs.num_args = std::ssize(inputs);
  attrs.num_outputs = std::ssize(then.outputs);
  attrs.then = Print(then);
  attrs.otherwise = Print(otherwise);
  return b.Ops<op::Branch>(std::move(inputs), std::move(attrs), role);
}

MXC_OP(Branch) {
  return Op<BranchAttrs>("_branch")
      .Internal()
      .Doc("one of two graphs, by a number")
      .InputsOf([](const BranchAttrs& a) {
        return NumberedInputs("arg", a.num_args);
      })
      .OutputsOf(BranchOutputs)
      .Variadic()
      .Check(CheckBranch)
      .Types(BranchTypes)
      .AsBranch(
          [](const BranchAttrs& a) { return BranchForm{a.then, a.otherwise}; })
      .Gradient(BranchGradient);
}

}  // namespace mxc
