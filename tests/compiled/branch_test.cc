// SPDX-License-Identifier: Apache-2.0
// Compiled branches against networks that compute both sides.
#include <doctest/doctest.h>

#include <string>

#include "tests/cases/engine.h"
#include "tests/passes/network.h"

namespace mxc {
namespace {

// Of a choice the sides, or what it gives.
struct Choice {
  DType condition = DType::kF32;
  double value = 1;
  bool constant = true;  // the weights are known
};

Network NetworkOf(const Choice& choice, bool both) {
  Network net("choice");
  const Value p = net.Input("p", {1}, choice.condition);
  std::byte* bytes = nullptr;
  net.inputs["p"] = Tensor::Allocate(p.type(), &bytes);
  StoreElement(bytes, choice.condition, choice.value);
  const Value x = net.Input("x", {2, 16, 12, 12});
  const Value weight = choice.constant ? net.Constant("weight", {16, 16, 3, 3})
                                       : net.Input("weight", {16, 16, 3, 3});
  const Value shared = net.Op("exp", "shared", {x});
  const Value conv = net.Op("Convolution", "conv", {shared, weight},
                            {{"kernel", "(3, 3)"},
                             {"pad", "(1, 1)"},
                             {"num_filter", "16"},
                             {"no_bias", "True"}});
  const Value relu =
      net.Op("Activation", "relu", {conv}, {{"act_type", "relu"}});
  const Value then = net.Convolution("last", relu, 16, 16, 1);
  const Value norm = net.BatchNorm("norm", x, 16);
  const Value otherwise = net.Convolution("only", norm, 16, 16, 1);
  if (both) {
    net.Output(then);
    net.Output(otherwise);
    net.Output(shared);
    net.Output(x);
  } else {
    const Value y = net.Op("_choose", "y", {p, then, shared, otherwise, x},
                           {{"num_args", "5"}});
    net.Output(y);
    net.Output(y.node->out(1));
  }
  return net;
}

void CheckChoice(const Choice& choice, bool taken) {
  const Network sides = NetworkOf(choice, true);
  const auto all = Run(Compile(sides, {}), sides.inputs);
  const std::vector<Tensor> expected =
      taken ? std::vector{all[0], all[2]} : std::vector{all[1], all[3]};
  const Network net = NetworkOf(choice, false);
  for (const char* engine : {"interpreter", "compiled"}) {
    for (const int threads : {1, 2}) {
      CAPTURE(engine);
      EngineOptions options;
      options.engine = engine;
      options.threads = threads;
      const auto actual = RunGraph(net.Copy(), net.inputs, options);
      REQUIRE_MESSAGE(actual.ok(), Render(actual.errors()));
      CHECK(Distance(*actual, expected) < 1e-4);
    }
  }
}

TEST_CASE("a compiled branch gives the numbers of the side that is chosen") {
  for (const bool constant : {true, false}) {
    CheckChoice({DType::kF32, 1, constant}, true);
    CheckChoice({DType::kF32, 0, constant}, false);
  }
}

TEST_CASE("a condition of any type is true unless it is 0") {
  for (const DType dtype : {DType::kF16, DType::kF64, DType::kBool, DType::kU8,
                            DType::kI8, DType::kI64}) {
    CAPTURE(ToString(TensorType{dtype, Shape{1}}));
    CheckChoice({dtype, 1}, true);
    CheckChoice({dtype, 0}, false);
  }
  CheckChoice({DType::kF32, -0.0}, false);
  CheckChoice({DType::kF64, -1e-300}, true);
}

}  // namespace
}  // namespace mxc
