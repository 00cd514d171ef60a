// SPDX-License-Identifier: Apache-2.0
// Loops whose turns draw random numbers.
#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "ir/graph/gradient.h"
#include "passes/passes.h"
#include "tests/passes/network.h"

namespace mxc {
namespace {

constexpr int64_t kTurns = 4, kWide = 400;

// A scan over the rows of `x`, which puts out what `body` makes of each.
Value ScanRows(Network& net, Value x, const Network& body) {
  return net.Op("_scan", "turns", {x},
                {{"num_args", "1"},
                 {"turns", std::to_string(kTurns)},
                 {"slices", "1"},
                 {"stacks", "1"},
                 {"body", Print(body.graph)}});
}

// Dropout of a row, in so many loops around each other.
Network Body(int loops) {
  Network body("turn");
  Shape shape{kWide};
  if (loops > 1) shape = Shape{kTurns, kWide};
  const Value x = body.Input("arg0", shape);
  x.node->declared = true;
  body.Output(loops > 1
                  ? ScanRows(body, x, Body(loops - 1))
                  : body.Op("Dropout", "drop", {x}, {{"mode", "always"}}));
  MXC_CHECK(InferTypes(body.graph, true).ok());
  return body;
}

// Outputs: the rows after Dropout, and the gradient of x where `head` is that
// of the rows.
Network Drawing(int loops) {
  Network net;
  const Shape shape =
      loops > 1 ? Shape{kTurns, kTurns, kWide} : Shape{kTurns, kWide};
  const Value x = net.Input("x", shape);
  net.Output(ScanRows(net, x, Body(loops)));
  MXC_CHECK(InferTypes(net.graph, true).ok());
  PassContext context;
  const auto exposed = ExposeDraws(net.graph, context);
  MXC_CHECK(exposed.ok() && *exposed);
  const HeadGradient given = {net.graph.outputs[0], net.Input("head", shape)};
  const auto gradients = Gradients(net.graph, {&given, 1}, {&x, 1});
  MXC_CHECK(gradients.ok());
  net.Output((*gradients)[0]);
  return net;
}

Tensor State(double seed, double counter) {
  std::byte* bytes = nullptr;
  Tensor state = Tensor::Allocate({DType::kI64, Shape{2}}, &bytes);
  StoreElement(bytes, DType::kI64, seed);
  StoreElement(bytes + sizeof(int64_t), DType::kI64, counter);
  return state;
}

// Which elements of each row Dropout kept. Those and the gradient's agree.
std::vector<std::vector<bool>> MasksOf(const Network& net,
                                       const std::vector<Tensor>& outputs) {
  const Tensor &x = net.inputs.at("x"), &head = net.inputs.at("head");
  const int64_t rows = x.shape().elements() / kWide;
  std::vector<std::vector<bool>> masks(static_cast<size_t>(rows));
  for (int64_t i = 0; i < rows * kWide; ++i) {
    const bool kept = outputs[0].At(i) != 0;
    masks[static_cast<size_t>(i / kWide)].push_back(kept);
    REQUIRE(outputs[0].At(i) == (kept ? 2 * x.At(i) : 0));
    REQUIRE(outputs[1].At(i) == (kept ? 2 * head.At(i) : 0));
  }
  return masks;
}

}  // namespace

TEST_CASE("each turn draws, and its gradient draws the same") {
  for (const int loops : {1, 2}) {
    CAPTURE(loops);
    Network net = Drawing(loops);
    for (const int level : {0, 2}) {
      PassOptions options;
      options.level = level;
      const Program program = Compile(net, options);
      std::set<std::vector<bool>> all;
      size_t rows = 0;
      for (const auto& [seed, counter] : {std::pair(1, 0), {1, 1}, {2, 0}}) {
        net.inputs["random"] = State(seed, counter);
        for (const auto& mask : MasksOf(net, Run(program, net.inputs))) {
          const auto kept = std::ranges::count(mask, true);
          CHECK(std::abs(static_cast<double>(kept) - kWide / 2) <
                5 * std::sqrt(kWide) / 2);
          all.insert(mask);
          ++rows;
        }
      }
      CHECK(all.size() == rows);
    }
  }
}

TEST_CASE("equal loops of a network draw numbers of their own") {
  Network net;
  const Value x = net.Input("x", {kTurns, kWide});
  const Value first = ScanRows(net, x, Body(1));
  net.Output(first);
  net.Output(net.Op("_scan", "others", {x},
                    first.node->op->print(first.node->attrs.get())));
  MXC_CHECK(InferTypes(net.graph, true).ok());
  PassContext context;
  REQUIRE(ExposeDraws(net.graph, context).ok());
  net.inputs["random"] = State(1, 0);
  const auto outputs = Run(Compile(net, {}), net.inputs);
  CHECK(!SameBytes(outputs[0], outputs[1]));
}

}  // namespace mxc
