// SPDX-License-Identifier: Apache-2.0
// Indices, resizing and geometry of ONNX: the form that they get, and what is
// refused. Their values are compared by mxc-cases onnx.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "frontend/network_file.h"
#include "tests/frontend/onnx_model.h"

namespace mxc {
namespace {

using namespace onnx_model;  // NOLINT
using Attributes = std::vector<Message>;

int Count(const Graph& graph, std::string_view op) {
  return static_cast<int>(std::ranges::count_if(
      graph.TopologicalOrder(),
      [&](const mxc::Node* node) { return node->Is(op); }));
}

Message Indices(const std::string& name, const std::vector<int64_t>& dims,
                const std::vector<int64_t>& values) {
  return TensorOf<int64_t>(name, kInt64, dims, values);
}
Message Scales(const std::vector<float>& values) {
  return TensorOf<float>("s", kFloat, {static_cast<int64_t>(values.size())},
                         values);
}

// One node of x, f32[1, 2, 4, 6], and of a constant `k`.
GraphParts OfOne(const std::string& op, const Message& constant,
                 Attributes attributes = {}, int outputs = 1) {
  std::vector<std::string> names;
  for (int i = 0; i < outputs; ++i) names.push_back(fmt::format("y{}", i));
  return {.nodes = {onnx_model::Node(op, {"x", "k"}, names, attributes)},
          .inputs = {Input("x", kFloat, {1, 2, 4, 6})},
          .outputs = names,
          .initializers = {constant}};
}

GraphParts Resized(const std::vector<float>& scales, Attributes attributes) {
  return {
      .nodes = {onnx_model::Node("Resize", {"x", "", "s"}, {"y"}, attributes)},
      .inputs = {Input("x", kFloat, {1, 2, 4, 6})},
      .outputs = {"y"},
      .initializers = {Scales(scales)}};
}

void CheckForm(const GraphParts& parts, std::string_view op, int count = 1) {
  const auto model = Build(parts);
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  CHECK(Count(model->graph, op) == count);
}

TEST_CASE("indices in a row are a slice, others a take") {
  const auto row =
      OfOne("Gather", Indices("k", {2}, {-3, -2}), {IntAttr("axis", 2)});
  CheckForm(row, "take", 0);
  const auto apart =
      OfOne("Gather", Indices("k", {2}, {3, 0}), {IntAttr("axis", 2)});
  CheckForm(apart, "take");
}

TEST_CASE("rows that are written at known places need no scatter") {
  GraphParts parts = {
      .nodes = {onnx_model::Node("ScatterND", {"x", "k", "u"}, {"y"})},
      .inputs = {Input("x", kFloat, {4, 3}), Input("u", kFloat, {2, 3})},
      .outputs = {"y"},
      .initializers = {Indices("k", {2, 1}, {1, 2})}};
  CheckForm(parts, "_scatter_along", 0);
  CheckForm(parts, "take", 0);
  parts.initializers = {Indices("k", {2, 1}, {3, -4})};
  CheckForm(parts, "take");
  parts.initializers.clear();
  parts.inputs.push_back(Input("k", kInt64, {2, 1}));
  CheckForm(parts, "_scatter_along");
}

TEST_CASE("images twice as large are what MXNet's operators make of them") {
  CheckForm(Resized({1, 1, 2, 2},
                    {TextAttr("coordinate_transformation_mode", "asymmetric"),
                     TextAttr("nearest_mode", "floor")}),
            "UpSampling");
  CheckForm(Resized({1, 1, 2, 2}, {TextAttr("mode", "linear")}),
            "_contrib_BilinearResize2D");
  CheckForm(Resized({1, 1, 2, 2}, {TextAttr("mode", "cubic")}), "take", 8);
  // Every other row.
  CheckForm(Resized({1, 1, 0.5F, 1},
                    {TextAttr("coordinate_transformation_mode", "asymmetric")}),
            "slice");
}

TEST_CASE("what a file of places may not say") {
  const auto refusal = [](const GraphParts& parts) { return RefusalOf(parts); };
  const auto says = [&](const GraphParts& parts, std::string_view words) {
    const std::string message = refusal(parts);
    CAPTURE(message);
    CHECK(message.find(words) != std::string::npos);
  };
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  says(OfOne("Gather", Indices("k", {1}, {1})), "index 1 is out of the 1");
  says(OfOne("Gather", Indices("k", {1}, {kLeast})), "is out of the 1");
  says(OfOne("Gather", Indices("k", {1}, {0}), {IntAttr("axis", kLeast)}),
       "does not exist");
  says(OfOne("GatherND", Indices("k", {1, 5}, {0, 0, 0, 0, 0})), "name 5 axes");
  says(OfOne("GatherND", Indices("k", {1, 1}, {0}),
             {IntAttr("batch_dims", kLeast)}),
       "batch_dims is");
  says(OfOne("TopK", Indices("k", {1}, {7}), {}, 2), "the first 7 of 6");
  says(OfOne("TopK", Indices("k", {1}, {kLeast}), {}, 2), "the first -");
  says(OfOne("TopK", Indices("k", {2}, {1, 1}), {}, 2), "has 2 elements");
  says(OfOne("CumSum", Indices("k", {1}, {4})), "axis 4 does not exist");
  says(OfOne("Compress", TensorOf<char>("k", kBool, {3}, {0, 0, 1}),
             {IntAttr("axis", 1)}),
       "keeps element 2 of 2");
  says(OfOne("CenterCropPad", Indices("k", {4}, {1, 2, 3, kLeast})),
       "has an extent of");
  says(Resized({1, 1, 0, 1}, {}), "a scale is 0");
  says(Resized({1, 1, 1e30F, 1}, {}), "becomes one of");
  says(Resized({1, 1, 2}, {}), "3 scales for 4 axes");
  says(Resized({1, 1, 2, 2}, {IntsAttr("axes", {0, 0, 1, 2})}), "stands twice");
  says(Resized({1, 1, 2, 2}, {TextAttr("mode", "round")}), "expected one of");
}

TEST_CASE("what data would decide is asked for") {
  const std::string message =
      RefusalOf({.nodes = {onnx_model::Node("Unique", {"x"}, {"y"},
                                            {IntAttr("sorted", 0)})},
                 .inputs = {Input("x", kFloat, {3})},
                 .outputs = {"y"}});
  CHECK(message.find("--bind x=FILE") != std::string::npos);
}

// tests/onnx/suppression.py compares their values with ONNX Runtime's.
TEST_CASE("boxes that stay have room for as many as may") {
  const auto rows = [](int64_t most) {
    const auto model =
        Build({.nodes = {onnx_model::Node("NonMaxSuppression",
                                          {"boxes", "scores", "most"}, {"y"})},
               .inputs = {Input("boxes", kFloat, {2, 7, 4}),
                          Input("scores", kFloat, {2, 3, 7})},
               .outputs = {"y"},
               .initializers = {Indices("most", {1}, {most})}});
    REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
    CHECK(Count(model->graph, "_contrib_box_nms") == 1);
    return model->graph.outputs[0].shape();
  };
  CHECK(rows(5) == Shape({2 * 3 * 5, 3}));
  CHECK(rows(100) == Shape({2 * 3 * 7, 3}));
}

TEST_CASE("lengths stay integers when the parameters have been read") {
  Result<Model> model = Build(
      {.nodes = {onnx_model::Node("ReverseSequence", {"x", "lengths"}, {"y"})},
       .inputs = {Input("x", kFloat, {4, 2}), Input("lengths", kInt64, {2})},
       .outputs = {"y"}});
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  REQUIRE(LoadParameters(*model, {}).ok());
  const mxc::Node* lengths = model->graph.FindVariable("lengths");
  REQUIRE(lengths != nullptr);
  CHECK(lengths->types[0].dtype == DType::kI64);
}

}  // namespace
}  // namespace mxc
