// SPDX-License-Identifier: Apache-2.0
// Products with matrices of parameters as FullyConnected: which are, and that
// the network computes the same.
#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "frontend/frontend.h"
#include "tests/ir/op_run.h"
#include "tools/quantize/dense_layers.h"

namespace mxc {
namespace {

// w [3, 2] with a bias, v [3, 2] whose rows are outputs; u is fed, s is added to
// a product that the network gives away, too.
constexpr const char* kDenseNetwork = R"({"mxc": 1, "name": "net",
  "inputs": {"x": [2, 4, 3], "u": [2, 3]},
  "parameters": {"w": [3, 2], "b": [2], "v": [3, 2], "s": [3]},
  "nodes": [
    {"op": "dot", "name": "first", "inputs": ["x", "w"]},
    {"op": "broadcast_add", "name": "sum", "inputs": ["b", "first"]},
    {"op": "dot", "name": "second", "inputs": ["sum", "v"], "transpose_b": true},
    {"op": "broadcast_add", "name": "shifted", "inputs": ["second", "s"]},
    {"op": "dot", "name": "third", "inputs": ["shifted", "w"]},
    {"op": "dot", "name": "fed", "inputs": ["third", "u"]}],
  "outputs": ["fed", "second"]})";

Tensor CountedValues(const Shape& shape, float first) {
  std::vector<float> values;
  for (int64_t i = 0; i < shape.elements(); ++i) {
    values.push_back(first + static_cast<float>(i % 5));
  }
  return Tensor::FromFloats(shape, values);
}

Model LoadDense(const std::string& text = kDenseNetwork) {
  auto model =
      LoadText(std::make_shared<SourceFile>(SourceFile{"net.json", text}), {});
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  // Element types that nothing says stay unknown, as in calibrate.
  REQUIRE(InferTypes(model->graph, /*complete=*/false).ok());
  float first = -2;
  for (const Node* node : model->graph.Variables(VariableRole::kParameter)) {
    model->parameters[node->name] =
        CountedValues(node->types[0].shape, ++first);
  }
  return std::move(*model);
}

std::vector<Tensor> OutputsOf(Model model) {
  REQUIRE(InferTypes(model.graph, /*complete=*/true).ok());
  std::map<std::string, Tensor> values = model.parameters;
  values.emplace("x", CountedValues({2, 4, 3}, -3));
  values.emplace("u", CountedValues({2, 3}, 1));
  return EvaluateValues(model.graph, model.graph.outputs, values,
                        /*all_double=*/false);
}

std::vector<std::string> DenseNamesOf(const Graph& graph, std::string_view op) {
  std::vector<std::string> names;
  for (const Node* node : graph.TopologicalOrder()) {
    if (node->Is(op)) names.push_back(node->name);
  }
  return names;
}

TEST_CASE("products with matrices of parameters are FullyConnected") {
  const std::vector<Tensor> expected = OutputsOf(LoadDense());
  Model model = LoadDense();
  UseFullyConnected(model);
  CHECK(DenseNamesOf(model.graph, "FullyConnected") ==
        std::vector<std::string>{"first", "second", "third"});
  CHECK(DenseNamesOf(model.graph, "dot") == std::vector<std::string>{"fed"});
  // What `second` is before the sum leaves the network.
  CHECK(DenseNamesOf(model.graph, "broadcast_add") ==
        std::vector<std::string>{"shifted"});
  // Both readers of w read one turned matrix; v is one already.
  CHECK(model.graph.FindVariable("w_turned") != nullptr);
  CHECK(model.graph.FindVariable("w") == nullptr);
  CHECK(model.graph.FindVariable("v_turned") == nullptr);
  const std::vector<Tensor> found = OutputsOf(std::move(model));
  REQUIRE(found.size() == expected.size());
  for (size_t k = 0; k < found.size(); ++k) {
    REQUIRE(found[k].shape() == expected[k].shape());
    for (int64_t i = 0; i < found[k].shape().elements(); ++i) {
      CHECK(found[k].At(i) == expected[k].At(i));
    }
  }
}

TEST_CASE("a turned matrix takes no other parameter's name") {
  std::string text = kDenseNetwork;
  for (size_t at; (at = text.find("\"s\"")) != std::string::npos;) {
    text.replace(at, 3, "\"w_turned\"");
  }
  const std::vector<Tensor> expected = OutputsOf(LoadDense(text));
  Model model = LoadDense(text);
  UseFullyConnected(model);
  CHECK(model.graph.FindVariable("w_turned_") != nullptr);
  const std::vector<Tensor> found = OutputsOf(std::move(model));
  CHECK(ValuesOf(found[0]) == ValuesOf(expected[0]));
}

TEST_CASE("the form is written and read as MXNet's") {
  Model model = LoadDense();
  UseFullyConnected(model);
  const auto again = LoadText(std::make_shared<SourceFile>(SourceFile{
                                  "net-symbol.json", WriteSymbol(model.graph)}),
                              {});
  REQUIRE_MESSAGE(again.ok(), Render(again.errors()));
  CHECK(DenseNamesOf(again->graph, "FullyConnected").size() == 3);
}

}  // namespace
}  // namespace mxc
