// SPDX-License-Identifier: Apache-2.0
// Recurrent layers, loops, branches and sequences of ONNX: the form that they
// get, and what is refused. Their values are compared by mxc-cases onnx.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "frontend/network_file.h"
#include "tests/frontend/onnx_model.h"

namespace mxc {
namespace {

using namespace onnx_model;  // NOLINT

int CountOf(const Graph& graph, std::string_view op) {
  return static_cast<int>(std::ranges::count_if(
      graph.TopologicalOrder(),
      [&](const mxc::Node* node) { return node->Is(op); }));
}

bool Says(const std::string& message, std::string_view words) {
  return message.find(words) != std::string::npos;
}

// An LSTM of 2 inputs and 3 units.
GraphParts Lstm(std::vector<Message> attributes,
                std::vector<int64_t> weights = {1, 12, 2}) {
  return {.nodes = {onnx_model::Node("LSTM", {"x", "W", "R"}, {"y"},
                                     std::move(attributes))},
          .inputs = {Input("x", kFloat, {5, 1, 2})},
          .outputs = {"y"},
          .initializers = {Zeros("W", weights), Zeros("R", {1, 12, 3})}};
}

TEST_CASE("an LSTM is the layer that trains fast, of the file's parameters") {
  const auto model = Build(Lstm({IntAttr("hidden_size", 3)}));
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  CHECK(CountOf(model->graph, "RNN") == 1);
  CHECK(CountOf(model->graph, "_scan") == 0);
  for (const char* name : {"W", "R"}) {
    const mxc::Node* parameter = model->graph.FindVariable(name);
    REQUIRE(parameter != nullptr);
    CHECK(parameter->role == VariableRole::kParameter);
  }
}

TEST_CASE("an LSTM that no layer computes is a scan") {
  const auto model = Build(Lstm({FloatAttr("clip", 2)}));
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  CHECK(CountOf(model->graph, "_scan") == 1);
}

TEST_CASE("options of recurrent layers that say nothing are refused") {
  const auto refusal = [](Message attribute) {
    return RefusalOf(Lstm({std::move(attribute)}));
  };
  CHECK(Says(refusal(IntAttr("layout", 2)), "layout is 2, expected 0 or 1"));
  CHECK(Says(refusal(IntAttr("hidden_size", 4)), "hidden_size is 4"));
  CHECK(Says(refusal(TextAttr("direction", "up")), "'up'"));
  CHECK(Says(refusal(FloatAttr("clip", -1)), "clip is -1"));
  CHECK(Says(refusal(TextsAttr("activations", {"Tanh"})), "1 activations"));
  CHECK(Says(refusal(TextsAttr("activations", {"Tanh", "Tanh", "Sin"})),
             "'Sin' is not known"));
  CHECK(Says(refusal(TextsAttr("activations", {"Tanh", "Tanh", "Affine"})),
             "activation_alpha"));
  CHECK(Says(RefusalOf(Lstm({}, {1, 9, 2})), "expected (1, 12, 2)"));
}

// s = f(s) for `turns` turns; `body` makes s_out and maybe more of i, s and x.
GraphParts LoopOf(int64_t turns, std::vector<Message> body,
                  const std::string& condition = "go",
                  std::vector<std::string> rows = {}) {
  std::vector<std::string> results = {condition, "s_out"}, outputs = {"y"};
  for (const std::string& row : rows) {
    results.push_back(row);
    outputs.push_back(row + "s");
  }
  const GraphParts inner = {
      .nodes = std::move(body),
      .inputs = {Input("i", kInt64, {}), Input("go", kBool, {}),
                 Input("s", kFloat, {2})},
      .outputs = results};
  return {.nodes = {onnx_model::Node("Loop", {"turns", "yes", "x"}, outputs,
                                     {GraphAttr("body", GraphOf(inner))})},
          .inputs = {Input("x", kFloat, {2})},
          .outputs = outputs,
          .initializers = {Number("turns", turns), Truth("yes", true)}};
}

TEST_CASE("a loop of many turns is one scan, of few turns none") {
  const std::vector<Message> body = {
      onnx_model::Node("Add", {"s", "x"}, {"s_out"})};
  for (const auto& [turns, scans] : {std::pair{1'000'000, 1}, {3, 0}, {0, 0}}) {
    const auto model = Build(LoopOf(turns, body));
    REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
    CHECK(CountOf(model->graph, "_scan") == scans);
    CHECK(model->graph.TopologicalOrder().size() < 20);
  }
}

TEST_CASE("what an artifact keeps of a loop reads as the same network") {
  const auto parts =
      LoopOf(50, {onnx_model::Node("Mul", {"s", "x"}, {"s_out"})}, "go", {"s"});
  const auto file = OpenNetwork(std::make_shared<const NetworkSource>(
      std::shared_ptr<const SourceFile>(ModelOf(parts))));
  REQUIRE(file.ok());
  const auto stored = (*file)->Stored({});
  REQUIRE_MESSAGE(stored.ok(), Render(stored.errors()));
  BuildOptions options;
  options.require_supported = true;
  auto again = LoadText(
      std::make_shared<SourceFile>(SourceFile{"net-symbol.json", *stored}),
      options);
  REQUIRE_MESSAGE(again.ok(), Render(again.errors()));
  REQUIRE(InferTypes(again->graph, true).ok());
  CHECK(CountOf(again->graph, "_scan") == 1);
  CHECK(again->graph.outputs[1].shape() == Shape{50, 2});
}

TEST_CASE("a loop without end is refused, not written out") {
  // What grows cannot be carried by a scan, and its turns are too many.
  const std::vector<Message> grows = {
      onnx_model::Node("Concat", {"s", "x"}, {"s_out"}, {IntAttr("axis", 0)})};
  CHECK(!RefusalOf(LoopOf(INT64_MAX, grows)).empty());
  CHECK(!RefusalOf(LoopOf(1'000'000, grows)).empty());
}

TEST_CASE("rows of a number that only the program knows are refused") {
  const std::vector<Message> body = {
      onnx_model::Node("Add", {"s", "x"}, {"s_out"}),
      onnx_model::Node("ReduceSum", {"s"}, {"sum"}, {IntAttr("keepdims", 0)}),
      onnx_model::Node("Cast", {"sum"}, {"holds"}, {IntAttr("to", kBool)})};
  CHECK(
      Says(RefusalOf(LoopOf(9, body, "holds", {"sum"})), "how often it runs"));
  const auto model = Build(LoopOf(9, body, "holds"));
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  CHECK(CountOf(model->graph, "_scan") == 1);
}

GraphParts IfOf(const std::string& other) {
  const GraphParts then = {.nodes = {onnx_model::Node("Relu", {"x"}, {"a"})},
                           .inputs = {},
                           .outputs = {"a"}};
  const GraphParts otherwise = {
      .nodes = {onnx_model::Node(other, {"x"}, {"b"})},
      .inputs = {},
      .outputs = {"b"}};
  return {.nodes = {onnx_model::Node(
              "If", {"c"}, {"y"},
              {GraphAttr("then_branch", GraphOf(then)),
               GraphAttr("else_branch", GraphOf(otherwise))})},
          .inputs = {Input("c", kBool, {}), Input("x", kFloat, {2, 1})},
          .outputs = {"y"}};
}

TEST_CASE("a condition of the program chooses, a known one decides") {
  const auto open = Build(IfOf("Neg"));
  REQUIRE_MESSAGE(open.ok(), Render(open.errors()));
  CHECK(CountOf(open->graph, "_choose") == 1);
  BuildOptions options;
  options.input_values["c"] =
      Tensor::Filled({DType::kBool, Shape(Extents())}, 0);
  const auto known = Build(IfOf("Neg"), options);
  REQUIRE_MESSAGE(known.ok(), Render(known.errors()));
  CHECK(CountOf(known->graph, "_choose") == 0);
  CHECK(CountOf(known->graph, "relu") == 0);
  CHECK(Says(RefusalOf(IfOf("Squeeze")), "--bind c=FILE"));
}

TEST_CASE("a condition of the program chooses between constants") {
  const auto giving = [](float value) {
    const std::vector<float> values = {value, value};
    return GraphOf(
        {.nodes = {onnx_model::Node(
             "Constant", {}, {"k"},
             {TensorAttr("value", TensorOf<float>("", kFloat, {2}, values))})},
         .inputs = {},
         .outputs = {"k"}});
  };
  const auto model =
      Build({.nodes = {onnx_model::Node("If", {"c"}, {"y"},
                                        {GraphAttr("then_branch", giving(1)),
                                         GraphAttr("else_branch", giving(2))})},
             .inputs = {Input("c", kBool, {})},
             .outputs = {"y"}});
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  CHECK(CountOf(model->graph, "_choose") == 1);
}

TEST_CASE("a sequence that is an input has the elements with shapes") {
  const GraphParts parts = {
      .nodes = {onnx_model::Node("ConcatFromSequence", {"s"}, {"y"},
                                 {IntAttr("axis", 0)})},
      .inputs = {SequenceInput("s", kFloat, {2, 3})},
      .outputs = {"y"}};
  CHECK(Says(RefusalOf(parts), "--input-shape s.0:"));
  BuildOptions options;
  options.input_shapes = {{"s.0", {2, 3}}, {"s.1", {4, 3}}};
  const auto wrong = RefusalOf(parts, options);
  CHECK_MESSAGE(wrong.empty(), wrong);
  options.input_shapes = {{"s.0", {2, 3}}, {"s.2", {2, 3}}};
  CHECK(Says(RefusalOf(parts, options), "no input 's.2'"));
}

TEST_CASE("positions that a sequence has not are refused") {
  for (const int64_t position :
       {INT64_MIN, int64_t{-3}, int64_t{2}, INT64_MAX}) {
    const GraphParts parts = {
        .nodes = {onnx_model::Node("SequenceConstruct", {"x", "x"}, {"s"}),
                  onnx_model::Node("SequenceAt", {"s", "at"}, {"y"})},
        .inputs = {Input("x", kFloat, {2})},
        .outputs = {"y"},
        .initializers = {Number("at", position)}};
    CHECK(Says(RefusalOf(parts), "does not exist in a sequence of 2"));
  }
}

}  // namespace
}  // namespace mxc
