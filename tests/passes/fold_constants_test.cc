// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include "passes/passes.h"
#include "tests/passes/network.h"

namespace mxc {
namespace {

bool Fold(Network& net) {
  PassContext context;
  auto changed = FoldConstants(net.graph, context);
  REQUIRE(changed.ok());
  REQUIRE(!Verify(net.graph));
  return *changed;
}

Value Slice(Network& net, const std::string& name, Value from, int64_t begin,
            int64_t end) {
  return net.Op("slice_axis", name, {from},
                {{"axis", "0"},
                 {"begin", std::to_string(begin)},
                 {"end", std::to_string(end)}});
}

int64_t ConstantBytes(const Graph& graph) {
  int64_t bytes = 0;
  for (const Node* node : graph.TopologicalOrder()) {
    if (node->kind == Node::Kind::kConstant) bytes += node->types[0].bytes();
  }
  return bytes;
}

// A recurrent layer's weights: none is left to be cut out in a run, and the
// file holds each once.
TEST_CASE("ranges of a constant share its bytes") {
  Network net;
  const Value vector = net.Constant("parameters", {600000});
  const std::byte* bytes = vector.node->constant.bytes();
  for (int k = 0; k < 3; ++k) {
    const Value piece = Slice(net, "slice" + std::to_string(k), vector,
                              k * 200000, (k + 1) * 200000);
    net.Output(net.Op("Reshape", "weight" + std::to_string(k), {piece},
                      {{"shape", "(400, 500)"}}));
  }
  REQUIRE(InferTypes(net.graph, true).ok());
  CHECK(Fold(net));
  for (size_t k = 0; k < 3; ++k) {
    const Node& weight = *net.graph.outputs[k].node;
    REQUIRE(weight.kind == Node::Kind::kConstant);
    CHECK(weight.constant.bytes() == bytes + k * 200000 * sizeof(float));
    CHECK(weight.types[0].shape == Shape{400, 500});
  }
  CHECK(ConstantBytes(net.graph) == 600000 * 4);
}

TEST_CASE("pieces of a constant do not become more than it is") {
  Network net;
  const Value vector = net.Constant("table", {100000});
  for (int k = 0; k < 8; ++k) {
    net.Output(Slice(net, "window" + std::to_string(k), vector, k, k + 90000));
  }
  REQUIRE(InferTypes(net.graph, true).ok());
  const int64_t before = ConstantBytes(net.graph);
  Fold(net);
  CHECK(ConstantBytes(net.graph) <= 2 * before);
  const auto folded =
      std::ranges::count_if(net.graph.outputs, [](const Value& output) {
        return output.node->kind == Node::Kind::kConstant;
      });
  CHECK(folded == 1);
}

}  // namespace
}  // namespace mxc
