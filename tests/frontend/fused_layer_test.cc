// SPDX-License-Identifier: Apache-2.0
// Layers that MXNet has fused for oneDNN. Their values: quantized_ops_test, and
// tests/mxnet/quantized.py beside MXNet.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "frontend/frontend.h"

namespace mxc {
namespace {

// relu(conv(x, w)), of floats or of 8-bit numbers; `function` follows conv.
std::string FusedNetwork(const char* data, const char* attrs,
                         const char* inputs,
                         const char* function = R"("Activation", "attrs":
                                              {"act_type": "relu"})") {
  return fmt::format(
      R"json({{"nodes": [
  {{"op": "null", "name": "data", "inputs": []}},
  {{"op": "null", "name": "w", "inputs": []}},
  {{"op": {}, "name": "q", "inputs": [[0, 0, 0]]}},
  {{"op": "_sg_mkldnn_conv", "name": "layer", "attrs": {{{}}},
   "inputs": {}, "subgraphs": [{{"nodes": [
     {{"op": "null", "name": "a", "inputs": []}},
     {{"op": "null", "name": "b", "inputs": []}},
     {{"op": "Convolution", "name": "conv", "attrs": {{"kernel": "(3, 3)",
       "num_filter": "4", "no_bias": "True"}}, "inputs": [[0, 0, 0], [1, 0, 0]]}},
     {{"op": {}, "name": "relu", "inputs": [[2, 0, 0]]}}],
     "arg_nodes": [0, 1], "heads": [[3, 0, 0]]}}]}}],
 "arg_nodes": [0, 1], "heads": [[3, 0, 0]],
 "attrs": {{"mxnet_version": ["int", 10901]}}}})json",
      data, attrs, inputs, function);
}

constexpr const char* kQuantize = R"("_contrib_quantize_v2", "attrs":
  {"min_calib_range": "0", "max_calib_range": "1", "out_type": "auto"})";
constexpr const char* kCalibrated = R"("quantized": "true", "with_relu": "true",
  "min_calib_range": "0.0", "max_calib_range": "6.0")";
constexpr const char* kFusedInputs =
    "[[2, 0, 0], [1, 0, 0], [2, 1, 0], [2, 2, 0]]";

Result<Model> LoadFused(const std::string& text) {
  LoadOptions options;
  options.require_supported = true;
  options.input_shapes = {{"data", {1, 2, 5, 5}}};
  return LoadText(
      std::make_shared<SourceFile>(SourceFile{"fused-symbol.json", text}),
      options);
}

int CountOf(const Graph& graph, std::string_view op) {
  int count = 0;
  for (const Node* node : graph.TopologicalOrder()) count += node->Is(op);
  return count;
}

TEST_CASE("a fused layer of floats is what it was fused from") {
  const auto model = LoadFused(FusedNetwork(
      R"("_copy")", R"("with_act": "true")", "[[2, 0, 0], [1, 0, 0]]"));
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  CHECK(CountOf(model->graph, "Convolution") == 1);
  CHECK(CountOf(model->graph, "Activation") == 1);
}

TEST_CASE("a fused layer of 8-bit numbers has the shapes of its parts") {
  auto model = LoadFused(FusedNetwork(kQuantize, kCalibrated, kFusedInputs));
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  REQUIRE(CountOf(model->graph, "_quantized_layer") == 1);
  REQUIRE(InferTypes(model->graph, true).ok());
  CHECK(model->graph.FindVariable("w")->types[0] ==
        TensorType{DType::kF32, {4, 2, 3, 3}});
  // relu has no negative values.
  CHECK(model->graph.outputs[0].type() == TensorType{DType::kU8, {1, 4, 3, 3}});
}

std::string WhyNot(const std::string& text) {
  const auto model = LoadFused(text);
  return model.ok() ? "" : model.errors()[0].message;
}

TEST_CASE("what is no fused layer is refused") {
  CHECK(
      WhyNot(FusedNetwork(kQuantize, kCalibrated, "[[2, 0, 0], [1, 0, 0]]")) ==
      "_sg_mkldnn_conv 'layer': it has 2 inputs, expected 4");
  CHECK(WhyNot(FusedNetwork(kQuantize, kCalibrated, kFusedInputs,
                            R"json("Convolution", "attrs": {"kernel": "(1, 1)",
                           "num_filter": "4", "no_bias": "True"})json"))
            .find("in its subgraph") != std::string::npos);
  CHECK(WhyNot(FusedNetwork(kQuantize, kCalibrated, kFusedInputs,
                            R"("NoSuchThing")"))
            .find("its subgraph holds NoSuchThing 'relu'") !=
        std::string::npos);
  CHECK(
      WhyNot(FusedNetwork(kQuantize, R"("with_act": "true")", kFusedInputs)) ==
      "_sg_mkldnn_conv 'layer': it has 4 inputs, its subgraph 2 variables");
}

}  // namespace
}  // namespace mxc
