// SPDX-License-Identifier: Apache-2.0
#include "tests/ir/gradient_run.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "ir/graph/gradient.h"

namespace mxc {
namespace {

constexpr double kStep = 1e-5;

// One operator between variables in0, in1 …
struct OneOperator {
  OneOperator(std::string_view name, const std::vector<AttrText>& attrs,
              const std::vector<Tensor>& inputs, bool training) {
    graph.training = training;
    const Operator* op = FindOperator(name);
    MXC_CHECK(op != nullptr, "operator '{}'", name);
    std::vector<AttrError> errors;
    AttrsPtr parsed = op->parse(attrs, errors);
    MXC_CHECK(errors.empty(), "{}: {}", name, errors[0].message);
    std::vector<Value> values;
    for (size_t i = 0; i < inputs.size(); ++i) {
      values.push_back(Variable(fmt::format("in{}", i), inputs[i]));
    }
    node = graph.AddOperator(op, "op", std::move(parsed), values);
    for (size_t i = 0; i < node->types.size(); ++i) {
      graph.outputs.push_back(node->out(static_cast<int>(i)));
    }
    const Status status = InferTypes(graph, true);
    MXC_CHECK(status.ok(), "{}: {}", name, status.errors()[0].message);
  }

  Value Variable(const std::string& name, const Tensor& value) {
    Node* variable = graph.AddVariable(name);
    variable->types[0] = value.type();
    values[name] = value;
    return variable->out();
  }

  Graph graph;
  Node* node = nullptr;
  std::map<std::string, Tensor> values;
};

// Head gradients that no two elements share.
std::vector<Tensor> ChooseHeads(const std::vector<Tensor>& outputs) {
  std::vector<Tensor> heads;
  for (const Tensor& output : outputs) {
    std::vector<double> values;
    for (int64_t i = 0; i < output.shape().elements(); ++i) {
      values.push_back(0.75 +
                       0.5 * std::sin(1.0 + 2.0 * static_cast<double>(i)));
    }
    heads.push_back(
        TypedTensor(output.type().dtype, output.shape(), std::move(values)));
  }
  return heads;
}

double Product(const std::vector<Tensor>& outputs,
               const std::vector<Tensor>& heads) {
  double sum = 0;
  for (size_t k = 0; k < outputs.size(); ++k) {
    for (int64_t i = 0; i < outputs[k].shape().elements(); ++i) {
      sum += outputs[k].At(i) * heads[k].At(i);
    }
  }
  return sum;
}

Tensor Moved(const Tensor& tensor, int64_t element, double by) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.shape().elements(); ++i) {
    values.push_back(tensor.At(i) + (i == element ? by : 0));
  }
  return Doubles(tensor.shape(), std::move(values));
}

}  // namespace

std::vector<Tensor> EvaluateGradient(std::string_view op,
                                     const std::vector<AttrText>& attrs,
                                     const std::vector<Tensor>& inputs,
                                     const std::vector<Tensor>& heads,
                                     bool training) {
  OneOperator one(op, attrs, inputs, training);
  std::vector<HeadGradient> head_gradients;
  for (size_t k = 0; k < heads.size(); ++k) {
    HeadGradient head = {one.node->out(static_cast<int>(k)), {}};
    if (!heads[k].empty()) {
      head.gradient = one.Variable(fmt::format("head{}", k), heads[k]);
    }
    head_gradients.push_back(head);
  }
  const auto gradients = Gradients(one.graph, head_gradients, one.node->inputs);
  REQUIRE_MESSAGE(gradients.ok(), gradients.errors()[0].message);
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < gradients->size(); ++i) {
    const Value gradient = (*gradients)[i];
    if (!gradient) {
      tensors.emplace_back();
      continue;
    }
    CHECK(gradient.type() == inputs[i].type());
    tensors.push_back(EvaluateValues(one.graph, std::span(&gradient, 1),
                                     one.values, false)[0]);
  }
  return tensors;
}

std::vector<double> GradientOf(int input, std::string_view op,
                               const std::vector<AttrText>& attrs,
                               const std::vector<Tensor>& inputs,
                               std::vector<double> head) {
  const OneOperator one(op, attrs, inputs, false);
  const TensorType& type = one.node->types[0];
  const Tensor gradient = EvaluateGradient(
      op, attrs, inputs,
      {TypedTensor(type.dtype, type.shape, std::move(head))})[input];
  std::vector<double> values;
  if (gradient.empty()) return values;
  for (int64_t i = 0; i < gradient.shape().elements(); ++i) {
    values.push_back(gradient.At(i));
  }
  return values;
}

void CheckGradient(std::string_view op, const std::vector<AttrText>& attrs,
                   const std::vector<Tensor>& inputs, double tolerance,
                   bool training) {
  CAPTURE(op);
  const std::vector<Tensor> heads =
      ChooseHeads(EvaluateOp(op, attrs, inputs, training));
  const std::vector<Tensor> gradients =
      EvaluateGradient(op, attrs, inputs, heads, training);
  const auto loss = [&](const std::vector<Tensor>& at) {
    return Product(EvaluateOp(op, attrs, at, training), heads);
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].type().dtype != DType::kF64) continue;
    CAPTURE(i);
    for (int64_t e = 0; e < inputs[i].shape().elements(); ++e) {
      std::vector<Tensor> above = inputs, below = inputs;
      above[i] = Moved(inputs[i], e, kStep);
      below[i] = Moved(inputs[i], e, -kStep);
      const double slope = (loss(above) - loss(below)) / (2 * kStep);
      const double gradient = !gradients[i].empty() ? gradients[i].At(e) : 0;
      CAPTURE(e);
      CHECK(gradient == doctest::Approx(slope).epsilon(tolerance));
    }
  }
}

Tensor Doubles(Shape shape, std::vector<double> values) {
  return TypedTensor(DType::kF64, std::move(shape), std::move(values));
}

Tensor SomeDoubles(Shape shape, int seed) {
  std::vector<double> values;
  for (int64_t i = 0; i < shape.elements(); ++i) {
    // Multiples of the golden ratio, modulo 1, keep apart from each other.
    const double part =
        std::fmod(0.618033988749895 * static_cast<double>(i + 1 + 7 * seed), 1);
    values.push_back((part < 0.5 ? -1 : 1) * (0.1 + 0.8 * part));
  }
  return Doubles(std::move(shape), std::move(values));
}

}  // namespace mxc
