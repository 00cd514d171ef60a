// SPDX-License-Identifier: Apache-2.0
#include "tests/ir/op_run.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "ir/graph/builder.h"
#include "ir/graph/scan_form.h"
#include "ir/program/add_buffer.h"
#include "ir/program/definition.h"
#include "ir/program/interpreter.h"
#include "ir/program/procedure_builder.h"

namespace mxc {

OneNode BuildOneNode(std::string_view name, const std::vector<AttrText>& attrs,
                     const std::vector<TensorType>& types, bool training) {
  OneNode one;
  one.graph.training = training;
  const Operator* op = FindOperator(name);
  MXC_CHECK(op != nullptr, "operator '{}'", name);
  std::vector<AttrError> errors;
  AttrsPtr parsed = op->parse(attrs, errors);
  if (!errors.empty()) {
    one.error = errors[0].message;
    return one;
  }
  if (op->check) {
    if (auto error = op->check(parsed.get())) {
      one.error = *error;
      return one;
    }
  }
  std::vector<Value> inputs;
  for (size_t i = 0; i < types.size(); ++i) {
    Node* variable = one.graph.AddVariable(fmt::format("in{}", i));
    variable->types[0] = types[i];
    inputs.push_back(variable->out());
  }
  one.node = one.graph.AddOperator(op, "op", std::move(parsed), inputs);
  for (size_t i = 0; i < one.node->types.size(); ++i) {
    one.graph.outputs.push_back(one.node->out(static_cast<int>(i)));
  }
  const Status status = InferTypes(one.graph, true);
  if (!status.ok()) one.error = status.errors()[0].message;
  return one;
}

namespace {

// One node as a step with that body, by the interpreter.
std::vector<Tensor> EvaluateStep(const Node& node,
                                 const std::vector<Tensor>& inputs,
                                 decltype(Step::body) body,
                                 bool all_double = false) {
  Program program;
  Step step;
  step.name = "op";
  const auto add = [&](const TensorType& type, std::vector<int>& list) {
    list.push_back(AddBuffer(program, "", type));
  };
  for (const Tensor& input : inputs) add(input.type(), step.inputs);
  for (const TensorType& type : node.types) add(type, step.outputs);
  step.body = std::move(body);
  program.steps = {step};
  return InterpretStep(program, step, inputs, all_double);
}

std::vector<Tensor> EvaluateMeaning(const Node& node,
                                    const std::vector<Tensor>& inputs,
                                    bool training, bool all_double) {
  if (node.op->procedure) {
    ProcedureBuilder procedure(node);
    node.op->procedure(node.attrs.get(), procedure);
    return EvaluateStep(node, inputs, procedure.Finish(), all_double);
  }
  Definition definition(node, training);
  node.op->meaning(node.attrs.get(), definition);
  return EvaluateStep(node, inputs, Map{definition.stores()}, all_double);
}

}  // namespace

OpRun InferOp(std::string_view op, const std::vector<AttrText>& attrs,
              const std::vector<Shape>& shapes, bool training) {
  std::vector<TensorType> types;
  for (const Shape& shape : shapes) types.push_back({DType::kUnknown, shape});
  const OneNode one = BuildOneNode(op, attrs, types, training);
  OpRun run;
  run.error = one.error;
  if (one.node == nullptr) return run;
  for (const Value& input : one.node->inputs)
    run.inputs.push_back(input.type());
  run.outputs = one.node->types;
  return run;
}

namespace {

class Evaluation {
 public:
  Evaluation(Graph& graph, bool all_double)
      : graph_(graph), all_double_(all_double) {}

  void Give(const Node* node, Tensor value) { done_[node] = {value}; }
  Tensor Of(Value value) { return All(*value.node)[value.index]; }

  std::vector<Tensor> All(const Node& node) {
    if (const auto known = done_.find(&node); known != done_.end()) {
      return known->second;
    }
    if (node.kind != Node::Kind::kOperator) return {node.constant};
    std::vector<Tensor> outputs = OfParts(node);
    if (outputs.empty()) {
      std::vector<Tensor> inputs;
      for (const Value& input : node.inputs) inputs.push_back(Of(input));
      outputs = node.op->scan ? OfTurns(node, std::move(inputs))
                              : EvaluateMeaning(node, inputs, graph_.training,
                                                all_double_);
    }
    return done_[&node] = outputs;
  }

 private:
  // What a composite operator's parts give; empty if it has none here.
  std::vector<Tensor> OfParts(const Node& node) {
    if (!node.op->decompose) return {};
    GraphBuilder builder(graph_, node);
    std::vector<Tensor> outputs;
    for (const Value& part :
         node.op->decompose(node.attrs.get(), node, builder)) {
      outputs.push_back(Of(part));
      CHECK(part.type() == node.types[outputs.size() - 1]);
    }
    return outputs;
  }

  // Slices are taken and stacked by operators.
  std::vector<Tensor> OfTurns(const Node& node, std::vector<Tensor> inputs) {
    const ScanForm form = node.op->scan(node.attrs.get());
    const std::vector<Tensor> given = inputs;
    std::vector<std::vector<Tensor>> turns(static_cast<size_t>(form.turns));
    for (int64_t t = 0; t < form.turns; ++t) {
      const int64_t at = form.reversed ? form.turns - 1 - t : t;
      Result<Graph> body = ParseGraph(
          std::make_shared<SourceFile>(SourceFile{"body", form.body}));
      MXC_CHECK(body.ok());
      Evaluation turn(*body, all_double_);
      for (int i = 0; i < static_cast<int>(inputs.size()); ++i) {
        turn.Give(body->FindVariable("arg" + std::to_string(i)),
                  i < form.slices ? Element(inputs[i], at) : inputs[i]);
      }
      std::vector<Tensor>& outputs = turns[static_cast<size_t>(at)];
      for (const Value& value : body->outputs)
        outputs.push_back(turn.Of(value));
      for (int k = 0; k < form.carried; ++k) {
        inputs[form.slices + k] = outputs[k];
      }
    }
    const std::vector<Tensor>& last =
        form.reversed ? turns.front() : turns.back();
    std::vector<Tensor> results;
    for (size_t k = 0; k < last.size(); ++k) {
      std::vector<Tensor> parts;
      for (const auto& turn : turns) parts.push_back(turn[k]);
      if (k < static_cast<size_t>(form.carried)) {
        parts.insert(form.reversed ? parts.end() : parts.begin(),
                     given[static_cast<size_t>(form.slices) + k]);
      }
      results.push_back(form.stacked[k] ? Stack(parts) : last[k]);
    }
    return results;
  }

  static Tensor Element(const Tensor& stacked, int64_t at) {
    TensorType type = stacked.type();
    const Extents& dims = stacked.shape().dims();
    type.shape = Shape(Extents(dims.begin() + 1, dims.end()));
    std::byte* bytes = nullptr;
    Tensor element = Tensor::Allocate(type, &bytes);
    std::copy_n(stacked.bytes() + at * element.size_bytes(),
                element.size_bytes(), bytes);
    return element;
  }

  static Tensor Stack(const std::vector<Tensor>& parts) {
    TensorType type = parts[0].type();
    Extents dims = type.shape.dims();
    dims.insert(dims.begin(), static_cast<int64_t>(parts.size()));
    type.shape = Shape(dims);
    std::byte* bytes = nullptr;
    Tensor stacked = Tensor::Allocate(type, &bytes);
    for (const Tensor& part : parts) {
      bytes = std::copy_n(part.bytes(), part.size_bytes(), bytes);
    }
    return stacked;
  }

  Graph& graph_;
  const bool all_double_;
  std::map<const Node*, std::vector<Tensor>> done_;
};

}  // namespace

std::vector<Tensor> EvaluateOp(std::string_view op,
                               const std::vector<AttrText>& attrs,
                               const std::vector<Tensor>& inputs,
                               bool training) {
  std::vector<TensorType> types;
  for (const Tensor& input : inputs) types.push_back(input.type());
  OneNode one = BuildOneNode(op, attrs, types, training);
  MXC_CHECK(one.error.empty(), "{}: {}", op, one.error);
  Evaluation evaluation(one.graph, false);
  for (size_t i = 0; i < inputs.size(); ++i) {
    evaluation.Give(one.node->inputs[i].node, inputs[i]);
  }
  return evaluation.All(*one.node);
}

std::vector<Tensor> EvaluateValues(
    Graph& graph, std::span<const Value> values,
    const std::map<std::string, Tensor>& variables, bool all_double) {
  Evaluation evaluation(graph, all_double);
  for (const auto& [name, value] : variables) {
    evaluation.Give(graph.FindVariable(name), value);
  }
  std::vector<Tensor> tensors;
  for (const Value& value : values) tensors.push_back(evaluation.Of(value));
  return tensors;
}

std::vector<Tensor> EvaluateUndivided(std::string_view op,
                                      const std::vector<AttrText>& attrs,
                                      const std::vector<Tensor>& inputs) {
  std::vector<TensorType> types;
  for (const Tensor& input : inputs) types.push_back(input.type());
  const OneNode one = BuildOneNode(op, attrs, types, false);
  MXC_CHECK(one.error.empty(), "{}: {}", op, one.error);
  return EvaluateMeaning(*one.node, inputs, false, false);
}

Tensor EvaluateContraction(std::string_view op,
                           const std::vector<AttrText>& attrs,
                           const std::vector<Tensor>& inputs) {
  std::vector<TensorType> types;
  for (const Tensor& input : inputs) types.push_back(input.type());
  const OneNode one = BuildOneNode(op, attrs, types, false);
  MXC_CHECK(one.error.empty(), "{}: {}", op, one.error);
  const Definition definition(*one.node, false);
  auto contraction =
      one.node->op->contraction(one.node->attrs.get(), definition);
  MXC_CHECK(contraction.has_value(), "{}", op);
  return EvaluateStep(*one.node, inputs,
                      ContractionStep{std::move(*contraction), Acc(), {}})[0];
}

std::vector<double> Evaluate(std::string_view op,
                             const std::vector<AttrText>& attrs,
                             const std::vector<Tensor>& inputs, bool training) {
  const Tensor output = EvaluateOp(op, attrs, inputs, training)[0];
  std::vector<double> values;
  for (int64_t i = 0; i < output.shape().elements(); ++i) {
    values.push_back(output.At(i));
  }
  return values;
}

Tensor TypedTensor(DType dtype, Shape shape, std::vector<double> values) {
  std::byte* at = nullptr;
  Tensor tensor = Tensor::Allocate({dtype, std::move(shape)}, &at);
  for (size_t i = 0; i < values.size(); ++i) {
    StoreElement(at + i * SizeOf(dtype), dtype, values[i]);
  }
  return tensor;
}

bool Refuses(std::string_view label, std::string_view op,
             const std::vector<AttrText>& attrs,
             const std::vector<Shape>& shapes) {
  const std::string error = InferOp(op, attrs, shapes).error;
  const std::string start = std::string(label) + ":";
  return error.starts_with(start) || error.find(" " + start) != error.npos;
}

Tensor Floats(Shape shape, std::vector<float> values) {
  return Tensor::FromFloats(std::move(shape), values);
}

bool Near(const std::vector<double>& a, const std::vector<double>& b,
          double tolerance) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) != std::isnan(b[i])) return false;
    if (a[i] != b[i] && !(std::abs(a[i] - b[i]) <= tolerance) &&
        !std::isnan(a[i])) {
      return false;
    }
  }
  return true;
}

}  // namespace mxc
