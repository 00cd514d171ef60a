// SPDX-License-Identifier: Apache-2.0
// Training within a budget of memory gives the same numbers, bit for bit.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "ir/graph/gradient.h"
#include "ir/program/memory.h"
#include "tests/passes/network.h"

namespace mxc {
namespace {

Value Parameter(Network& net, const std::string& name, Shape shape) {
  net.Input(name, shape);
  for (const auto& node : net.graph.nodes()) {
    if (node->name != name) continue;
    node->role = VariableRole::kParameter;
    return node->out();
  }
  MXC_CHECK(false, "{}", name);
}

// Convolutions with tanh, every other one with a shortcut.
Network Layers(int layers = 10) {
  Network net("layers");
  net.graph.training = net.graph.stateful = true;
  Value x = net.Input("data", {2, 4, 16, 16});
  for (int i = 0; i < layers; ++i) {
    const std::string name = "conv" + std::to_string(i);
    const Value weight = Parameter(net, name + "_weight", {4, 4, 3, 3});
    Value y = net.Op("Convolution", name, {x, weight},
                     {{"kernel", "(3, 3)"},
                      {"num_filter", "4"},
                      {"pad", "(1, 1)"},
                      {"no_bias", "True"}});
    y = net.Op("Activation", name + "_tanh", {y}, {{"act_type", "tanh"}});
    x = i % 2 == 0 ? y : net.Op("elemwise_add", name + "_sum", {x, y});
  }
  const Value flat = net.Op("Flatten", "flat", {x});
  const Value weight = Parameter(net, "fc_weight", {3, 4 * 16 * 16});
  const Value fc = net.Op("FullyConnected", "fc", {flat, weight},
                          {{"num_hidden", "3"}, {"no_bias", "True"}});
  const Value label = net.Input("softmax_label", {2});
  net.Output(net.Op("SoftmaxOutput", "softmax", {fc, label}));
  return net;
}

Result<Program> Train(Network net, std::optional<int64_t> budget) {
  static const Target target = *ResolveTarget("x86-64-v3");
  TrainingOptions options;
  options.memory_budget = budget;
  return RunPipeline(std::move(net.graph), {&target, nullptr, &options}, {});
}

Result<Program> Train(std::optional<int64_t> budget) {
  return Train(Layers(), budget);
}

struct Ran {
  std::vector<Tensor> outputs;
  std::map<std::string, Tensor> states;
};

Ran RunOnce(const Program& program) {
  std::map<std::string, Tensor> inputs = Layers().inputs;
  for (const Buffer& buffer : program.buffers) {
    if (inputs.contains(buffer.name)) continue;
    if (buffer.kind == BufferKind::kInput) {
      inputs[buffer.name] = Tensor::Filled(buffer.type, 0.1);
    }
  }
  Ran ran;
  InterpreterOptions options;
  options.next_states = &ran.states;
  auto outputs = Interpret(program, inputs, options);
  MXC_CHECK(outputs.ok(), "{}", Render(outputs.errors()));
  ran.outputs = std::move(*outputs);
  return ran;
}

TEST_CASE("a memory budget is met, and changes no number") {
  const auto free = Train(std::nullopt);
  REQUIRE_MESSAGE(free.ok(), Render(free.errors()));
  const Ran expected = RunOnce(*free);
  const int64_t most = MemoryOf(*free).peak();
  for (const int percent : {95, 80, 70, 60}) {
    CAPTURE(percent);
    const int64_t budget = most * percent / 100;
    const auto program = Train(budget);
    REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
    CHECK(MemoryOf(*program).peak() <= budget);
    CHECK(program->steps.size() > free->steps.size());
    const Ran ran = RunOnce(*program);
    for (size_t i = 0; i < expected.outputs.size(); ++i) {
      CHECK(SameBytes(ran.outputs[i], expected.outputs[i]));
    }
    CHECK(ran.states.size() == expected.states.size());
    for (const auto& [name, value] : expected.states) {
      CAPTURE(name);
      CHECK(SameBytes(ran.states.at(name), value));
    }
  }
}

TEST_CASE("a budget that cannot be met is refused with the least that can") {
  const auto refused = Train(1000);
  REQUIRE(!refused.ok());
  const std::string message = refused.errors()[0].message;
  CAPTURE(message);
  const size_t at = message.rfind("trains is ");
  REQUIRE(at != std::string::npos);
  const int64_t least = std::stoll(message.substr(at + 10));
  const auto program = Train(least);
  REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
  CHECK(MemoryOf(*program).peak() <= least);
  CHECK(!Train(least * 9 / 10).ok());
}

int64_t CountAgain(const Program& program) {
  return std::ranges::count_if(program.steps, [](const Step& step) {
    return step.name.ends_with("/again");
  });
}

TEST_CASE("deep networks keep a few layers, and compute each other one once") {
  const auto free = Train(Layers(48), std::nullopt);
  REQUIRE_MESSAGE(free.ok(), Render(free.errors()));
  const int64_t budget = MemoryOf(*free).peak() / 3;
  const auto program = Train(Layers(48), budget);
  REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
  CHECK(MemoryOf(*program).peak() <= budget);
  const int64_t forward =
      std::ranges::count_if(free->steps, [](const Step& step) {
        return !step.backward && !step.name.ends_with("/again");
      });
  CAPTURE(free->steps.size());
  CAPTURE(program->steps.size());
  CHECK(CountAgain(*program) <= forward);
}

// How many steps of a training step are computed again, by what of the network's
// outputs it keeps.
int ComputedAgain(bool keeps_output) {
  static const Target target = *ResolveTarget("x86-64-v3");
  Network net("squares");
  net.graph.training = net.graph.stateful = true;
  Value x = net.Input("data", {2, 4, 32, 32});
  std::vector<Value> weights;
  for (int i = 0; i < 6; ++i) {
    const std::string name = "conv" + std::to_string(i);
    weights.push_back(Parameter(net, name + "_weight", {4, 4, 3, 3}));
    x = net.Op("Convolution", name, {x, weights.back()},
               {{"kernel", "(3, 3)"},
                {"num_filter", "4"},
                {"pad", "(1, 1)"},
                {"no_bias", "True"}});
    x = net.Op("square", name + "_square", {x});
  }
  const Value ones = net.Op("ones_like", "ones", {x});
  net.Output(x);
  net.Output(ones);
  MXC_CHECK(InferTypes(net.graph, true).ok());
  const HeadGradient head = {x, ones};
  const auto gradients = Gradients(net.graph, {&head, 1}, weights);
  MXC_CHECK(gradients.ok());
  for (size_t i = 0; i < weights.size(); ++i) {
    const std::string name = "next" + std::to_string(i);
    net.graph.updates.push_back(
        {weights[i].node,
         net.Op("elemwise_sub", name, {weights[i], (*gradients)[i]})});
  }
  net.graph.outputs.resize(keeps_output ? 1 : 0);
  net.graph.output_names.resize(net.graph.outputs.size());
  MXC_CHECK(InferTypes(net.graph, true).ok());
  const auto program =
      RunPipeline(std::move(net.graph), {&target, nullptr, nullptr}, {});
  MXC_CHECK(program.ok(), "{}", Render(program.errors()));
  return static_cast<int>(CountAgain(*program));
}

TEST_CASE("what is computed again does not depend on who keeps the output") {
  const int kept = ComputedAgain(true);
  CHECK(kept > 0);
  CHECK(ComputedAgain(false) == kept);
}

}  // namespace
}  // namespace mxc
