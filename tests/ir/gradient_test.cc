// SPDX-License-Identifier: Apache-2.0
// Reverse-mode differentiation of graphs.
#include "ir/graph/gradient.h"

#include <doctest/doctest.h>

#include "ir/graph/builder.h"
#include "ir/ops/operators.h"
#include "tests/ir/gradient_run.h"

namespace mxc {
namespace {

struct Net {
  Value Variable(const std::string& name, std::vector<float> values) {
    Node* node = graph.AddVariable(name);
    const auto extent = static_cast<int64_t>(values.size());
    inputs[name] = Floats({extent}, std::move(values));
    node->types[0] = inputs[name].type();
    return node->out();
  }
  Value Op(std::string_view op, std::vector<Value> from,
           std::vector<AttrText> attrs = {}) {
    return GraphBuilder(graph, *from[0].node)
        .Op(*FindOperator(op), from, std::move(attrs));
  }
  // A graph output with a head gradient.
  void Head(Value value, std::vector<float> gradient) {
    graph.outputs.push_back(value);
    const std::string name = "head" + std::to_string(heads.size());
    heads.push_back({value, Variable(name, std::move(gradient))});
  }
  // The gradient of each value as numbers; {} where none arrives.
  std::vector<std::vector<double>> GradientsOf(std::vector<Value> wrt) {
    const auto found = Gradients(graph, heads, wrt);
    REQUIRE(found.ok());
    CHECK_MESSAGE(!Verify(graph), *Verify(graph));
    std::vector<std::vector<double>> numbers;
    for (const Value& value : *found) {
      numbers.emplace_back();
      if (!value) continue;
      const Tensor tensor =
          EvaluateValues(graph, std::span(&value, 1), inputs, false)[0];
      for (int64_t i = 0; i < tensor.shape().elements(); ++i) {
        numbers.back().push_back(tensor.At(i));
      }
    }
    return numbers;
  }

  Graph graph;
  std::vector<HeadGradient> heads;
  std::map<std::string, Tensor> inputs;
};

using Matrix = std::vector<std::vector<double>>;

TEST_CASE("the chain rule along one path") {
  Net net;
  const Value x = net.Variable("x", {1, 2, 3});
  // (2x)²: 8x.
  net.Head(net.Op("square", {net.Op("_mul_scalar", {x}, {{"scalar", "2"}})}),
           {1, 10, 100});
  CHECK(net.GradientsOf({x}) == Matrix{{8, 160, 2400}});
}

TEST_CASE("the contributions of all readers are added") {
  Net net;
  const Value x = net.Variable("x", {2, 3});
  const Value square = net.Op("square", {x});
  const Value product = net.Op("elemwise_mul", {square, x});
  net.Head(net.Op("elemwise_add", {product, x}), {1, 1});
  // x³ + x: 3x² + 1, x² has the gradient x.
  CHECK(net.GradientsOf({x, square}) == Matrix{{13, 28}, {2, 3}});
}

TEST_CASE("one operator that reads a value twice") {
  Net net;
  const Value x = net.Variable("x", {5});
  net.Head(net.Op("elemwise_mul", {x, x}), {1});
  CHECK(net.GradientsOf({x}) == Matrix{{10}});
}

TEST_CASE("several heads, one of which another reads") {
  Net net;
  const Value x = net.Variable("x", {3});
  const Value y = net.Op("square", {x});
  net.Head(y, {1});
  net.Head(net.Op("square", {y}), {10});
  // x² + 10x⁴: 2x + 40x³.
  CHECK(net.GradientsOf({x}) == Matrix{{6 + 40 * 27}});
}

TEST_CASE("no gradient where no head depends on a value") {
  Net net;
  const Value x = net.Variable("x", {3}), other = net.Variable("other", {4});
  net.Head(net.Op("square", {x}), {1});
  CHECK(net.GradientsOf({x, other}) == Matrix{{6}, {}});
}

TEST_CASE("no gradient through an operator whose gradient is zero") {
  Net net;
  const Value x = net.Variable("x", {3});
  net.Head(net.Op("round", {net.Op("square", {x})}), {1});
  CHECK(net.GradientsOf({x}) == Matrix{{}});
}

TEST_CASE("a head without gradient takes no part") {
  Net net;
  const Value x = net.Variable("x", {3});
  net.Head(net.Op("square", {x}), {1});
  const Value unused = net.Op("exp", {x});
  net.graph.outputs.push_back(unused);
  net.heads.push_back({unused, {}});
  CHECK(net.GradientsOf({x}) == Matrix{{6}});
}

TEST_CASE("what only some outputs of an operator give") {
  Net net;
  const Value x = net.Variable("x", {1, 2, 3, 4});
  const std::vector<Value> halves =
      GraphBuilder(net.graph, *x.node)
          .Ops(OperatorOf<op::SliceChannel>(), {x},
               {{"num_outputs", "2"}, {"axis", "0"}});
  net.Head(net.Op("square", {halves[1]}), {1, 1});
  CHECK(net.GradientsOf({x}) == Matrix{{0, 0, 6, 8}});
}

TEST_CASE("a loss head needs no head gradient") {
  Net net;
  const Value x = net.Variable("x", {3, 4}), label = net.Variable("y", {1, 1});
  const Value loss =
      net.Op("LinearRegressionOutput", {net.Op("square", {x}), label});
  net.graph.outputs.push_back(loss);
  net.heads.push_back({loss, {}});
  CHECK(net.GradientsOf({x}) == Matrix{{(9 - 1) * 6, (16 - 1) * 8}});
}

TEST_CASE("operators without a gradient are named, each at its place") {
  Net net;
  const Value x = net.Variable("x", {3, 1});
  Value y = x;
  for (const char* name : {"first", "second"}) {
    Node* node = net.graph.AddOpaque("Foreign", name, {y}, 1);
    node->types[0] = x.type();
    node->loc.line = std::string_view(name) == "first" ? 7 : 9;
    y = node->out();
  }
  net.Head(y, {1, 1});
  const auto found = Gradients(net.graph, net.heads, std::vector<Value>{x});
  REQUIRE(!found.ok());
  REQUIRE(found.errors().size() == 1);
  CHECK(found.errors()[0].message == "Foreign 'second' has no gradient");
  CHECK(found.errors()[0].loc.line == 9);
}

TEST_CASE("nothing is asked of operators that no wanted value feeds") {
  Net net;
  const Value x = net.Variable("x", {3}), fixed = net.Variable("fixed", {2});
  Node* foreign = net.graph.AddOpaque("Foreign", "foreign", {fixed}, 1);
  foreign->types[0] = fixed.type();
  net.Head(net.Op("elemwise_mul", {x, foreign->out()}), {1});
  CHECK(Gradients(net.graph, net.heads, std::vector<Value>{x}).ok());
}

TEST_CASE("updates print, parse and print the same") {
  Net net;
  const Value w = net.Variable("w", {3});
  w.node->role = VariableRole::kParameter;
  net.Head(net.Op("square", {w}), {1});
  const auto gradient = Gradients(net.graph, net.heads, std::vector<Value>{w});
  REQUIRE(gradient.ok());
  const Value next = net.Op("elemwise_sub", {w, (*gradient)[0]});
  GraphBuilder(net.graph, *w.node).Update(w, next);
  const std::string text = Print(net.graph);
  CAPTURE(text);
  CHECK(text.find("update") != text.npos);
  const auto parsed = ParseGraph(
      std::make_shared<SourceFile>(SourceFile{"printed.graph", text}));
  REQUIRE_MESSAGE(parsed.ok(), parsed.errors()[0].message);
  REQUIRE(parsed->updates.size() == 1);
  CHECK(parsed->updates[0].variable->name == "w");
  CHECK(Print(*parsed) == text);
}

}  // namespace
}  // namespace mxc
