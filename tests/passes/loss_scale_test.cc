// SPDX-License-Identifier: Apache-2.0
// Training in f16: the scale of the loss, run by run. Nothing is narrow here, so
// that what overflows is f32 and every number is known.
#include <doctest/doctest.h>

#include <limits>
#include <map>
#include <string>

#include "passes/loss_scale.h"
#include "tests/passes/network.h"

namespace mxc {
namespace {

using States = std::map<std::string, Tensor>;

constexpr double kRate = 0.1;

// One sample of one number: y = w · x, and |y − 0| is the loss, so that the
// gradient of w is ±x.
class Scaled {
 public:
  explicit Scaled(DType storage = DType::kF16) {
    Network net("line");
    net.graph.training = net.graph.stateful = true;
    Node* weight = net.graph.AddVariable("w_weight");
    weight->role = VariableRole::kParameter;
    weight->types[0] = {DType::kF32, Shape{1, 1}};
    weight->constant = Tensor::Filled(weight->types[0], 0.5);
    const Value y = net.Op("FullyConnected", "line",
                           {net.Input("data", {1, 1}), weight->out()},
                           {{"num_hidden", "1"}, {"no_bias", "True"}});
    net.Output(
        net.Op("MAERegressionOutput", "mae", {y, net.Input("label", {1, 1})}));
    const Target target = *ResolveTarget("x86-64-v3");
    TrainingOptions options;
    options.optimizer_attrs = {{"momentum", "0.5"}};
    PassContext context{&target};
    context.training = &options;
    context.storage = storage;
    // Gradients are stored as they come, with the scale.
    PassOptions passes;
    passes.level = 0;
    auto program = RunPipeline(std::move(net.graph), context, passes);
    MXC_CHECK(program.ok(), "{}", Render(program.errors()));
    program_ = std::move(*program);
    for (const Buffer& buffer : program_.buffers) {
      if (buffer.kind != BufferKind::kState) continue;
      states[buffer.name] = buffer.constant.type() == buffer.type
                                ? buffer.constant
                                : Tensor::Filled(buffer.type, 0);
    }
  }

  void Run(double x) {
    std::map<std::string, Tensor> inputs = states;
    for (const int b : program_.BuffersOf(BufferKind::kInput)) {
      const Buffer& buffer = program_.buffers[b];
      const double value = buffer.name == "data"    ? x
                           : buffer.name == "label" ? 0
                                                    : kRate;
      inputs[buffer.name] = Tensor::Filled(buffer.type, value);
    }
    InterpreterOptions options;
    options.next_states = &states;
    const auto outputs = Interpret(program_, inputs, options);
    MXC_CHECK(outputs.ok(), "{}", Render(outputs.errors()));
  }
  double At(const std::string& name) const { return states.at(name).At(0); }
  double scale() const { return At("loss_scale"); }
  double runs() const { return At("loss_scale_good_runs"); }
  void Set(const std::string& name, double value) {
    states.at(name) = Tensor::Filled(states.at(name).type(), value);
  }

  States states;

 private:
  Program program_;
};

// Times 2^16 it is not finite, times 2^15 it is.
constexpr double kLarge = 1e34;

}  // namespace

TEST_CASE("a gradient that is not finite halves the scale, and nothing else") {
  Scaled line;
  CHECK(line.scale() == 65536);
  line.Run(1);
  States before = line.states;
  CHECK(line.runs() == 1);
  line.Run(kLarge);
  CHECK(line.scale() == 32768);
  CHECK(line.runs() == 0);
  for (const auto& [name, value] : before) {
    CAPTURE(name);
    if (name.starts_with("loss_scale")) continue;
    CHECK(SameBytes(line.states.at(name), value));
  }
  line.Run(kLarge);
  CHECK(line.scale() == 32768);
  CHECK(line.runs() == 1);
  CHECK(line.At("w_weight") == doctest::Approx(-kRate * kLarge));
  CHECK(line.At("optimizer/updates") == 2);
}

TEST_CASE("2,000 runs double the scale") {
  Scaled line;
  line.Set("loss_scale_good_runs", 1998);
  line.Run(1);
  CHECK(line.scale() == 65536);
  CHECK(line.runs() == 1999);
  line.Run(1);
  CHECK(line.scale() == 131072);
  CHECK(line.runs() == 0);
}

TEST_CASE("the scale stays between 1 and 2^24") {
  Scaled line;
  line.Set("loss_scale", 0x1p24);
  line.Set("loss_scale_good_runs", 1999);
  line.Run(1);
  CHECK(line.scale() == 0x1p24);
  CHECK(line.runs() == 0);
  line.Set("loss_scale", 1.5);
  line.Set("w_weight", 0.5);
  line.Run(3e38);
  CHECK(line.scale() == 1);
}

TEST_CASE("a loss that is not finite changes nothing, the scale neither") {
  Scaled line;
  line.Run(1);
  const States before = line.states;
  line.Run(std::numeric_limits<double>::quiet_NaN());
  for (const auto& [name, value] : before) {
    CAPTURE(name);
    CHECK(SameBytes(line.states.at(name), value));
  }
}

TEST_CASE("a scale that is a power of two leaves the digits as they are") {
  Scaled scaled, plain(DType::kF32);
  CHECK(plain.states.count("loss_scale") == 0);
  for (const double x : {0.3, -1.7, 1e-30, 123.456, -1e20}) {
    scaled.Run(x);
    plain.Run(x);
    for (const auto& [name, value] : plain.states) {
      CAPTURE(name);
      CHECK(SameBytes(scaled.states.at(name), value));
    }
  }
}

TEST_CASE("a network cannot have the name of the scale") {
  Network net;
  net.graph.training = net.graph.stateful = true;
  Node* taken = net.graph.AddVariable(LossScaleName());
  taken->role = VariableRole::kParameter;
  taken->types[0] = {DType::kF32, Shape{1, 1}};
  net.Output(net.Op("LinearRegressionOutput", "loss",
                    {taken->out(), net.Input("label", {1, 1})}));
  const Target target = *ResolveTarget("x86-64-v3");
  const TrainingOptions options;
  PassContext context{&target};
  context.training = &options;
  context.storage = DType::kF16;
  const auto program = RunPipeline(std::move(net.graph), context, {});
  REQUIRE_FALSE(program.ok());
  CHECK(program.errors()[0].message ==
        "the name 'loss_scale' belongs to training in f16; the network cannot "
        "use it");
}

}  // namespace mxc
