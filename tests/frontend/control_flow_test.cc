// SPDX-License-Identifier: Apache-2.0
// Control flow becomes scans, or copies of its nested graphs. Its values and
// gradients are compared by mxc-cases ops.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "frontend/frontend.h"

namespace mxc {
namespace {

constexpr const char* kTwice = R"("_mul_scalar", "attrs": {"scalar": "2"})";
constexpr const char* kDropout = R"("Dropout", "attrs": {"p": "0.5"})";

// y = foreach(x, s): yields x + s, goes on with an operator of s.
std::string Foreach(const std::string& locs, const char* next = kTwice) {
  return fmt::format(
      R"({{"nodes": [
  {{"op": "null", "name": "x", "inputs": []}},
  {{"op": "null", "name": "s", "inputs": []}},
  {{"op": "_foreach", "name": "loop", "attrs": {{"num_args": "3",
    "num_outputs": "2", "num_out_data": "1", {}}},
   "inputs": [[0, 0, 0], [1, 0, 0]], "subgraphs": [{{"nodes": [
     {{"op": "null", "name": "a", "inputs": []}},
     {{"op": "null", "name": "b", "inputs": []}},
     {{"op": "elemwise_add", "name": "sum", "inputs": [[0, 0, 0], [1, 0, 0]]}},
     {{"op": {}, "name": "next", "inputs": [[1, 0, 0]]}}],
     "arg_nodes": [0, 1], "heads": [[2, 0, 0], [3, 0, 0]]}}]}}],
 "arg_nodes": [0, 1], "heads": [[2, 0, 0], [2, 1, 0]],
 "attrs": {{"mxnet_version": ["int", 10901]}}}})",
      locs, next);
}

const std::string kLocs =
    R"("in_data_locs": "[0]", "in_state_locs": "[1]", "remain_locs": "[]")";

Result<Model> LoadLoop(const std::string& text,
                       std::map<std::string, Extents> shapes) {
  LoadOptions options;
  options.require_supported = true;
  options.input_shapes = std::move(shapes);
  return LoadText(
      std::make_shared<SourceFile>(SourceFile{"loop-symbol.json", text}),
      options);
}

int Count(const Graph& graph, std::string_view op) {
  int count = 0;
  for (const Node* node : graph.TopologicalOrder()) count += node->Is(op);
  return count;
}

TEST_CASE("a loop over data is a scan when its length is known") {
  auto model = LoadLoop(Foreach(kLocs), {{"x", {3, 2}}, {"s", {2}}});
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  Graph& graph = model->graph;
  CHECK(Count(graph, "_scan") == 1);
  CHECK(Count(graph, "elemwise_add") == 0);
  REQUIRE(InferTypes(graph, true).ok());
  CHECK(!Verify(graph));
  CHECK(graph.outputs[0].shape() == Shape{3, 2});
  CHECK(graph.outputs[1].shape() == Shape{2});
}

TEST_CASE("parts of data along one axis have one element and one axis") {
  for (const char* next : {kTwice, R"("MakeLoss")"}) {  // a scan, and unrolled
    CAPTURE(next);
    auto model = LoadLoop(Foreach(kLocs, next), {{"x", {3}}, {"s", {1}}});
    REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
    REQUIRE(InferTypes(model->graph, true).ok());
    CHECK(model->graph.outputs[0].shape() == Shape{3, 1});
    CHECK(model->graph.outputs[1].shape() == Shape{1});
  }
}

TEST_CASE("a loop that draws random numbers is a scan") {
  auto model = LoadLoop(Foreach(kLocs, kDropout), {{"x", {3, 2}}, {"s", {2}}});
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  CHECK(Count(model->graph, "_scan") == 1);
  CHECK(Count(model->graph, "Dropout") == 0);
}

// A graph of one operator.
std::string Graphlet(const char* op) {
  return fmt::format(
      R"({{"nodes": [{{"op": "null", "name": "v", "inputs": []}},
     {{"op": "{}", "name": "r", "inputs": [[0, 0, 0]]}}],
    "arg_nodes": [0], "heads": [[1, 0, 0]]}})",
      op);
}

TEST_CASE("a turn may have loops and choices in it") {
  const std::string rows =
      R"("_foreach", "attrs": {"num_args": "2", "num_outputs": "1",
    "num_out_data": "1", "in_data_locs": "[0]", "in_state_locs": "[]",
    "remain_locs": "[]"}, "subgraphs": [)" +
      Graphlet("tanh") + "]";
  const std::string choice =
      R"("_cond", "attrs": {"num_args": "4", "num_outputs": "1",
    "cond_input_locs": "[0]", "then_input_locs": "[0]",
    "else_input_locs": "[0]"}, "subgraphs": [)" +
      Graphlet("sum") + "," + Graphlet("tanh") + "," + Graphlet("exp") + "]";
  for (const std::string& next : {rows, choice}) {
    CAPTURE(next);
    auto model = LoadLoop(Foreach(kLocs, next.c_str()),
                          {{"x", {1000, 2, 3}}, {"s", {2, 3}}});
    REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
    CHECK(Count(model->graph, "_scan") == 1);
    CHECK(model->graph.TopologicalOrder().size() == 3);
    REQUIRE(InferTypes(model->graph, true).ok());
    CHECK(model->graph.outputs[0].shape() == Shape{1000, 2, 3});
    CHECK(model->graph.outputs[1].shape() == Shape{2, 3});
  }
}

TEST_CASE("a loop with a loss in it is unrolled") {
  auto model =
      LoadLoop(Foreach(kLocs, R"("MakeLoss")"), {{"x", {3, 2}}, {"s", {2}}});
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  CHECK(Count(model->graph, "_scan") == 0);
  CHECK(Count(model->graph, "elemwise_add") == 3);
  CHECK(Count(model->graph, "MakeLoss") == 3);
}

TEST_CASE("a scan takes as many turns as its tensors fit into memory") {
  const auto load = [](Extents x, const char* next) {
    const Extents s = {x[1]};
    return LoadLoop(Foreach(kLocs, next), {{"x", x}, {"s", s}});
  };
  auto many = load({1000000, 2}, kTwice);
  REQUIRE_MESSAGE(many.ok(), Render(many.errors()));
  CHECK(many->graph.nodes().size() < 10);
  auto large = load({1 << 30, 1 << 16}, kTwice);
  REQUIRE_MESSAGE(large.ok(), Render(large.errors()));
  const Status inferred = InferTypes(large->graph, true);
  REQUIRE(!inferred.ok());
  CHECK(inferred.errors()[0].message.ends_with(
      "more than the 2^47 bytes that a process can address"));
  CHECK(load({1000000, 2}, R"("MakeLoss")")
            .errors()[0]
            .message.starts_with("_foreach 'loop': 1000000 steps of "));
}

TEST_CASE("a parameter that only the turns of a loop read is one") {
  const std::string text = R"({"nodes": [
  {"op": "null", "name": "x", "inputs": []},
  {"op": "null", "name": "s", "inputs": []},
  {"op": "null", "name": "w", "inputs": []},
  {"op": "_foreach", "name": "loop", "attrs": {"num_args": "4",
    "num_outputs": "1", "num_out_data": "0", "in_data_locs": "[0]",
    "in_state_locs": "[1]", "remain_locs": "[2]"},
   "inputs": [[0, 0, 0], [1, 0, 0], [2, 0, 0]], "subgraphs": [{"nodes": [
     {"op": "null", "name": "a", "inputs": []},
     {"op": "null", "name": "b", "inputs": []},
     {"op": "null", "name": "c", "inputs": []},
     {"op": "elemwise_add", "name": "sum", "inputs": [[0, 0, 0], [1, 0, 0]]},
     {"op": "FullyConnected", "name": "fc", "attrs": {"num_hidden": "2",
       "no_bias": "True"}, "inputs": [[3, 0, 0], [2, 0, 0]]}],
     "arg_nodes": [0, 1, 2], "heads": [[4, 0, 0]]}]}],
 "arg_nodes": [0, 1, 2], "heads": [[3, 0, 0]],
 "attrs": {"mxnet_version": ["int", 10901]}})";
  auto model = LoadLoop(text, {{"x", {3, 5, 2}}, {"s", {5, 2}}});
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  Graph& graph = model->graph;
  CHECK(Count(graph, "_scan") == 1);
  REQUIRE(InferTypes(graph, true).ok());
  CHECK(graph.FindVariable("w")->role == VariableRole::kParameter);
  CHECK(graph.FindVariable("w")->types[0].shape == Shape{2, 2});
  CHECK(graph.FindVariable("s")->role == VariableRole::kInput);
}

TEST_CASE("a loop that cannot be expanded is named") {
  const auto error = [](const std::string& text, Extents x) {
    std::map<std::string, Extents> shapes;
    if (!x.empty()) shapes["x"] = std::move(x);
    const auto model = LoadLoop(text, shapes);
    return model.ok() ? std::string() : model.errors()[0].message;
  };
  CHECK(error(Foreach(kLocs), {}) ==
        "_foreach 'loop': the number of steps is not known; give the input "
        "shapes");
  const std::string wrong =
      R"("in_data_locs": "[0]", "in_state_locs": "[7]", "remain_locs": "[]")";
  CHECK(error(Foreach(wrong), {3, 2}) ==
        "_foreach 'loop': its locations do not fit the subgraph");
  CHECK(error(Foreach(R"("in_data_locs": "[0]")"), {3, 2}) ==
        "_foreach 'loop': attribute 'in_state_locs' is missing");
}

// y = x + 1 if p, else x.
const std::string kCond = R"({"nodes": [
  {"op": "null", "name": "p", "inputs": []},
  {"op": "null", "name": "x", "inputs": []},
  {"op": "_cond", "name": "choice", "attrs": {"num_args": "5",
    "num_outputs": "1", "cond_input_locs": "[0]", "then_input_locs": "[1]",
    "else_input_locs": "[1]"},
   "inputs": [[0, 0, 0], [1, 0, 0]], "subgraphs": [
     {"nodes": [{"op": "null", "name": "a", "inputs": []}],
      "arg_nodes": [0], "heads": [[0, 0, 0]]},
     {"nodes": [{"op": "null", "name": "b", "inputs": []},
       {"op": "_plus_scalar", "name": "add", "attrs": {"scalar": "1"},
        "inputs": [[0, 0, 0]]}],
      "arg_nodes": [0], "heads": [[1, 0, 0]]},
     {"nodes": [{"op": "null", "name": "c", "inputs": []}],
      "arg_nodes": [0], "heads": [[0, 0, 0]]}]}],
 "arg_nodes": [0, 1], "heads": [[2, 0, 0]],
 "attrs": {"mxnet_version": ["int", 10901]}})";

TEST_CASE("both sides of a condition are there, and a choice between them") {
  auto model = LoadLoop(kCond, {{"p", {1}}, {"x", {3}}});
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  Graph& graph = model->graph;
  REQUIRE(InferTypes(graph, true).ok());
  CHECK(!Verify(graph));
  const Node& choice = *graph.outputs[0].node;
  REQUIRE(choice.Is("_choose"));
  CHECK(choice.inputs[0].node->name == "p");
  CHECK(choice.inputs[1].node->Is("_plus_scalar"));
  CHECK(choice.inputs[2].node->name == "x");
}

// The text of a network of MXNet 1.x under the names of MXNet 2.0.
std::string Renamed(std::string text, std::string_view name) {
  const std::string old = fmt::format("\"_{}\"", name);
  return text.replace(text.find(old), old.size(),
                      fmt::format("\"_npx_{}\"", name));
}

TEST_CASE("control flow has the names of MXNet 2.0, too") {
  const auto loop =
      LoadLoop(Renamed(Foreach(kLocs), "foreach"), {{"x", {3, 2}}, {"s", {2}}});
  REQUIRE_MESSAGE(loop.ok(), Render(loop.errors()));
  CHECK(Count(loop->graph, "_scan") == 1);
  const auto choice =
      LoadLoop(Renamed(kCond, "cond"), {{"p", {1}}, {"x", {3}}});
  REQUIRE_MESSAGE(choice.ok(), Render(choice.errors()));
  CHECK(Count(choice->graph, "_choose") == 1);
}

TEST_CASE("a file that is only read keeps its nested graphs") {
  const auto model = LoadText(std::make_shared<SourceFile>(SourceFile{
                                  "loop-symbol.json", Foreach(kLocs)}),
                              {});
  REQUIRE(model.ok());
  CHECK(WriteSymbol(model->graph).find("subgraphs") != std::string::npos);
}

}  // namespace
}  // namespace mxc
