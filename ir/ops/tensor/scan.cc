// SPDX-License-Identifier: Apache-2.0
// _scan: a graph that runs turn after turn (ScanForm); `body` is its text.
// C1  `body` is such a graph
#include "ir/ops/tensor/scan.h"

#include <algorithm>

#include "ir/graph/scan_form.h"
#include "ir/ops/op.h"

namespace mxc {
namespace {

struct ScanAttrs {
  int64_t num_args = 0;
  int64_t turns = 1;
  bool reversed = false;
  int64_t slices = 0, carried = 0;
  std::string stacked;  // a 0 or 1 for each output
  std::string body;

  void Describe(Fields& f) {
    f("num_args", num_args).Doc("number of inputs");
    f("turns", turns).Required().Range(1, INT32_MAX).Doc("how often it runs");
    f("reversed", reversed).Doc("whether the last slice comes first");
    f("slices", slices).Doc("inputs of which a turn sees one element");
    f("carried", carried).Doc("inputs that a turn leaves for the next");
    f("stacked", stacked).Doc("whether all turns come out, for each output");
    f("body", body).Required().Doc("the graph, as text");
  }

  // Types of the graph's inputs and outputs; null if the text is no such graph.
  struct Types {
    std::vector<TensorType> inputs, outputs;
  };
  const Types* types() const {
    if (cache_ == nullptr) cache_ = TypesOf();
    return cache_.get();
  }

 private:
  std::shared_ptr<const Types> TypesOf() const {
    auto file = std::make_shared<SourceFile>(SourceFile{"_scan", body});
    Result<Graph> graph = ParseGraph(file);
    if (!graph.ok() || graph->outputs.size() != stacked.size() ||
        slices + carried > num_args ||
        carried > static_cast<int64_t>(stacked.size())) {
      return nullptr;
    }
    auto types = std::make_shared<Types>();
    for (int64_t i = 0; i < num_args; ++i) {
      const Node* variable = graph->FindVariable("arg" + std::to_string(i));
      if (variable == nullptr) return nullptr;
      types->inputs.push_back(variable->types[0]);
    }
    for (const Value& output : graph->outputs) {
      types->outputs.push_back(output.type());
    }
    return types;
  }

  mutable std::shared_ptr<const Types> cache_;
};

std::vector<InputSpec> ScanInputs(const ScanAttrs& a) {
  std::vector<InputSpec> inputs;
  for (int64_t i = 0; i < a.num_args; ++i) {
    inputs.push_back({"arg" + std::to_string(i)});
  }
  return inputs;
}

std::vector<std::string> ScanOutputs(const ScanAttrs& a) {
  std::vector<std::string> names;
  for (size_t i = 0; i < a.stacked.size(); ++i) {
    names.push_back("output" + std::to_string(i));
  }
  return names;
}

std::optional<std::string> CheckScan(const ScanAttrs& a) {
  if (a.types() != nullptr) return std::nullopt;
  return "C1: body is no graph of these inputs and outputs";
}

Shape Stacked(int64_t slices, const Shape& shape) {
  Extents dims = shape.dims();
  dims.insert(dims.begin(), slices);
  return Shape(dims);
}

void ScanTypes(const ScanAttrs& a, TypeInference& t) {
  const ScanAttrs::Types& types = *a.types();
  if (!t.Require(t.inputs() == a.num_args, "{} inputs, expected {}", t.inputs(),
                 a.num_args)) {
    return;
  }
  for (int i = 0; i < t.inputs(); ++i) {
    const TensorType& type = types.inputs[static_cast<size_t>(i)];
    t.SetIn(i, i < a.slices ? Stacked(a.turns, type.shape) : type.shape);
    t.SetInDType(i, type.dtype);
  }
  for (int i = 0; i < t.outputs(); ++i) {
    const TensorType& type = types.outputs[static_cast<size_t>(i)];
    const bool stacked = a.stacked[static_cast<size_t>(i)] == '1';
    const int64_t slices = a.turns + (i < a.carried ? 1 : 0);
    t.SetOut(i, stacked ? Stacked(slices, type.shape) : type.shape);
    t.SetOutDType(i, type.dtype);
  }
}

ScanForm FormOf(const ScanAttrs& a) {
  ScanForm form = {.turns = a.turns,
                   .reversed = a.reversed,
                   .slices = static_cast<int>(a.slices),
                   .carried = static_cast<int>(a.carried),
                   .stacked = {},
                   .body = a.body};
  for (const char c : a.stacked) form.stacked.push_back(c == '1');
  return form;
}

}  // namespace

ScanBuilder::ScanBuilder(GraphBuilder& outside, int64_t turns, bool reversed)
    : outside_(outside),
      turns_(turns),
      reversed_(reversed),
      inside_(body_, outside.origin()) {
  body_.name = "turn";
}

Value ScanBuilder::Variable(const TensorType& type) {
  Node* node = body_.AddVariable("arg");
  node->types = {type};
  node->declared = true;
  return node->out();
}

Value ScanBuilder::Slice(Value stacked) {
  const Extents& dims = stacked.shape().dims();
  slices_.push_back(stacked);
  const Value inner = Variable(
      {stacked.type().dtype, Shape(Extents(dims.begin() + 1, dims.end()))});
  slice_variables_.push_back(inner.node);
  return inner;
}

Value ScanBuilder::Carry(Value initial) {
  carried_.push_back({initial, Variable(initial.type()), {}, false});
  return carried_.back().inner;
}

Value ScanBuilder::Whole(Value value) {
  const auto found = std::ranges::find(whole_, value);
  if (found != whole_.end()) {
    return whole_variables_[found - whole_.begin()]->out();
  }
  whole_.push_back(value);
  whole_variables_.push_back(Variable(value.type()).node);
  return whole_variables_.back()->out();
}

void ScanBuilder::Next(Value carry, Value next, bool stacked) {
  const auto found = std::ranges::find(carried_, carry, &Carried::inner);
  MXC_CHECK(found != carried_.end() && next.type() == carry.type(), "'{}'",
            outside_.origin().name);
  found->next = next;
  found->stacked = stacked;
}

size_t ScanBuilder::Stack(Value value) {
  stacks_.push_back(value);
  return carried_.size() + stacks_.size() - 1;
}

std::vector<Value> ScanBuilder::Finish(std::string_view role) {
  // The text form leaves the numbers of large constants out.
  for (const auto& node : body_.nodes()) {
    MXC_CHECK(node->constant.empty() || node->types[0].shape.elements() == 1,
              "a constant inside of '{}'", outside_.origin().name);
  }
  std::vector<Node*> variables = slice_variables_;
  std::vector<Value> inputs = slices_;
  std::string stacked;
  for (const Carried& carried : carried_) {
    variables.push_back(carried.inner.node);
    inputs.push_back(carried.initial);
    body_.outputs.push_back(carried.next);
    stacked += carried.stacked ? '1' : '0';
  }
  variables.insert(variables.end(), whole_variables_.begin(),
                   whole_variables_.end());
  inputs.insert(inputs.end(), whole_.begin(), whole_.end());
  for (const Value& value : stacks_) {
    body_.outputs.push_back(value);
    stacked += '1';
  }
  for (size_t i = 0; i < variables.size(); ++i) {
    variables[i]->name = "arg" + std::to_string(i);
  }
  for (size_t i = 0; i < stacked.size(); ++i) {
    body_.output_names.push_back("output" + std::to_string(i));
  }
  return outside_.Ops("_scan", inputs,
                      {{"num_args", std::to_string(inputs.size())},
                       {"turns", std::to_string(turns_)},
                       {"reversed", PrintBool(reversed_)},
                       {"slices", std::to_string(slices_.size())},
                       {"carried", std::to_string(carried_.size())},
                       {"stacked", stacked},
                       {"body", Print(body_)}},
                      role);
}

MXC_OP(Scan) {
  return Op<ScanAttrs>("_scan")
      .Doc("a graph that runs turn after turn")
      .InputsOf(ScanInputs)
      .OutputsOf(ScanOutputs)
      .Variadic()
      .Internal()
      .Check(CheckScan)
      .Types(ScanTypes)
      .AsScan(FormOf);
}

}  // namespace mxc
