// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "tests/passes/networks.h"
#include "tests/support/thread_seconds.h"

namespace mxc {
namespace {

TEST_CASE("LeNet and an MLP run through the required passes") {
  PassOptions options;
  options.level = 0;
  for (const Network& net : {Mlp(), Lenet()}) {
    const Program program = Compile(net, options);
    const auto outputs = Run(program, net.inputs);
    REQUIRE(outputs.size() == 1);
    // Rows of a softmax sum to one.
    const Shape& shape = outputs[0].shape();
    for (int64_t row = 0; row < shape[0]; ++row) {
      double sum = 0;
      for (int64_t i = 0; i < shape[1]; ++i) {
        sum += outputs[0].At(row * shape[1] + i);
      }
      CHECK(sum == doctest::Approx(1).epsilon(1e-5));
    }
    CHECK(program.arena_bytes() <= program.lower_bound_bytes * 102 / 100);
  }
}

TEST_CASE("no optional pass changes the numbers") {
  for (const Network& net : AllNetworks()) {
    CAPTURE(net.graph.name);
    PassOptions required;
    required.level = 0;
    const auto expected = Run(Compile(net, required), net.inputs);
    CHECK(Distance(Run(Compile(net, {}), net.inputs), expected) < 1e-5);
    for (const PassDescription& pass : AllPasses()) {
      if (pass.required) continue;
      CAPTURE(pass.name);
      PassOptions options;
      options.disabled.insert(std::string(pass.name));
      CHECK(Distance(Run(Compile(net, options), net.inputs), expected) < 1e-5);
    }
  }
}

TEST_CASE("every pass reports itself, in order") {
  std::vector<std::string> reported;
  PassOptions options;
  options.after_pass = [&](const PassOptions::Report& report) {
    CHECK((report.graph != nullptr) != (report.program != nullptr));
    CHECK(report.seconds >= 0);
    reported.push_back(report.name);
  };
  Compile(Lenet(), options);
  std::vector<std::string> listed;
  for (const PassDescription& pass : AllPasses()) {
    listed.emplace_back(pass.name);
  }
  CHECK(reported == listed);
}

// Thousands of operators, long and wide: no pass may take more than about
// quadratic time.
TEST_CASE("large graphs are planned in seconds") {
  Network net("large");
  const Value x = net.Input("data", {2, 8});
  std::vector<Value> branches;
  for (int b = 0; b < 400; ++b) {
    const std::string name = "b" + std::to_string(b);
    Value y = net.FullyConnected(name, x, 8, 8);
    for (int i = 0; i < 4; ++i) {
      y = net.Op("tanh", name + "_" + std::to_string(i), {y});
    }
    branches.push_back(net.FullyConnected(name + "_out", y, 8, 8));
  }
  Value sum = branches[0];
  for (size_t b = 1; b < branches.size(); ++b) {
    sum = net.Op("elemwise_add", "sum" + std::to_string(b), {sum, branches[b]});
  }
  net.Output(sum);
  const double begin = test::ThreadSeconds();
  const Program program = Compile(net, {});
  CHECK(program.steps.size() <= 3 * branches.size());
  CHECK(test::ThreadSeconds() - begin < 5);
}

TEST_CASE("all operators that cannot be compiled are reported at once") {
  Network net;
  Value x = net.Input("data", {1, 4});
  x = net.graph.AddOpaque("Convolutoin", "a", {x}, 1)->out();
  x = net.graph.AddOpaque("QActivation", "b", {x}, 1)->out();
  net.Output(x);
  const Target target = *ResolveTarget("x86-64-v3");
  const auto program =
      RunPipeline(std::move(net.graph), {&target, nullptr}, {});
  REQUIRE(!program.ok());
  REQUIRE(program.errors().size() == 2);
  CHECK(program.errors()[0].message ==
        "operator 'Convolutoin' of node 'a' is unknown; nearest: Convolution");
}

}  // namespace
}  // namespace mxc
