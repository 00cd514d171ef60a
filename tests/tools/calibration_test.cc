// SPDX-License-Identifier: Apache-2.0
// Ranges of values and the form of 8-bit numbers. What a calibrated network is
// worth: tests/e2e/calibrate.test; that MXNet reads
// and computes the form: tests/mxnet/calibrated.py.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "frontend/frontend.h"
#include "tools/quantize/entropy.h"
#include "tools/quantize/quantized_graph.h"
#include "tools/quantize/value_range.h"

namespace mxc {
namespace {

constexpr int kBins = 8001, kMiddle = kBins / 2;

std::vector<int64_t> Histogram(const std::function<double(int)>& count) {
  std::vector<int64_t> bins;
  for (int i = 0; i < kBins; ++i) {
    bins.push_back(static_cast<int64_t>(count(i - kMiddle)));
  }
  return bins;
}

// Expected are the thresholds of an implementation in NumPy, in float64. MXNet
// 1.9.1 (_get_optimal_threshold), which sums in float32, finds the same first
// one, and for the others 4.2301, 1.46407 and 0.101612.
TEST_CASE("the threshold of the least divergence") {
  const auto laplace =
      Histogram([](int x) { return 1e5 * std::exp(-std::abs(x) / 400.0); });
  CHECK(EntropyThreshold(laplace, 8, 255) == doctest::Approx(7.89801275));
  const auto positive =
      Histogram([](int x) { return x < 0 ? 0 : 1e5 * std::exp(-x / 300.0); });
  CHECK(EntropyThreshold(positive, 5, 511) == doctest::Approx(4.31383577));
  auto normal =
      Histogram([](int x) { return 5e4 * std::exp(-std::pow(x / 900.0, 2)); });
  normal[5] += 3;
  normal[7990] += 3;
  CHECK(EntropyThreshold(normal, 2, 255) == doctest::Approx(1.46556680));
  const auto narrow =
      Histogram([](int x) { return 1e4 * std::exp(-std::abs(x) / 37.0); });
  CHECK(EntropyThreshold(narrow, 1, 255) == doctest::Approx(0.0956130484));
  // All levels serve all values alike.
  const auto uniform = Histogram([](int) { return 1000; });
  CHECK(EntropyThreshold(uniform, 1, 255) == doctest::Approx(1));
}

ValueStatistics StatisticsOfValues(const std::vector<float>& values) {
  ValueStatistics statistics;
  statistics.Extend(values);
  statistics.Count(values);
  return statistics;
}

TEST_CASE("ranges hold the share of the values that they are to hold") {
  std::vector<float> values;  // -1 … 1, evenly, and one far away
  for (int i = -500; i <= 500; ++i)
    values.push_back(static_cast<float>(i) / 500);
  values.push_back(50);
  const ValueStatistics statistics = StatisticsOfValues(values);
  const ValueRange whole = statistics.RangeBy(RangeMode::kNaive, 0);
  CHECK(whole.low == -1);
  CHECK(whole.high == 50);
  const double bin = 2 * 50.0 / kBins;
  const ValueRange most = statistics.RangeBy(RangeMode::kPercentile, 99.8);
  CHECK(std::abs(most.high - 1) <= bin);
  CHECK(most.low == -most.high);
  const ValueRange half = statistics.RangeBy(RangeMode::kPercentile, 50);
  CHECK(std::abs(half.high - 0.5) <= bin);
  // Without negatives 8-bit numbers begin at 0.
  const ValueRange positive =
      StatisticsOfValues({0, 1, 2, 3}).RangeBy(RangeMode::kPercentile, 100);
  CHECK(positive.low == 0);
  CHECK(positive.high == doctest::Approx(3).epsilon(1e-3));
  CHECK_FALSE(StatisticsOfValues({0, NAN}).finite());
  // A tensor of zeros has a range, too.
  CHECK(StatisticsOfValues({0, 0}).RangeBy(RangeMode::kNaive, 0).high > 0);
}

Model LoadNetwork(const std::string& text) {
  LoadOptions options;
  options.require_supported = true;
  auto model = LoadText(
      std::make_shared<SourceFile>(SourceFile{"net-symbol.json", text}),
      options);
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  REQUIRE(InferTypes(model->graph, false).ok());
  return std::move(*model);
}

// A residual block, the input of which is brought to its width by a layer
// without a function; pooled, joined with itself through another layer.
constexpr const char* kBlock = R"({"mxc": 1, "name": "net",
  "inputs": {"data": [2, 3, 8, 8]},
  "nodes": [
    {"op": "Convolution", "name": "c0", "kernel": [3, 3], "pad": [1, 1], "num_filter": 8, "no_bias": true},
    {"op": "BatchNorm", "name": "b0"},
    {"op": "Activation", "name": "r0", "act_type": "relu"},
    {"op": "Convolution", "name": "c1", "kernel": [3, 3], "pad": [1, 1], "num_filter": 8},
    {"op": "Convolution", "name": "c2", "kernel": [1, 1], "num_filter": 8, "inputs": ["data"]},
    {"op": "elemwise_add", "name": "add", "inputs": ["c1", "c2"]},
    {"op": "relu", "name": "r1"},
    {"op": "Pooling", "name": "pool", "kernel": [2, 2], "stride": [2, 2], "pool_type": "max"},
    {"op": "FullyConnected", "name": "f0", "num_hidden": 16},
    {"op": "Activation", "name": "r2", "act_type": "relu"},
    {"op": "FullyConnected", "name": "f1", "num_hidden": 10},
    {"op": "softmax", "name": "softmax"} ] })";

std::vector<std::string> NamesOf(const std::vector<FusedLayer>& layers) {
  std::vector<std::string> names;
  for (const FusedLayer& layer : layers) {
    std::string& name = names.emplace_back();
    for (const Node* node : layer.nodes()) name += " " + node->name;
  }
  return names;
}

TEST_CASE("layers are found with what follows them") {
  const Model model = LoadNetwork(kBlock);
  CHECK(NamesOf(FindFusedLayers(model.graph)) ==
        std::vector<std::string>{" c0 b0 r0", " c2", " c1 add r1", " f0 r2",
                                 " f1"});
}

int CountOf(const Graph& graph, std::string_view op) {
  int count = 0;
  for (const Node* node : graph.TopologicalOrder()) count += node->Is(op);
  return count;
}

Model Quantized(const std::vector<bool>& chosen) {
  Model model = LoadNetwork(kBlock);
  const std::vector<FusedLayer> layers = FindFusedLayers(model.graph);
  ValueRanges ranges;
  for (const Value value : RangedValues(layers)) {
    const bool data = value.node->name == "data";
    const bool is_signed = value.node->Is("Convolution");
    ranges[TensorId(value)] = {data || is_signed ? -1.0 : 0.0, 4};
  }
  QuantizeGraph(layers, chosen, ranges, model.graph);
  return LoadNetwork(WriteSymbol(model.graph));
}

TEST_CASE("numbers stay of 8 bits from layer to layer") {
  const Model model = Quantized(std::vector<bool>(5, true));
  CHECK(CountOf(model.graph, "_quantized_layer") == 5);
  CHECK(CountOf(model.graph, "_contrib_quantize_v2") == 1);  // of data
  CHECK(CountOf(model.graph, "_contrib_dequantize") == 0);   // f1 has floats
  CHECK(CountOf(model.graph, "_contrib_quantized_pooling") == 1);
  // The summand has signs, and so has the sum: relu follows it.
  CHECK(CountOf(model.graph, "_contrib_quantized_act") == 1);
  // Outputs have the names that they had.
  CHECK(model.graph.outputs[0].node->name == "softmax");
  for (const Node* node : model.graph.Variables(VariableRole::kParameter)) {
    CHECK(node->types[0].dtype == DType::kF32);
  }
}

TEST_CASE("a layer of floats reads floats") {
  const Model model = Quantized({false, true, true, true, false});
  CHECK(CountOf(model.graph, "_quantized_layer") == 3);
  CHECK(CountOf(model.graph, "Convolution") == 1);
  CHECK(CountOf(model.graph, "FullyConnected") == 1);
  // data and r0.
  CHECK(CountOf(model.graph, "_contrib_quantize_v2") == 2);
  const Model none = Quantized(std::vector<bool>(5, false));
  CHECK(CountOf(none.graph, "_quantized_layer") == 0);
  CHECK(CountOf(none.graph, "_contrib_quantize_v2") == 0);
}

}  // namespace
}  // namespace mxc
