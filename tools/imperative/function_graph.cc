// SPDX-License-Identifier: Apache-2.0
#include "tools/imperative/function_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "ir/graph/copy.h"
#include "passes/passes.h"
#include "tools/imperative/compile_function.h"
#include "tools/imperative/pullback.h"

namespace mxc {
namespace {

namespace rt = runtime;

constexpr std::string_view kInputPrefix = "in";

// A state that an operator of networks leaves as it is, as BatchNorm does where
// it does not train, is not written.
Result<FunctionGraph> WithoutIdleUpdates(FunctionGraph function) {
  if (function.updates.empty()) return function;
  Graph simpler = CopyOf(function.graph);
  PassContext context;
  MXC_RETURN_IF_ERROR(RemoveIdentities(simpler, context));
  for (size_t u = function.updates.size(); u-- > 0;) {
    const size_t output = function.visible + u;
    const Node& next = *simpler.outputs[output].node;
    const bool idle =
        next.kind == Node::Kind::kVariable &&
        next.name == FunctionGraph::InputName(function.updates[u]);
    if (!idle) continue;
    const auto at = static_cast<std::ptrdiff_t>(output);
    function.updates.erase(function.updates.begin() +
                           static_cast<std::ptrdiff_t>(u));
    function.graph.outputs.erase(function.graph.outputs.begin() + at);
    function.graph.output_names.erase(function.graph.output_names.begin() + at);
    auto& uses = function.graph.output_uses;
    if (output < uses.size()) uses.erase(uses.begin() + at);
  }
  return function;
}

}  // namespace

std::string SentenceOf(const Diagnostics& errors) {
  std::string sentence;
  for (const Diagnostic& error : errors) {
    sentence += (sentence.empty() ? "" : "; ") + error.message;
  }
  return sentence;
}

TensorType TensorTypeOf(const rt::ArrayType& type) {
  return {static_cast<DType>(type.dtype),
          Shape(Extents(type.extents().begin(), type.extents().end()))};
}

rt::ArrayType ArrayTypeOf(const TensorType& type) {
  rt::ArrayType array;
  array.dtype = static_cast<uint8_t>(type.dtype);
  array.rank = static_cast<uint8_t>(type.shape.rank());
  std::ranges::copy(type.shape.dims(), array.dims.begin());
  return array;
}

std::string FunctionGraph::InputName(size_t number) {
  return fmt::format("{}{}", kInputPrefix, number);
}

bool FunctionGraph::IsInputName(std::string_view name) {
  if (!name.starts_with(kInputPrefix)) return false;
  return std::ranges::all_of(name.substr(kInputPrefix.size()), [](char each) {
    return each >= '0' && each <= '9';
  });
}

size_t FunctionGraph::InputNumber(std::string_view name) {
  size_t number = 0;
  std::from_chars(name.data() + kInputPrefix.size(), name.data() + name.size(),
                  number);
  return number;
}

Node* FunctionGraph::AddInput(Graph& graph, size_t number,
                              const TensorType& type) {
  Node* const variable = graph.AddVariable(InputName(number));
  variable->types[0] = type;
  variable->declared = true;
  return variable;
}

void FunctionGraph::Add(Value value, TensorRole role) {
  graph.output_names.push_back(fmt::format("out{}", graph.outputs.size()));
  graph.output_uses.resize(graph.outputs.size());
  graph.outputs.push_back(value);
  graph.output_uses.push_back({role, {}});
}

std::vector<Value> FunctionGraph::RecordedOutputs() const {
  std::vector<Value> outputs = graph.outputs;
  const auto begin = outputs.begin() + static_cast<std::ptrdiff_t>(visible);
  outputs.erase(begin, begin + static_cast<std::ptrdiff_t>(updates.size()));
  return outputs;
}

std::vector<Node*> FunctionGraph::Inputs(size_t count) const {
  std::vector<Node*> inputs;
  for (size_t i = 0; i < count; ++i) {
    inputs.push_back(graph.FindVariable(InputName(i)));
  }
  return inputs;
}

rt::StatusOr<rt::CompiledOperator> FunctionCompiler::Compile(
    std::span<const rt::ArrayType> inputs, bool training,
    const rt::GradientSource* recorded) const {
  const auto compile = [&]() -> Result<rt::CompiledOperator> {
    MXC_ASSIGN(FunctionGraph function, FunctionFor(inputs, training, recorded));
    return CompileFunction(std::move(function), name_, inputs.size());
  };
  return InStatus(compile());
}

Result<FunctionGraph> FunctionCompiler::FunctionFor(
    std::span<const rt::ArrayType> inputs, bool training,
    const rt::GradientSource* recorded) const {
  if (recorded != nullptr) return CopyOf(FunctionOf(*recorded));
  MXC_ASSIGN(FunctionGraph function, Build(inputs, training));
  return WithoutIdleUpdates(std::move(function));
}

rt::StatusOr<rt::RecordedForm> FunctionCompiler::Record(
    std::span<const rt::ArrayType> inputs, bool training) const {
  const auto record = [&]() -> Result<rt::RecordedForm> {
    MXC_ASSIGN(FunctionGraph function, Build(inputs, training));
    MXC_ASSIGN(function, WithoutIdleUpdates(std::move(function)));
    return FormOf(std::move(function), inputs.size());
  };
  return InStatus(record());
}

}  // namespace mxc
