// SPDX-License-Identifier: Apache-2.0
// Two convolutions and their gradients in one network: the fast kernels against
// the meaning of the operators, and what becomes of the layouts between them.
#include <doctest/doctest.h>

#include "codegen/codegen.h"
#include "ir/program/steps/contraction.h"
#include "tests/cases/engine.h"
#include "tests/passes/random_convolution.h"
#include "tests/support/levels.h"

namespace mxc {
namespace {

struct Layer {
  int64_t filters, kernel, stride, groups;
};

std::vector<AttrText> Attributes(const Layer& layer) {
  return {{"kernel", fmt::format("({0}, {0})", layer.kernel)},
          {"stride", fmt::format("({0}, {0})", layer.stride)},
          {"pad", fmt::format("({0}, {0})", layer.kernel / 2)},
          {"num_filter", std::to_string(layer.filters)},
          {"num_group", std::to_string(layer.groups)}};
}

std::vector<AttrText> With(std::vector<AttrText> attrs, AttrText more) {
  attrs.push_back(std::move(more));
  return attrs;
}

// y = relu(conv1(relu(conv0(x)))); the gradients of Σ y² / 2 with respect to x
// and both weights, which a step of gradient descent changes.
Network Training(const Layer& first, const Layer& second, int64_t batch,
                 int64_t channels) {
  Network net("training");
  const Layer layers[] = {first, second};
  Value x = net.Input("x", {batch, channels, 13, 12});
  std::vector<Value> data, weights, outputs;
  for (const Layer& layer : layers) {
    const std::string n = std::to_string(data.size());
    const int64_t k = layer.kernel;
    data.push_back(x);
    weights.push_back(
        net.Input("w" + n, {layer.filters, channels / layer.groups, k, k}));
    x = net.Op("Convolution", "conv" + n, {x, weights.back()},
               With(Attributes(layer), {"no_bias", "True"}));
    x = net.Op("Activation", "relu" + n, {x}, {{"act_type", "relu"}});
    outputs.push_back(x);
    channels = layer.filters;
  }
  net.Output(x);
  const Status typed = InferTypes(net.graph, true);
  REQUIRE(typed.ok());
  Value gradient = x;
  for (size_t i = 2; i-- > 0;) {
    const std::string n = std::to_string(i);
    const Value active = net.Op("_greater_scalar", "active" + n, {outputs[i]},
                                {{"scalar", "0"}});
    gradient = net.Op("elemwise_mul", "dy" + n, {gradient, active});
    const Value dw = net.Op("_convolution_backward_weight", "dw" + n,
                            {data[i], gradient}, Attributes(layers[i]));
    const Value scaled =
        net.Op("_mul_scalar", "step" + n, {dw}, {{"scalar", "-0.125"}});
    net.Output(net.Op("elemwise_add", "next" + n, {weights[i], scaled}));
    const Shape& shape = data[i].shape();
    gradient =
        net.Op("_convolution_backward_data", "dx" + n, {gradient, weights[i]},
               With(Attributes(layers[i]),
                    {"extent", fmt::format("({}, {})", shape[2], shape[3])}));
  }
  net.Output(gradient);
  return net;
}

std::vector<Network> Networks() {
  std::vector<Network> nets;
  nets.push_back(Training({24, 3, 1, 1}, {40, 3, 1, 1}, 4, 20));
  nets.push_back(Training({64, 3, 1, 1}, {50, 3, 1, 1}, 8, 48));
  nets.push_back(Training({16, 5, 1, 1}, {33, 3, 2, 1}, 2, 3));
  nets.push_back(Training({32, 1, 2, 1}, {32, 3, 1, 32}, 3, 32));
  nets.push_back(Training({32, 3, 2, 2}, {16, 1, 1, 1}, 4, 64));
  nets.push_back(Training({32, 3, 1, 8}, {32, 3, 2, 4}, 3, 32));
  return nets;
}

TEST_CASE("convolutions and their gradients, compiled") {
  for (const Network& net : Networks()) {
    PassOptions required;
    required.level = 0;
    const auto expected = Run(Compile(net, required), net.inputs);
    for (const Target& target : test::RunnableTargets()) {
      EngineOptions options;
      options.engine = "compiled";
      options.target = target.name;
      std::vector<Tensor> one_thread;
      for (const int threads : {1, 2}) {
        options.threads = threads;
        const auto actual = RunGraph(net.Copy(), net.inputs, options);
        REQUIRE_MESSAGE(actual.ok(), Render(actual.errors()));
        CHECK(Distance(*actual, expected) < 2e-5);
        if (threads == 1) one_thread = *actual;
        CHECK(Distance(*actual, one_thread) == 0);
      }
    }
  }
}

TEST_CASE("gradients of convolutions of any geometry, compiled") {
  const std::vector<Target> targets = test::RunnableTargets();
  for (uint32_t seed = 1000; seed < 1045; ++seed) {
    const RandomConvolution c(seed);
    CAPTURE(c.text());
    EngineOptions options;
    options.engine = "compiled";
    options.target = targets[seed % targets.size()].name;
    for (const Network& net : {c.DataGradient(), c.WeightGradient()}) {
      PassOptions required;
      required.level = 0;
      const auto expected = Run(Compile(net, required), net.inputs);
      const auto actual = RunGraph(net.Copy(), net.inputs, options);
      REQUIRE_MESSAGE(actual.ok(), Render(actual.errors()));
      CHECK(Distance(*actual, expected) < 2e-5);
    }
  }
}

// Copies into another layout concern what the caller owns, and weights.
TEST_CASE("activations keep one layout between forward and backward") {
  const Network net = Training({32, 3, 1, 1}, {32, 3, 2, 1}, 4, 32);
  const auto catalog = MakeKernelCatalog(*ResolveTarget("x86-64-v3"));
  const Program program = Compile(net, {}, catalog.get());
  CAPTURE(Print(program));
  for (const Step& step : program.steps) {
    if (const ContractionStep* body = step.contraction()) {
      CHECK_FALSE(body->choice.algorithm.empty());
    }
    if (!step.name.ends_with("/layout")) continue;
    const Buffer& from = program.buffers[step.inputs[0]];
    const Buffer& to = program.buffers[step.outputs[0]];
    CHECK((from.kind == BufferKind::kInput || to.kind == BufferKind::kOutput));
  }
}

}  // namespace
}  // namespace mxc
