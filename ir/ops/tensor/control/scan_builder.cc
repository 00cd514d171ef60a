// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>

#include "ir/graph/inner_graph.h"
#include "ir/ops/operators.h"
#include "ir/ops/tensor/control/scan.h"

namespace mxc {

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
  TensorType type = stacked.type();
  if (type.shape.known_rank()) {
    const Extents& dims = stacked.shape().dims();
    type.shape = Shape(Extents(dims.begin() + 1, dims.end()));
  }
  slices_.push_back(stacked);
  const Value inner = Variable(type);
  slice_variables_.push_back(inner.node);
  return inner;
}

Value ScanBuilder::Carry(Value initial) {
  carried_.push_back({initial, Variable(initial.type()), {}});
  return carried_.back().inner;
}

Value ScanBuilder::While(Value first) {
  MXC_CHECK(carried_.empty(), "'{}'", outside_.origin().name);
  conditional_ = true;
  const Value condition = Carry(first);
  const Value turns = Carry(outside_.Zeros({DType::kI64, Shape{1}}));
  Next(turns, inside_.Add(turns, 1.0));
  return condition;
}

void ScanBuilder::Count(Value slices) { count_ = slices; }

Value ScanBuilder::Whole(Value value) {
  const auto found = std::ranges::find(whole_, value);
  if (found != whole_.end()) {
    return whole_variables_[found - whole_.begin()]->out();
  }
  whole_.push_back(value);
  whole_variables_.push_back(Variable(value.type()).node);
  return whole_variables_.back()->out();
}

void ScanBuilder::Next(Value carry, Value next) {
  const auto found = std::ranges::find(carried_, carry, &Carried::inner);
  const bool open = !next.type().known() || !carry.type().known();
  MXC_CHECK(found != carried_.end() && (open || next.type() == carry.type()),
            "'{}'", outside_.origin().name);
  found->next = next;
}

size_t ScanBuilder::Stack(Value value) {
  stacks_.push_back(value);
  return stacks_.size() - 1;
}

void ScanBuilder::TakeConstantsOut() {
  Replacements outside;
  for (Node* node : LargeConstants(body_)) {
    outside.Add(node->out(),
                Whole(outside_.Constant(node->constant, "constant")));
  }
  body_.ReplaceUses(outside);
}

// Drops the slices, and the whole inputs, that no turn reads.
void ScanBuilder::DropUnread() {
  std::set<const Node*> read;
  for (const Node* node : body_.TopologicalOrder()) {
    for (const Value& input : node->inputs) read.insert(input.node);
  }
  for (const Value& output : body_.outputs) read.insert(output.node);
  const auto drop = [&](std::vector<Value>& outside,
                        std::vector<Node*>& variables) {
    size_t kept = 0;
    for (size_t i = 0; i < variables.size(); ++i) {
      variables[i]->declared = read.contains(variables[i]);
      if (!variables[i]->declared) continue;
      outside[kept] = outside[i];
      variables[kept++] = variables[i];
    }
    outside.resize(kept);
    variables.resize(kept);
  };
  drop(slices_, slice_variables_);
  drop(whole_, whole_variables_);
}

ScanBuilder::Outputs ScanBuilder::Finish(std::string_view role) {
  const Description scan = Describe();
  return Sorted(
      outside_.Ops(OperatorOf<op::Scan>(), scan.inputs, scan.attrs, role));
}

ScanBuilder::Outputs ScanBuilder::Sorted(std::span<const Value> all) const {
  const size_t carried = carried_.size(), stacks = stacks_.size();
  const auto list = [](std::span<const Value> values) {
    return std::vector<Value>(values.begin(), values.end());
  };
  return {list(all.first(carried)), list(all.subspan(carried, stacks)),
          list(all.subspan(carried + stacks))};
}

ScanBuilder::Description ScanBuilder::Describe() {
  for (const Carried& carried : carried_) body_.outputs.push_back(carried.next);
  body_.outputs.insert(body_.outputs.end(), stacks_.begin(), stacks_.end());
  TakeConstantsOut();
  DropUnread();
  body_.RemoveDeadNodes();
  std::vector<Node*> variables = slice_variables_;
  std::vector<Value> inputs = slices_;
  for (const Carried& carried : carried_) {
    variables.push_back(carried.inner.node);
    inputs.push_back(carried.initial);
  }
  variables.insert(variables.end(), whole_variables_.begin(),
                   whole_variables_.end());
  inputs.insert(inputs.end(), whole_.begin(), whole_.end());
  if (count_) {
    variables.push_back(Variable(count_.type()).node);
    inputs.push_back(count_);
  }
  for (size_t i = 0; i < variables.size(); ++i) {
    variables[i]->name = InnerVariable(static_cast<int64_t>(i));
  }
  for (size_t i = 0; i < body_.outputs.size(); ++i) {
    body_.output_names.push_back("output" + std::to_string(i));
  }
  std::vector<AttrText> attrs = {{"num_args", std::to_string(inputs.size())},
                                 {"turns", std::to_string(turns_)},
                                 {"reversed", PrintBool(reversed_)},
                                 {"slices", std::to_string(slices_.size())},
                                 {"carried", std::to_string(carried_.size())},
                                 {"stacks", std::to_string(stacks_.size())},
                                 {"conditional", PrintBool(conditional_)},
                                 {"counted", PrintBool(bool{count_})},
                                 {"body", Print(body_)}};
  return {std::move(inputs), std::move(attrs)};
}

}  // namespace mxc
