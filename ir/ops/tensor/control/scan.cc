// SPDX-License-Identifier: Apache-2.0
// _scan: a graph that runs turn after turn (ScanForm); `body` is its text.
// C1  `body` is such a graph
// C2  types follow within a turn, and what is carried keeps its type
// C3  a conditional scan carries its condition and its number of turns
#include "ir/ops/tensor/control/scan.h"

#include <algorithm>

#include "ir/graph/inner_graph.h"
#include "ir/graph/scan_form.h"
#include "ir/ops/op.h"

namespace mxc {
namespace {

struct ScanAttrs {
  int64_t num_args = 0;
  int64_t turns = 1;
  bool reversed = false;
  int64_t slices = 0, carried = 0, stacks = 0;
  bool conditional = false, counted = false;
  std::string body;

  void Describe(Fields& f) {
    f("num_args", num_args).Doc("number of inputs");
    f("turns", turns).Required().Range(1, INT32_MAX).Doc("how often it runs");
    f("reversed", reversed).Doc("whether the last slice comes first");
    f("slices", slices)
        .Range(0, INT32_MAX)
        .Doc("inputs of which a turn sees one element");
    f("carried", carried)
        .Range(0, INT32_MAX)
        .Doc("inputs that a turn leaves for the next");
    f("stacks", stacks).Range(0, INT32_MAX).Doc("what turns compute beside");
    f("conditional", conditional).Doc("whether the first carry can end it");
    f("counted", counted).Doc("whether the last input counts the slices");
    f("body", body).Required().Doc("the graph, as text");
  }

  // Types of the graph's inputs and outputs, and what the inputs are to the
  // operators that read them; null if the text is no such graph.
  struct Types {
    std::vector<TensorType> inputs, outputs;
    std::vector<InputKind> kinds;
  };
  const Types* types() const {
    if (cache_ == nullptr) cache_ = TypesOf();
    return cache_.get();
  }

 private:
  static InputKind KindOf(const Node& variable, const Graph& graph) {
    for (const auto& node : graph.nodes()) {
      if (node->op == nullptr) continue;
      const auto specs = node->op->inputs(node->attrs.get());
      for (size_t i = 0; i < std::min(specs.size(), node->inputs.size()); ++i) {
        if (node->inputs[i].node == &variable &&
            specs[i].kind == InputKind::kParameter) {
          return InputKind::kParameter;
        }
      }
    }
    return InputKind::kData;
  }

  std::shared_ptr<const Types> TypesOf() const {
    Result<Graph> graph = ParseInner("_scan", body);
    if (!graph.ok() || std::ssize(graph->outputs) != carried + stacks ||
        slices + carried + (counted ? 1 : 0) > num_args) {
      return nullptr;
    }
    auto types = std::make_shared<Types>();
    for (int64_t i = 0; i < num_args; ++i) {
      const Node* variable = graph->FindVariable(InnerVariable(i));
      if (variable == nullptr) return nullptr;
      types->inputs.push_back(variable->types[0]);
      types->kinds.push_back(KindOf(*variable, *graph));
    }
    for (const Value& output : graph->outputs) {
      types->outputs.push_back(output.type());
    }
    return types;
  }

  mutable std::shared_ptr<const Types> cache_;
};

ScanForm FormOf(const ScanAttrs& a) {
  return {.turns = a.turns,
          .reversed = a.reversed,
          .slices = static_cast<int>(a.slices),
          .carried = static_cast<int>(a.carried),
          .stacks = static_cast<int>(a.stacks),
          .conditional = a.conditional,
          .counted = a.counted,
          .body = a.body};
}

std::vector<InputSpec> ScanInputs(const ScanAttrs& a) {
  std::vector<InputSpec> inputs;
  for (int64_t i = 0; i < a.num_args; ++i) {
    inputs.push_back({InnerVariable(i)});
    if (a.types() != nullptr) inputs.back().kind = a.types()->kinds[i];
  }
  return inputs;
}

std::vector<std::string> ScanOutputs(const ScanAttrs& a) {
  std::vector<std::string> names;
  if (a.types() == nullptr) return names;
  const auto add = [&](const char* what, int64_t count) {
    for (int64_t k = 0; k < count; ++k) {
      names.push_back(what + std::to_string(k));
    }
  };
  add("last", a.carried);
  add("stack", a.stacks);
  add("history", FormOf(a).histories());
  return names;
}

std::optional<std::string> CheckScan(const ScanAttrs& a) {
  if (a.conditional && a.carried < 2) return "C3: fewer than 2 carried inputs";
  if (a.types() != nullptr) return std::nullopt;
  return "C1: body is no graph of these inputs and outputs";
}

Shape Stacked(int64_t slices, const Shape& shape) {
  Extents dims = shape.dims();
  dims.insert(dims.begin(), slices);
  return Shape(dims);
}

// What is carried keeps its type. True if more is known of one than before.
bool SettleCarried(const ScanAttrs& a, Graph& turn, TypeInference& t) {
  bool changed = false;
  for (int k = 0; k < a.carried; ++k) {
    TensorType& before =
        turn.FindVariable(InnerVariable(a.slices + k))->types[0];
    const TensorType& after = turn.outputs[static_cast<size_t>(k)].type();
    if (!after.known()) continue;
    if (!before.known()) {
      before = after;
      changed = true;
    }
    t.Require(before == after, "C2: a turn makes {} of {}", ToString(after),
              ToString(before));
  }
  return changed;
}

// Types of the graph's inputs and outputs as far as they follow.
std::optional<ScanAttrs::Types> InferTurn(const ScanAttrs& a,
                                          TypeInference& t) {
  std::vector<TensorType> given;
  for (int i = 0; i < t.inputs(); ++i) {
    given.push_back({t.InDType(i), t.In(i)});
  }
  Result<Graph> turn = TurnOf(FormOf(a), given);
  turn->training = t.training();
  do {
    const Status inferred = InferTypes(*turn, false);
    if (!t.Require(inferred.ok(), "C2: in a turn: {}",
                   inferred.ok() ? "" : inferred.errors()[0].message)) {
      return std::nullopt;
    }
  } while (SettleCarried(a, *turn, t));
  if (t.error()) return std::nullopt;
  ScanAttrs::Types types;
  for (int64_t i = 0; i < a.num_args; ++i) {
    types.inputs.push_back(turn->FindVariable(InnerVariable(i))->types[0]);
  }
  for (const Value& output : turn->outputs) {
    types.outputs.push_back(output.type());
  }
  return types;
}

bool AllKnown(const ScanAttrs::Types& types) {
  const auto known = [](const TensorType& type) { return type.known(); };
  return std::ranges::all_of(types.inputs, known) &&
         std::ranges::all_of(types.outputs, known);
}

// Sets the types of the scan, given those of a turn.
void SetTypes(const ScanAttrs& a, const ScanAttrs::Types& types,
              TypeInference& t) {
  const auto stacked = [](int64_t slices, const Shape& shape) {
    return shape.known_rank() ? Stacked(slices, shape) : shape;
  };
  for (int i = 0; i < t.inputs(); ++i) {
    const TensorType& type = types.inputs[static_cast<size_t>(i)];
    t.SetIn(i, i < a.slices ? stacked(a.turns, type.shape) : type.shape);
    t.SetInDType(i, type.dtype);
  }
  const auto set = [&](int output, const TensorType& type, const Shape& shape) {
    t.SetOut(output, shape);
    t.SetOutDType(output, type.dtype);
  };
  const ScanForm form = FormOf(a);
  for (int k = 0; k < form.carried; ++k) {
    const TensorType& type = types.outputs[static_cast<size_t>(k)];
    set(k, type, type.shape);
    if (k >= form.histories()) continue;
    set(form.history(k), type, stacked(a.turns + 1, type.shape));
  }
  for (int k = 0; k < form.stacks; ++k) {
    const TensorType& type = types.outputs[static_cast<size_t>(form.stack(k))];
    set(form.stack(k), type, stacked(a.turns, type.shape));
  }
}

void ScanTypes(const ScanAttrs& a, TypeInference& t) {
  if (!t.Require(t.inputs() == a.num_args, "{} inputs, expected {}", t.inputs(),
                 a.num_args)) {
    return;
  }
  const auto types = AllKnown(*a.types())
                         ? std::optional<ScanAttrs::Types>(*a.types())
                         : InferTurn(a, t);
  if (types) SetTypes(a, *types, t);
}

}  // namespace

MXC_OP(Scan) {
  return Op<ScanAttrs>("_scan")
      .Doc("a graph that runs turn after turn")
      .InputsOf(ScanInputs)
      .OutputsOf(ScanOutputs)
      .Variadic()
      .Internal()
      .Check(CheckScan)
      .Types(ScanTypes)
      .Gradient([](const ScanAttrs& a, GradientBuilder& g) {
        return ScanGradient(FormOf(a), g);
      })
      .AsScan(FormOf);
}

}  // namespace mxc
