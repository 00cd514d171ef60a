// SPDX-License-Identifier: Apache-2.0
// Networks that are called like operators.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/ndarray/graph_handle.h"

namespace mxc::test {
namespace {

const std::string kLayer = R"({"nodes": [
  {"op": "null", "name": "data", "inputs": []},
  {"op": "null", "name": "fc_weight", "inputs": []},
  {"op": "null", "name": "fc_bias", "inputs": []},
  {"op": "FullyConnected", "name": "fc", "attrs": {"num_hidden": "2"},
   "inputs": [[0, 0, 0], [1, 0, 0], [2, 0, 0]]},
  {"op": "Activation", "name": "act", "attrs": {"act_type": "relu"},
   "inputs": [[3, 0, 0]]}],
  "arg_nodes": [0, 1, 2], "heads": [[4, 0, 0], [3, 0, 0]],
  "attrs": {"mxnet_version": ["int", 10901]}})";

const std::string kNorm = R"({"nodes": [
  {"op": "null", "name": "data", "inputs": []},
  {"op": "null", "name": "gamma", "inputs": []},
  {"op": "null", "name": "beta", "inputs": []},
  {"op": "null", "name": "mean", "inputs": []},
  {"op": "null", "name": "var", "inputs": []},
  {"op": "BatchNorm", "name": "bn",
   "attrs": {"momentum": "0.5", "fix_gamma": "False", "eps": "0.001"},
   "inputs": [[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0], [4, 0, 0]]}],
  "arg_nodes": [0, 1, 2, 3, 4], "heads": [[5, 0, 0]],
  "attrs": {"mxnet_version": ["int", 10901]}})";

const std::string kDropout = R"({"nodes": [
  {"op": "null", "name": "data", "inputs": []},
  {"op": "Dropout", "name": "drop", "attrs": {"p": "0.5"},
   "inputs": [[0, 0, 0]]}],
  "arg_nodes": [0], "heads": [[1, 0, 0]],
  "attrs": {"mxnet_version": ["int", 10901]}})";

using Names = std::vector<std::string>;

TEST_CASE("a network has MXNet's lists of arguments, states and outputs") {
  const NetworkHandle layer(kLayer), norm(kNorm);
  CHECK(layer.Names(MXC_GRAPH_ARGUMENTS) ==
        Names{"data", "fc_weight", "fc_bias"});
  CHECK(layer.Names(MXC_GRAPH_AUXILIARY).empty());
  CHECK(layer.Names(MXC_GRAPH_OUTPUTS) == Names{"act_output", "fc_output"});
  CHECK(norm.Names(MXC_GRAPH_ARGUMENTS) == Names{"data", "gamma", "beta"});
  CHECK(norm.Names(MXC_GRAPH_AUXILIARY) == Names{"mean", "var"});
  CHECK(mxc_graph_name(norm.get(), MXC_GRAPH_OUTPUTS, 1) == nullptr);
}

TEST_CASE("a call of a network computes it, compiled for each type") {
  const NetworkHandle layer(kLayer);
  const NDArray weight = Make({2, 3}, {1, 2, 3, -1, -2, -3}),
                bias = Make({2}, {0.5, 1});
  const NDArray one = Make({1, 3}, {1, 1, 1}),
                two = Make({2, 3}, {1, 0, 0, 0, 0, -1});
  const auto first = layer.Call({one.get(), weight.get(), bias.get()}, false);
  CHECK(Values(first[0]) == std::vector<float>{6.5, 0});
  CHECK(Values(first[1]) == std::vector<float>{6.5, -5});
  const auto second = layer.Call({two.get(), weight.get(), bias.get()}, false);
  CHECK(Values(second[0]) == std::vector<float>{1.5, 0, 0, 4});
  std::vector<mxc_ndarray*> outputs = {nullptr};
  CHECK(MessageOf(layer.Call({weight.get(), one.get(), bias.get()}, outputs,
                             false)) ==
        "graph(float32[2,3], float32[1,3], float32[2]): FullyConnected 'fc': "
        "input 1 has shape (1, 3), expected (2, 3)");
  CHECK(MessageOf(layer.Call({one.get()}, outputs, false)) ==
        "graph(float32[1,3]): 1 inputs are given, expected 3 arguments and 0 "
        "auxiliary states");
}

TEST_CASE("training writes auxiliary states in place, and nothing else does") {
  const NetworkHandle norm(kNorm);
  const NDArray data = Make({4, 1}, {1, 2, 3, 6}), gamma = Make({1}, {2}),
                beta = Make({1}, {1}), mean = Make({1}, {10}),
                var = Make({1}, {4});
  const std::vector<mxc_ndarray*> inputs = {data.get(), gamma.get(), beta.get(),
                                            mean.get(), var.get()};
  const auto scored = norm.Call(inputs, false);
  CHECK(Values(mean) == std::vector<float>{10});
  CHECK(Values(scored[0])[0] ==
        doctest::Approx(2 * (1 - 10) / std::sqrt(4.001) + 1));
  const auto trained = norm.Call(inputs, true);
  // The batch has mean 3 and variance 3.5.
  CHECK(Values(mean)[0] == doctest::Approx(6.5));
  CHECK(Values(var)[0] == doctest::Approx(3.75));
  CHECK(Values(trained[0])[3] ==
        doctest::Approx(2 * (6 - 3) / std::sqrt(3.501) + 1));
}

TEST_CASE("what a network draws follows from the seed and the order of calls") {
  const NetworkHandle dropout(kDropout);
  const NDArray data = Make({64}, std::vector<float>(64, 1));
  const auto draw = [&] { return Values(dropout.Call({data.get()}, true)[0]); };
  Expect(mxc_ndarray_seed(7));
  const std::vector<float> first = draw(), second = draw();
  CHECK(first != second);
  for (const float value : first) CHECK((value == 0 || value == 2));
  Expect(mxc_ndarray_seed(7));
  CHECK(draw() == first);
  CHECK(Values(dropout.Call({data.get()}, false)[0]) == Values(data));
}

TEST_CASE("types follow in both directions, as far as they are known") {
  const NetworkHandle layer(kLayer);
  NetworkHandle::Types inputs = {{-1, 2, {0, 5}}, {-1, -1, {}}, {-1, -1, {}}};
  NetworkHandle::Types outputs;
  Expect(layer.Infer(inputs, outputs, true));
  CHECK(NetworkHandle::Text(inputs) == "?[0,5] ?[2,5] ?[2]");
  CHECK(NetworkHandle::Text(outputs) == "?[0,2] ?[0,2]");
  inputs[0].dims[0] = 4;
  inputs[1].dtype = MXC_F16;
  Expect(layer.Infer(inputs, outputs, false));
  CHECK(NetworkHandle::Text(inputs) == "2[4,5] 2[2,5] 2[2]");
  CHECK(NetworkHandle::Text(outputs) == "2[4,2] 2[4,2]");
  inputs[2].dims[0] = 3;
  CHECK(MessageOf(layer.Infer(inputs, outputs, true)) ==
        "FullyConnected 'fc': bias has shape (3), expected (2)");
  inputs = {{-1, -1, {}}, {-1, -1, {}}, {-1, -1, {}}};
  CHECK(MessageOf(layer.Infer(inputs, outputs, false))
            .starts_with("the shape of 'data' is unknown"));
  mxc_graph* none = nullptr;
  CHECK(MessageOf(mxc_graph_read("{", &none)) != "");
}

}  // namespace
}  // namespace mxc::test
