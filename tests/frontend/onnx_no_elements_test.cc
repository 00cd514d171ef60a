// SPDX-License-Identifier: Apache-2.0
// Tensors without elements, and types that no program has, at the borders of a
// network of ONNX.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "frontend/onnx/schema.h"
#include "frontend/onnx/tensor_data.h"
#include "tests/frontend/onnx_model.h"

namespace mxc {
namespace {

using namespace onnx_model;  // NOLINT

constexpr auto kFloat8 = static_cast<Type>(onnx::TensorProto::kFloat8e4m3fn);

Message ToType(Type type) { return IntAttr("to", type); }

// What is put out, which has to follow from constants.
Tensor ConstantOutput(const GraphParts& parts) {
  const auto model = Build(parts);
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  REQUIRE(model->graph.outputs.size() == 1);
  const mxc::Node& node = *model->graph.outputs[0].node;
  REQUIRE(node.kind == mxc::Node::Kind::kConstant);
  return node.constant;
}

std::string NoteOf(const Result<Model>& model) {
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  REQUIRE(model->notes.size() == 1);
  return model->notes.front().message;
}

TEST_CASE("an input without elements is none of the program's") {
  const GraphParts parts = {
      .nodes = {onnx_model::Node("ReduceSum", {"x", "axes"}, {"y"})},
      .inputs = {Input("x", kFloat, {2, 3}), Input("axes", kInt64, {0})},
      .outputs = {"y"}};
  const auto model = Build(parts);
  CHECK(
      NoteOf(model) ==
      "input 'axes' has shape (0), which has no elements; the program does not "
      "ask for it");
  CHECK(model->graph.Variables(VariableRole::kInput).size() == 1);
  CHECK(model->graph.outputs[0].shape() == Shape{1, 1});  // no axes: all
}

TEST_CASE("an output without elements is left out, but not all of them") {
  GraphParts parts = {
      .nodes = {onnx_model::Node("Slice", {"x", "end", "end"}, {"y"}),
                onnx_model::Node("Relu", {"x"}, {"z"})},
      .inputs = {Input("x", kFloat, {2, 3})},
      .outputs = {"y", "z"},
      .initializers = {TensorOf<int64_t>("end", kInt64, {1}, {2})}};
  const auto model = Build(parts);
  CHECK(NoteOf(model) ==
        "output 'y' has shape (0, 3), which has no elements; the program does "
        "not give it");
  CHECK(model->graph.output_names == std::vector<std::string>{"z"});
  parts.outputs = {"y"};
  const auto nothing = Build(parts);
  REQUIRE(!nothing.ok());
  CHECK(
      Render(nothing.errors()).find("no output of the network has elements") !=
      std::string::npos);
}

TEST_CASE("what nothing is reduced to") {
  const auto reduced = [](const std::string& op) {
    const Tensor tensor = ConstantOutput(
        {.nodes = {onnx_model::Node(op, {"x", "axes"}, {"y"},
                                    {IntAttr("keepdims", 0)})},
         .inputs = {Input("x", kFloat, {2, 0, 4})},
         .outputs = {"y"},
         .initializers = {TensorOf<int64_t>("axes", kInt64, {1}, {1})}});
    CHECK(tensor.shape() == Shape{2, 4});
    for (int i = 1; i < 8; ++i) {
      CHECK((tensor.At(i) == tensor.At(0) || std::isnan(tensor.At(i))));
    }
    return tensor.At(7);
  };
  CHECK(reduced("ReduceSum") == 0);
  CHECK(reduced("ReduceL1") == 0);
  CHECK(reduced("ReduceL2") == 0);
  CHECK(reduced("ReduceSumSquare") == 0);
  CHECK(reduced("ReduceProd") == 1);
  CHECK(reduced("ReduceMax") == -INFINITY);
  CHECK(reduced("ReduceMin") == INFINITY);
  CHECK(reduced("ReduceLogSum") == -INFINITY);
  CHECK(reduced("ReduceLogSumExp") == -INFINITY);
  CHECK(std::isnan(reduced("ReduceMean")));
}

TEST_CASE("the least int64 is exact, as what no integers' maximum is") {
  const Tensor least =
      ConstantOutput({.nodes = {onnx_model::Node("ReduceMax", {"x"}, {"y"})},
                      .inputs = {Input("x", kInt64, {0})},
                      .outputs = {"y"}});
  CHECK(least.ExactAt(0) == std::numeric_limits<int64_t>::min());
}

TEST_CASE("elements that are none are computed each by itself") {
  // |x| + row, of shapes (2, 0, 4) and (4), compared and summed up to zeros.
  const auto summed = [](const std::vector<int64_t>& row) {
    return Build(
        {.nodes = {onnx_model::Node("Abs", {"x"}, {"a"}),
                   onnx_model::Node("Add", {"a", "row"}, {"b"}),
                   onnx_model::Node("Less", {"b", "row"}, {"c"}),
                   onnx_model::Node("Cast", {"c"}, {"d"}, {ToType(kInt64)}),
                   onnx_model::Node("ReduceSum", {"d", "axes"}, {"y"})},
         .inputs = {Input("x", kFloat, {2, 0, 4}), Input("row", kFloat, row)},
         .outputs = {"y"},
         .initializers = {TensorOf<int64_t>("axes", kInt64, {1}, {1})}});
  };
  const auto model = summed({4});
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  CHECK(model->graph.outputs[0].type() ==
        mxc::TensorType{DType::kI64, Shape{2, 1, 4}});
  const auto unfit = summed({3, 4});
  REQUIRE(!unfit.ok());
  CHECK(Render(unfit.errors()).find("do not broadcast") != std::string::npos);
}

TEST_CASE("an output of a type of few bits is given in one that holds it") {
  const auto model = Build(
      {.nodes = {onnx_model::Node("Cast", {"x"}, {"y"}, {ToType(kFloat8)})},
       .inputs = {Input("x", kFloat, {3})},
       .outputs = {"y"}});
  CHECK(NoteOf(model) ==
        "output 'y' has elements of FLOAT8E4M3FN; the program gives float32");
  CHECK(model->graph.outputs[0].type().dtype == DType::kF32);
}

TEST_CASE("a branch may be a constant") {
  const auto branch = [](float value) {
    return GraphOf(
        {.nodes = {onnx_model::Node(
             "Constant", {}, {"k"},
             {TensorAttr("value", TensorOf<float>("", kFloat, {1}, {value}))})},
         .inputs = {},
         .outputs = {"k"}});
  };
  const auto model =
      Build({.nodes = {onnx_model::Node("If", {"c"}, {"y"},
                                        {GraphAttr("then_branch", branch(1)),
                                         GraphAttr("else_branch", branch(2))})},
             .inputs = {Input("c", kBool, {})},
             .outputs = {"y"}});
  CHECK_MESSAGE(model.ok(), Render(model.errors()));
}

}  // namespace
}  // namespace mxc
