// SPDX-License-Identifier: Apache-2.0
// Functions of arrays as graphs: one operator, a network, the gradient of what
// was recorded. Who says how one is built for operands of known types has a
// compiler of it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/support/result.h"
#include "runtime/ndarray/operator_call.h"

namespace mxc {

// All that is wrong, as one.
std::string SentenceOf(const Diagnostics& errors);
template <class T>
runtime::StatusOr<T> InStatus(Result<T> result) {
  if (result.ok()) return std::move(*result);
  return runtime::Status(runtime::StatusCode::kInvalidArgument,
                         SentenceOf(result.errors()));
}
TensorType TensorTypeOf(const runtime::ArrayType& type);
runtime::ArrayType ArrayTypeOf(const TensorType& type);

// Its inputs are variables of role kInput, by their names, or kState where they
// are written in place (Graph::updates); other variables are states that are the
// graph's own (GraphBuilder::RandomState). Types are known.
struct FunctionGraph {
  // Outputs: visible ones, next values of inputs, then what a gradient reads.
  Graph graph;
  size_t visible = 0;
  std::vector<size_t> updates;  // inputs

  size_t hidden() const {
    return graph.outputs.size() - visible - updates.size();
  }
  // What a record of a call gives: the visible outputs, then the hidden ones.
  std::vector<Value> RecordedOutputs() const;
  // By number; null where nothing depends on it.
  std::vector<Node*> Inputs(size_t count) const;

  static std::string InputName(size_t number);
  static bool IsInputName(std::string_view name);
  static size_t InputNumber(std::string_view name);  // of such a name
  // A variable for an input.
  static Node* AddInput(Graph& graph, size_t number, const TensorType& type);
  // Adds an output. Gradients say so: what they are computed from need not be kept.
  void Add(Value value, TensorRole role = TensorRole::kOther);
};

class FunctionCompiler : public runtime::OperatorCompiler {
 public:
  explicit FunctionCompiler(std::string name) : name_(std::move(name)) {}

  runtime::StatusOr<runtime::CompiledOperator> Compile(
      std::span<const runtime::ArrayType> inputs, bool training,
      const runtime::GradientSource* recorded) const final;
  // What is compiled.
  Result<FunctionGraph> FunctionFor(
      std::span<const runtime::ArrayType> inputs, bool training,
      const runtime::GradientSource* recorded) const;
  runtime::StatusOr<runtime::RecordedForm> Record(
      std::span<const runtime::ArrayType> inputs, bool training) const final;

 protected:
  virtual Result<FunctionGraph> Build(
      std::span<const runtime::ArrayType> inputs, bool training) const = 0;
  const std::string& name() const { return name_; }

 private:
  const std::string name_;
};

}  // namespace mxc
