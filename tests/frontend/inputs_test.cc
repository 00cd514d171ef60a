// SPDX-License-Identifier: Apache-2.0
// What a network declares as inputs, and labels that inference does without.
#include <doctest/doctest.h>

#include "frontend/frontend.h"

namespace mxc {
namespace {

Model LoadNetworkText(const std::string& text,
                      const LoadOptions& options = {}) {
  auto model = LoadText(
      std::make_shared<SourceFile>(SourceFile{"net.json", text}), options);
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  return std::move(*model);
}

std::vector<std::string> DeclaredInputs(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node* input : graph.Variables(VariableRole::kInput)) {
    CHECK(input->declared);
    names.push_back(input->name);
  }
  return names;
}

using Names = std::vector<std::string>;

TEST_CASE("inputs: our own JSON's all count, read or not") {
  Model model = LoadNetworkText(R"json({"mxc": 1,
    "inputs": {"x": [2, 3], "y": [2, 3], "z": [4]},
    "nodes": [{"op": "relu", "name": "a", "inputs": ["z"]},
              {"op": "relu", "name": "b", "inputs": ["x"]}],
    "outputs": ["b"]})json");
  CHECK(DeclaredInputs(model.graph) == Names{"x", "y", "z"});
  CHECK(model.graph.RemoveDeadNodes());  // 'a'
  CHECK(DeclaredInputs(model.graph) == Names{"x", "y", "z"});
  // MXNet's arguments are what outputs depend on.
  const std::string symbol = WriteSymbol(model.graph);
  CHECK(symbol.find("\"x\"") != symbol.npos);
  CHECK(symbol.find("\"y\"") == symbol.npos);
}

TEST_CASE("inputs: a csr matrix comes as its elements") {
  const char* const kFactors = R"json({"mxc": 1,
    "inputs": {"x": {"shape": ["N", 900], "stype": "csr", "nonzeros": 5}},
    "parameters": {"w_weight": {"shape": [900, 2], "stype": "row_sparse"}},
    "nodes": [{"op": "dot", "name": "y", "inputs": ["x", "w_weight"]}]})json";
  LoadOptions options;
  options.batch = 3;
  Model model = LoadNetworkText(kFactors, options);
  CHECK(DeclaredInputs(model.graph) == Names{"x_indices", "x_values"});
  REQUIRE(InferTypes(model.graph, true).ok());
  const TensorType indices = {DType::kI32, Shape{3, 5}};
  CHECK(model.graph.FindVariable("x_indices")->types[0] == indices);
  CHECK(model.graph.outputs[0].shape() == Shape{3, 2});
  // MXNet has the matrix.
  const std::string symbol = WriteSymbol(model.graph);
  CHECK(symbol.find("x_indices") == symbol.npos);
  CHECK(symbol.find("_csr") == symbol.npos);
  const Model again = LoadNetworkText(symbol);
  CHECK(DeclaredInputs(again.graph) == Names{"x_indices", "x_values"});
  CHECK(WriteSymbol(again.graph) == symbol);
}

TEST_CASE("inputs: of MXNet's JSON those that the outputs depend on count") {
  const Model model = LoadNetworkText(R"json({"nodes": [
    {"op": "null", "name": "data", "inputs": []},
    {"op": "null", "name": "dead", "inputs": []},
    {"op": "relu", "name": "other", "inputs": [[1, 0, 0]]},
    {"op": "shape_array", "name": "shape", "inputs": [[0, 0, 0]]}],
    "heads": [[3, 0, 0]]})json");
  CHECK(DeclaredInputs(model.graph) == Names{"data"});
}

// Rows of words; each position has a label.
const char* const kLanguageModel = R"json({"mxc": 1,
  "inputs": {"data": [6, 4], "softmax_label": {}},
  "nodes": [
    {"op": "FullyConnected", "name": "fc", "num_hidden": 5},
    {"op": "Reshape", "name": "flat", "inputs": ["softmax_label"],
     "shape": [-1]},
    {"op": "SoftmaxOutput", "name": "softmax", "inputs": ["fc", "flat"]}]
})json";

TEST_CASE("inputs: a label that is reshaped needs no shape at inference") {
  Model model = LoadNetworkText(kLanguageModel);
  REQUIRE(InferTypes(model.graph, false).ok());
  const Node* label = model.graph.FindVariable("softmax_label");
  CHECK_FALSE(label->types[0].shape.known());
  CutUnknownLabels(model.graph);
  CHECK(label->types[0].shape == Shape{6});
  CHECK(DeclaredInputs(model.graph) == Names{"data", "softmax_label"});
  REQUIRE(InferTypes(model.graph, true).ok());
  CHECK_FALSE(Verify(model.graph).has_value());
}

TEST_CASE("inputs: a label whose shape is known stays as it is") {
  LoadOptions options;
  options.input_shapes["softmax_label"] = {2, 3};
  Model model = LoadNetworkText(kLanguageModel, options);
  REQUIRE(InferTypes(model.graph, false).ok());
  CutUnknownLabels(model.graph);
  CHECK(model.graph.FindVariable("softmax_label")->types[0].shape ==
        Shape{2, 3});
  CHECK(InferTypes(model.graph, true).ok());
}

TEST_CASE("inputs: a label that several heads share parts of") {
  Model model = LoadNetworkText(R"json({"mxc": 1,
    "inputs": {"data": [6, 4], "label": {}},
    "nodes": [
      {"op": "FullyConnected", "name": "a", "inputs": ["data"],
       "num_hidden": 5},
      {"op": "FullyConnected", "name": "b", "inputs": ["data"],
       "num_hidden": 1},
      {"op": "Reshape", "name": "la", "inputs": ["label"], "shape": [-1]},
      {"op": "Reshape", "name": "lb", "inputs": ["label"], "shape": [-1, 1]},
      {"op": "SoftmaxOutput", "name": "sa", "inputs": ["a", "la"]},
      {"op": "LinearRegressionOutput", "name": "sb", "inputs": ["b", "lb"]}],
    "outputs": ["sa", "sb"]})json");
  REQUIRE(InferTypes(model.graph, false).ok());
  CutUnknownLabels(model.graph);
  REQUIRE(InferTypes(model.graph, true).ok());
  CHECK_FALSE(Verify(model.graph).has_value());
}

// A network of its classes and of a loss that reads the labels.
std::string ClassesAndLoss(const std::string& outputs) {
  return R"json({"mxc": 1, "inputs": {"data": [10, 2, 5], "label": {}},
    "nodes": [
      {"op": "softmax", "name": "classes", "inputs": ["data"]},
      {"op": "CTCLoss", "name": "ctc", "inputs": ["data", "label"]},
      {"op": "MakeLoss", "name": "loss", "inputs": ["ctc"]}],
    "outputs": [)json" +
         outputs + "]}";
}

TEST_CASE("inputs: a loss without a label's shape is left out beside others") {
  for (const char* outputs : {R"("classes", "loss")", R"("ctc", "classes")"}) {
    CAPTURE(outputs);
    Model model = LoadNetworkText(ClassesAndLoss(outputs));
    REQUIRE(InferTypes(model.graph, false).ok());
    const Diagnostics notes = CutUnknownLabels(model.graph);
    REQUIRE(notes.size() == 1);
    CHECK(notes[0].message.find("a loss of 'label'") != std::string::npos);
    CHECK(model.graph.output_names == Names{"classes_output"});
    CHECK(DeclaredInputs(model.graph) == Names{"data"});
    CHECK(InferTypes(model.graph, true).ok());
  }
}

TEST_CASE("inputs: a loss stays where it is the only output, or known") {
  Model alone = LoadNetworkText(ClassesAndLoss(R"("loss")"));
  REQUIRE(InferTypes(alone.graph, false).ok());
  CHECK(CutUnknownLabels(alone.graph).empty());
  CHECK_FALSE(InferTypes(alone.graph, true).ok());
  LoadOptions options;
  options.input_shapes["label"] = {2, 3};
  Model known =
      LoadNetworkText(ClassesAndLoss(R"("classes", "loss")"), options);
  REQUIRE(InferTypes(known.graph, false).ok());
  CHECK(CutUnknownLabels(known.graph).empty());
  CHECK(known.graph.outputs.size() == 2);
  CHECK(InferTypes(known.graph, true).ok());
}

TEST_CASE("inputs: what an output needs is asked for, a label or not") {
  Model model = LoadNetworkText(R"json({"mxc": 1,
    "inputs": {"data": [6, 4], "label": {}},
    "nodes": [
      {"op": "Reshape", "name": "l", "inputs": ["label"], "shape": [-1]},
      {"op": "FullyConnected", "name": "a", "inputs": ["data"],
       "num_hidden": 5},
      {"op": "SoftmaxOutput", "name": "s", "inputs": ["a", "l"]},
      {"op": "BlockGrad", "name": "echo", "inputs": ["label"]}],
    "outputs": ["s", "echo"]})json");
  REQUIRE(InferTypes(model.graph, false).ok());
  CutUnknownLabels(model.graph);
  const Status inferred = InferTypes(model.graph, true);
  REQUIRE_FALSE(inferred.ok());
  CHECK(inferred.errors()[0].message.find("'label'") != std::string::npos);
}

}  // namespace
}  // namespace mxc
