// SPDX-License-Identifier: Apache-2.0
// Labels that training smooths: loss and gradient against their formulas, in
// double.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "ir/support/diagnostic.h"
#include "passes/passes.h"
#include "tests/passes/network.h"

namespace mxc {
namespace {

using Tensors = std::map<std::string, Tensor>;

constexpr int64_t kClasses = 5;

// Logits that are a parameter, so that their gradient is told, and a head.
struct SmoothedCase {
  Shape shape = {4, kClasses};  // of the logits
  std::string op = "SoftmaxOutput";
  std::vector<AttrText> attrs;
  std::vector<float> labels;
  bool trains = true;
};

double LogitAt(int64_t i) { return std::sin(static_cast<double>(3 * i + 1)); }

Tensor Logits(const Shape& shape) {
  std::vector<float> values;
  for (int64_t i = 0; i < shape.elements(); ++i) {
    values.push_back(static_cast<float>(LogitAt(i)));
  }
  return Tensor::FromFloats(shape, values);
}

Network NetworkOf(const SmoothedCase& of) {
  Network net;
  net.graph.stateful = true;
  net.graph.training = of.trains;
  Node* logits = net.graph.AddVariable("logits_weight");
  logits->role = VariableRole::kParameter;
  logits->constant = Logits(of.shape);
  logits->types[0] = logits->constant.type();
  const Extents& dims = of.shape.dims();
  const auto count = static_cast<int64_t>(of.labels.size());
  const Shape label = count == of.shape.elements()
                          ? of.shape
                          : Shape(Extents(dims.begin(), dims.end() - 1));
  const Value fed = net.Input("label", label);
  net.inputs["label"] = Tensor::FromFloats(label, of.labels);
  net.Output(net.Op(of.op, "head", {logits->out(), fed}, of.attrs));
  return net;
}

// The outputs by name, or what is wrong.
Result<Tensors> Run(const SmoothedCase& of, double smoothing,
                    Diagnostics* notes = nullptr) {
  Network net = NetworkOf(of);
  TrainingOptions options;
  options.optimizer.clear();
  options.label_smoothing = smoothing;
  const Target target = *ResolveTarget("x86-64-v3");
  PassContext context{&target};
  context.training = &options;
  context.notes = notes;
  MXC_ASSIGN(const Program program,
             RunPipeline(std::move(net.graph), context, {}));
  Tensors inputs = net.inputs;
  inputs["logits_weight"] = Logits(of.shape);
  InterpreterOptions arithmetic;
  arithmetic.arithmetic.all_double = true;
  MXC_ASSIGN(const std::vector<Tensor> values,
             Interpret(program, inputs, arithmetic));
  Tensors outputs;
  size_t next = 0;
  for (const int b : program.BuffersOf(BufferKind::kOutput)) {
    outputs[program.buffers[b].name] = values[next++];
  }
  return outputs;
}

// softmax(logits) of a row.
std::vector<double> Softmax(int64_t row) {
  std::vector<double> p;
  double sum = 0;
  for (int64_t k = 0; k < kClasses; ++k) {
    const auto logit = static_cast<float>(LogitAt(row * kClasses + k));
    p.push_back(std::exp(static_cast<double>(logit)));
    sum += p.back();
  }
  for (double& one : p) one /= sum;
  return p;
}

// 1 - A for the label's class, A / (C - 1) for each other one.
double TargetAt(double smoothing, int64_t label, int64_t klass) {
  return klass == label ? 1 - smoothing
                        : smoothing / static_cast<double>(kClasses - 1);
}

double MeanCrossEntropy(const SmoothedCase& of, double smoothing) {
  double sum = 0, count = 0;
  for (size_t row = 0; row < of.labels.size(); ++row) {
    const auto label = static_cast<int64_t>(of.labels[row]);
    if (label < 0 || label >= kClasses) continue;
    const auto p = Softmax(static_cast<int64_t>(row));
    for (int64_t k = 0; k < kClasses; ++k) {
      sum -=
          TargetAt(smoothing, label, k) * std::log(p[static_cast<size_t>(k)]);
    }
    ++count;
  }
  return sum / count;
}

void CheckStep(const SmoothedCase& of, double smoothing, double expected) {
  const auto outputs = Run(of, smoothing);
  REQUIRE(outputs.ok());
  CHECK(outputs->at("loss").At(0) ==
        doctest::Approx(MeanCrossEntropy(of, expected)).epsilon(1e-6));
  if (!of.trains) return;
  const Tensor& gradient = outputs->at("grad:logits_weight");
  for (int64_t i = 0; i < of.shape.elements(); ++i) {
    CAPTURE(i);
    const int64_t row = i / kClasses, klass = i % kClasses;
    const auto label =
        static_cast<int64_t>(of.labels[static_cast<size_t>(row)]);
    CHECK(gradient.At(i) ==
          doctest::Approx(Softmax(row)[static_cast<size_t>(klass)] -
                          TargetAt(expected, label, klass))
              .epsilon(1e-6));
  }
}

}  // namespace

TEST_CASE("a step on smoothed labels has their loss and its gradient") {
  SmoothedCase plain;
  plain.labels = {3, 0, 4, 1};
  for (const double smoothing : {0.0, 0.1, 0.7}) {
    CAPTURE(smoothing);
    CheckStep(plain, smoothing, smoothing);
  }
  // A class at each position.
  SmoothedCase positions = plain;
  positions.shape = {2, 2, kClasses};
  positions.attrs = {{"preserve_shape", "True"}};
  CheckStep(positions, 0.2, 0.2);
}

TEST_CASE(
    "an option wins over the network's smooth_alpha, which holds without") {
  SmoothedCase own;
  own.labels = {3, 0, 4, 1};
  own.attrs = {{"smooth_alpha", "0.3"}};
  CheckStep(own, 0, 0.3);
  CheckStep(own, 0.1, 0.1);
}

TEST_CASE("scoring reports the loss of the labels as they are") {
  SmoothedCase scored;
  scored.labels = {3, 0, 4, 1};
  scored.trains = false;
  CheckStep(scored, 0.1, 0);
  scored.attrs = {{"smooth_alpha", "0.3"}};
  CheckStep(scored, 0.1, 0);
  CheckStep(scored, 0, 0);
}

TEST_CASE("rows without a class count neither in the loss nor its mean") {
  SmoothedCase of;
  of.labels = {3, -1, 4, 1};
  of.attrs = {{"use_ignore", "True"}};
  const auto outputs = Run(of, 0.1);
  REQUIRE(outputs.ok());
  CHECK(outputs->at("loss").At(0) ==
        doctest::Approx(MeanCrossEntropy(of, 0.1)).epsilon(1e-6));
  for (int64_t k = 0; k < kClasses; ++k) {
    CHECK(outputs->at("grad:logits_weight").At(kClasses + k) == 0);
  }
}

TEST_CASE("heads that cannot smooth labels are told") {
  SmoothedCase distributions;
  distributions.labels.assign(4 * kClasses, 0.2f);
  SmoothedCase regression = distributions;
  regression.op = "LogisticRegressionOutput";
  for (const SmoothedCase& of : {distributions, regression}) {
    CAPTURE(of.op);
    CHECK(Run(of, 0).ok());
    const auto refused = Run(of, 0.1);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.errors()[0].message ==
          "label smoothing does not apply to 'head' (" + of.op +
              "): of loss heads SoftmaxOutput alone smooths labels, those that "
              "are classes, and not with multi_output");
  }
}

TEST_CASE("beside a head that smooths labels others stay as they are") {
  SmoothedCase of;
  of.labels = {3, 0, 4, 1};
  Network net = NetworkOf(of);
  const Value values = net.Input("values", {4, kClasses});
  net.Output(net.Op("LinearRegressionOutput", "line",
                    {net.graph.FindVariable("logits_weight")->out(), values}));
  TrainingOptions options;
  options.label_smoothing = 0.1;
  Diagnostics notes;
  PassContext context;
  context.training = &options;
  context.notes = &notes;
  REQUIRE(InferTypesPass(net.graph, context).ok());
  const auto changed = SmoothLabels(net.graph, context);
  REQUIRE(changed.ok());
  CHECK(*changed);
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].message.starts_with(
      "label smoothing does not apply to 'line' (LinearRegressionOutput): "));
}

}  // namespace mxc
