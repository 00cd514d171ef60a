// SPDX-License-Identifier: Apache-2.0
#include "tools/verify_gradient.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

namespace mxc {
namespace {

// A network of its own in a file, and numbers to feed it with.
struct Written {
  explicit Written(const std::string& nodes)
      : path("/tmp/mxc-verify-gradient-" + std::to_string(getpid()) + ".json") {
    std::ofstream(path) << R"({ "mxc": 1, "name": "net",
  "inputs": {"data": ["N", 3, 5, 5]}, "nodes": [)"
                        << nodes << "] }";
    request.network.model = path;
    request.network.init = "normal";
    request.batches = {2};
    std::vector<float> values;
    for (int i = 0; i < 2 * 3 * 5 * 5; ++i) {
      values.push_back(static_cast<float>((i * 37 % 101) / 101.0));
    }
    inputs["data"] = Tensor::FromFloats({2, 3, 5, 5}, values);
    inputs["softmax_label"] = Tensor::FromFloats({2}, std::vector<float>{1, 3});
  }
  ~Written() { std::remove(path.c_str()); }

  const std::string path;
  CompileRequest request;
  std::map<std::string, Tensor> inputs;
};

Result<GradientReport> Check(const Written& net, double tolerance) {
  MXC_ASSIGN(const auto network, LoadedNetwork::Read(net.request.network));
  return CheckGradients(net.request, *network, net.inputs, tolerance);
}

}  // namespace

TEST_CASE("verify --grad: a small network's gradients are right") {
  Written net(R"(
    {"op": "Convolution", "name": "conv", "num_filter": 4, "kernel": [3, 3]},
    {"op": "BatchNorm", "name": "bn", "fix_gamma": false},
    {"op": "Activation", "act_type": "tanh"},
    {"op": "Flatten"},
    {"op": "FullyConnected", "name": "fc", "num_hidden": 4},
    {"op": "SoftmaxOutput", "name": "softmax"})");
  const auto report = Check(net, 1e-4);
  REQUIRE_MESSAGE(report.ok(), Render(report.errors()));
  // conv and fc with their biases, bn_gamma, bn_beta.
  CHECK(report->compared == 6);
  CHECK(report->rough.empty());
  CHECK(report->largest < 1e-5);
}

// The one difference between a gradient and calculus that anyone can order.
TEST_CASE("verify --grad: a gradient that differs is named") {
  Written net(R"(
    {"op": "Flatten"},
    {"op": "FullyConnected", "name": "fc1", "num_hidden": 6},
    {"op": "_contrib_gradientmultiplier", "scalar": 3},
    {"op": "FullyConnected", "name": "fc2", "num_hidden": 4},
    {"op": "SoftmaxOutput", "name": "softmax"})");
  const auto report = Check(net, 1e-4);
  REQUIRE_FALSE(report.ok());
  CHECK(report.errors()[0].message.find("is wrong") != std::string::npos);
}

}  // namespace mxc
