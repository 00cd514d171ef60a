// SPDX-License-Identifier: Apache-2.0
// Runs one operator by itself: its attribute checks, its type function and its
// meaning, or that of its parts, by the interpreter.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph/graph.h"

namespace mxc {

struct OpRun {
  std::string error;  // what the operator refuses; empty when it is fine
  std::vector<TensorType> inputs, outputs;  // as inferred

  std::string In(int i) const { return ToString(inputs.at(i).shape); }
  std::string Out(int i = 0) const { return ToString(outputs.at(i).shape); }
};

// A graph whose outputs are those of one operator between variables in0, in1, …
struct OneNode {
  Graph graph;
  Node* node = nullptr;
  std::string error;  // what the operator refuses; then node may be null
};
OneNode BuildOneNode(std::string_view op, const std::vector<AttrText>& attrs,
                     const std::vector<TensorType>& types, bool training);

// Infers types. A shape may be unknown; an element type is float where unknown.
OpRun InferOp(std::string_view op, const std::vector<AttrText>& attrs,
              const std::vector<Shape>& shapes, bool training = false);

// The outputs for the given inputs, by the operator's parts where it has any;
// aborts the test if they are refused.
std::vector<Tensor> EvaluateOp(std::string_view op,
                               const std::vector<AttrText>& attrs,
                               const std::vector<Tensor>& inputs,
                               bool training = false);

// Values of a graph for given variables, by the parts of operators that have
// any. Variables that are not given have the values they start with. With
// `all_double` floats are kept in double, and come out so.
std::vector<Tensor> EvaluateValues(
    Graph& graph, std::span<const Value> values,
    const std::map<std::string, Tensor>& variables, bool all_double);

// The same by the operator's own meaning.
std::vector<Tensor> EvaluateUndivided(std::string_view op,
                                      const std::vector<AttrText>& attrs,
                                      const std::vector<Tensor>& inputs);

// The same by the operator's contraction, which it must have here.
Tensor EvaluateContraction(std::string_view op,
                           const std::vector<AttrText>& attrs,
                           const std::vector<Tensor>& inputs);

// Output 0 as floats.
std::vector<double> Evaluate(std::string_view op,
                             const std::vector<AttrText>& attrs,
                             const std::vector<Tensor>& inputs,
                             bool training = false);

// The elements of a tensor, row by row.
std::vector<double> ValuesOf(const Tensor& tensor);

Tensor Floats(Shape shape, std::vector<float> values);
Tensor TypedTensor(DType dtype, Shape shape, std::vector<double> values);

// Whether the operator refuses these attributes and shapes by the constraint
// with this label, "C1".
bool Refuses(std::string_view label, std::string_view op,
             const std::vector<AttrText>& attrs,
             const std::vector<Shape>& shapes);

// Whether all elements agree to within `tolerance`; NaN equals NaN.
bool Near(const std::vector<double>& a, const std::vector<double>& b,
          double tolerance = 1e-6);

}  // namespace mxc
