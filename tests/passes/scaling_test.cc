// SPDX-License-Identifier: Apache-2.0
// The pipeline's time grows with the network, not with its square: four times
// the nodes take about four times the time, where the square would take
// sixteen.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "tests/passes/blocked_catalog.h"
#include "tests/passes/network.h"
#include "tests/support/thread_seconds.h"

namespace mxc {
namespace {

constexpr int kNodes = 500;
constexpr int kTimes = 4;
constexpr double kMostGrowth = 8;  // between kTimes and its square
constexpr int kAttempts = 4;

using Make = std::function<void(Network&, int nodes)>;

double SecondsFor(const Make& make, int nodes) {
  Network net;
  make(net, nodes);
  const Target target = *ResolveTarget("x86-64-v3");
  const BlockedCatalog catalog;
  TrainingOptions training;
  training.optimizer_attrs = {{"momentum", "0.9"}};
  PassContext context{&target, &catalog};
  if (net.graph.training) context.training = &training;
  PassOptions options;
  options.check_changed = false;
  const double begin = test::ThreadSeconds();
  const auto program = RunPipeline(std::move(net.graph), context, options);
  const double seconds = test::ThreadSeconds() - begin;
  REQUIRE(program.ok());
  return seconds;
}

// The least of several attempts: what disturbs one only adds to it.
void CheckGrowth(const Make& make) {
  double few = 1e9, many = 1e9;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    few = std::min(few, SecondsFor(make, kNodes));
    many = std::min(many, SecondsFor(make, kTimes * kNodes));
    if (many < kMostGrowth * few) break;
  }
  CAPTURE(few);
  CAPTURE(many);
  CHECK(many < kMostGrowth * few);
}

std::string Numbered(const char* name, int number) {
  return name + std::to_string(number);
}

Value Applied(Network& net, const char* op, int number, Value x) {
  return net.Op(op, Numbered(op, number), {x});
}

void MakeChain(Network& net, int nodes) {
  Value x = net.Input("x", {1, 16});
  for (int i = 0; i < nodes; ++i) x = Applied(net, "tanh", i, x);
  net.Output(x);
}

void MakeLadder(Network& net, int nodes) {
  Value x = net.Input("x", {1, 16});
  for (int i = 0; i < nodes / 2; ++i) {
    x = net.Op("elemwise_add", Numbered("sum", i),
               {x, Applied(net, "tanh", i, x)});
  }
  net.Output(x);
}

// Weights that all steps in time share, parts of the input and of the gates.
void MakeRecurrent(Network& net, int nodes) {
  constexpr int kHidden = 4, kNodesOfStep = 7;
  const int steps = nodes / kNodesOfStep;
  const Value x = net.Input("x", {1, steps, kHidden});
  const Value parts =
      net.Op("SliceChannel", "parts", {x},
             {{"num_outputs", std::to_string(steps)}, {"squeeze_axis", "1"}});
  const Value weight = net.Constant("weight", {2 * kHidden, kHidden});
  const Value bias = net.Constant("bias", {2 * kHidden});
  Value state = net.Input("state", {1, kHidden});
  for (int t = 0; t < steps; ++t) {
    const Value sum =
        net.Op("elemwise_add", Numbered("sum", t), {parts.node->out(t), state});
    const Value gates =
        net.Op("FullyConnected", Numbered("gates", t), {sum, weight, bias},
               {{"num_hidden", std::to_string(2 * kHidden)}});
    const Value halves = net.Op("SliceChannel", Numbered("halves", t), {gates},
                                {{"num_outputs", "2"}});
    const Value open = Applied(net, "sigmoid", t, halves);
    const Value next = Applied(net, "tanh", t, halves.node->out(1));
    state = net.Op(
        "elemwise_add", Numbered("state", t),
        {state, net.Op("elemwise_mul", Numbered("new", t), {open, next})});
  }
  net.Output(state);
}

Value ResidualBlocks(Network& net, int nodes) {
  constexpr int kChannels = 4, kNodesOfBlock = 4;
  Value x = net.Input("x", {1, kChannels, 4, 4});
  for (int i = 0; i < nodes / kNodesOfBlock; ++i) {
    Value y = net.BatchNorm(Numbered("norm", i), x, kChannels);
    y = Applied(net, "relu", i, y);
    y = net.Convolution(Numbered("conv", i), y, kChannels, kChannels, 3,
                        {{"pad", "(1, 1)"}});
    x = net.Op("elemwise_add", Numbered("sum", i), {x, y});
  }
  return x;
}

// All arrays are parameters and states.
void LetItTrain(Network& net) {
  net.graph.training = true;
  for (const auto& node : net.graph.nodes()) {
    if (node->kind != Node::Kind::kConstant) continue;
    node->kind = Node::Kind::kVariable;
    const bool moving = node->name.find("moving") != std::string::npos;
    node->role = moving ? VariableRole::kState : VariableRole::kParameter;
  }
}

}  // namespace

TEST_CASE("time grows with the length of a chain") { CheckGrowth(MakeChain); }

TEST_CASE("time grows with the length of a ladder") { CheckGrowth(MakeLadder); }

TEST_CASE("time grows with the steps of a recurrent network") {
  CheckGrowth(MakeRecurrent);
}

TEST_CASE("time grows with the blocks of a residual network") {
  CheckGrowth(
      [](Network& net, int nodes) { net.Output(ResidualBlocks(net, nodes)); });
}

TEST_CASE("time grows with the blocks of a residual network that trains") {
  CheckGrowth([](Network& net, int nodes) {
    const Value scores = net.FullyConnected(
        "fc", net.Op("Flatten", "flat", {ResidualBlocks(net, nodes / 4)}), 64,
        4);
    net.Output(net.Op("SoftmaxOutput", "softmax",
                      {scores, net.Input("softmax_label", {1})}));
    LetItTrain(net);
  });
}

TEST_CASE("time grows with the readers of a value") {
  CheckGrowth([](Network& net, int nodes) {
    const Value x = Applied(net, "tanh", 0, net.Input("x", {1, 16}));
    Value sum = x;
    for (int i = 0; i < nodes / 2; ++i) {
      const Value scaled = net.Op("_mul_scalar", Numbered("scaled", i), {x},
                                  {{"scalar", std::to_string(i + 2)}});
      sum = net.Op("dot", Numbered("sum", i), {sum, scaled},
                   {{"transpose_b", "True"}});
      sum = net.Op("broadcast_add", Numbered("next", i), {sum, x});
    }
    net.Output(sum);
  });
}

TEST_CASE("time grows with the outputs") {
  CheckGrowth([](Network& net, int nodes) {
    const Value x = net.Input("x", {1, 16});
    const Value y = Applied(net, "tanh", 0, x);
    for (int i = 0; i < nodes; ++i) {
      net.Output(i % 2 == 0 ? y : Applied(net, "exp", i, y));
      net.graph.output_names.back() = "same";
    }
  });
}

TEST_CASE("time grows with what is concatenated in turn") {
  CheckGrowth([](Network& net, int nodes) {
    Value x = net.Input("x", {1, 4, 4, 4});
    for (int i = 0; i < nodes / 3; ++i) {
      const Value left =
          net.Convolution(Numbered("left", i), x, 4, 2, 3,
                          {{"pad", "(1, 1)"}, {"no_bias", "True"}});
      const Value right = net.Convolution(Numbered("right", i), x, 4, 2, 1,
                                          {{"no_bias", "True"}});
      x = net.Op("Concat", Numbered("whole", i), {left, right},
                 {{"dim", "1"}, {"num_args", "2"}});
    }
    net.Output(x);
  });
}

}  // namespace mxc
