// SPDX-License-Identifier: Apache-2.0
#include "tests/ir/op_run.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "ir/graph/builder.h"
#include "ir/graph/inner_graph.h"
#include "ir/graph/scan_form.h"
#include "ir/program/add_buffer.h"
#include "ir/program/definition.h"
#include "ir/program/interpreter.h"
#include "ir/program/procedure_builder.h"
#include "ir/program/steps/contraction.h"
#include "ir/program/steps/map.h"

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
  if (!status.ok()) {
    const Diagnostic& error = status.errors()[0];
    one.error = error.message;  // "Pooling 'op': kernel …"
    const size_t at = one.error.find("': ");
    if (!error.constraint.empty() && at != std::string::npos) {
      one.error.insert(at + 3, error.constraint + ": ");
    }
  }
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
  return InterpretStep(program, step, inputs, {.all_double = all_double});
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

  std::vector<Tensor> OfTurns(const Node& node, std::vector<Tensor> inputs) {
    const ScanForm form = node.op->scan(node.attrs.get());
    const auto carried = inputs.begin() + form.slices;
    std::vector<Tensor> last(carried, carried + form.carried);
    std::vector<Tensor> stacks, histories;
    for (size_t k = 0; k < node.types.size(); ++k) {
      const auto output = static_cast<int>(k);
      if (output < form.carried) continue;
      TensorType type = node.types[k];
      if (all_double_ && IsFloat(type.dtype)) type.dtype = DType::kF64;
      (output < form.history(0) ? stacks : histories)
          .push_back(Tensor::Filled(type, 0));
    }
    const auto keep = [&](int64_t slice) {
      for (size_t k = 0; k < histories.size(); ++k) {
        histories[k] = With(histories[k], slice, last[k]);
      }
    };
    keep(form.reversed ? form.turns : 0);
    const double count = form.counted ? inputs.back().At(0) : form.turns;
    for (int64_t t = 0; t < form.turns; ++t) {
      const int64_t at = form.reversed ? form.turns - 1 - t : t;
      if (at >= count) continue;
      if (form.conditional && last[0].At(0) == 0) break;
      std::vector<Tensor> results = Turn(node, form, inputs, last, at);
      std::copy_n(results.begin(), last.size(), last.begin());
      for (size_t k = 0; k < stacks.size(); ++k) {
        stacks[k] = With(stacks[k], at, results[last.size() + k]);
      }
      keep(form.reversed ? at : at + 1);
    }
    last.insert(last.end(), stacks.begin(), stacks.end());
    last.insert(last.end(), histories.begin(), histories.end());
    return last;
  }

  std::vector<Tensor> Turn(const Node& node, const ScanForm& form,
                           const std::vector<Tensor>& inputs,
                           const std::vector<Tensor>& carried, int64_t at) {
    Result<Graph> body = TurnOf(form, node.inputs);
    MXC_CHECK(body.ok() && InferTypes(*body, true).ok());
    Evaluation turn(*body, all_double_);
    for (int i = 0; i < static_cast<int>(inputs.size()); ++i) {
      const int k = i - form.slices;
      turn.Give(body->FindVariable(InnerVariable(i)),
                k < 0              ? Element(inputs[i], at)
                : k < form.carried ? carried[k]
                                   : inputs[i]);
    }
    std::vector<Tensor> results;
    for (const Value& value : body->outputs) results.push_back(turn.Of(value));
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

  // The stack with this slice.
  static Tensor With(const Tensor& stack, int64_t slice, const Tensor& part) {
    std::byte* bytes = nullptr;
    Tensor changed = Tensor::Allocate(stack.type(), &bytes);
    std::copy_n(stack.bytes(), stack.size_bytes(), bytes);
    const DType dtype = stack.type().dtype;
    const int64_t count = part.shape().elements();
    for (int64_t i = 0; i < count; ++i) {
      StoreElement(bytes + (slice * count + i) * SizeOf(dtype), dtype,
                   part.ExactAt(i));
    }
    return changed;
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

std::vector<double> ValuesOf(const Tensor& tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.shape().elements(); ++i) {
    values.push_back(tensor.At(i));
  }
  return values;
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
