// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/verify_gradient.h"

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
    AddPoint(values);
  }
  ~Written() { std::remove(path.c_str()); }

  // Another point with such data.
  void AddPoint(const std::vector<float>& data) {
    points.push_back(
        {{"data", Tensor::FromFloats({2, 3, 5, 5}, data)},
         {"softmax_label", Tensor::FromFloats({2}, std::vector{1.0F, 3.0F})}});
  }
  // All of it the same.
  void AddPoint(float value) {
    AddPoint(std::vector<float>(2 * 3 * 5 * 5, value));
  }

  const std::string path;
  CompileRequest request;
  std::vector<std::map<std::string, Tensor>> points;
};

Result<GradientReport> Check(const Written& net, double tolerance) {
  MXC_ASSIGN(const auto network, LoadedNetwork::Read(net.request.network));
  const auto at = [&](size_t point) { return Result(net.points.at(point)); };
  return CheckGradients(net.request, *network, {net.points.size(), at},
                        tolerance);
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

namespace {

const std::string kHead = R"(
    {"op": "Flatten"},
    {"op": "FullyConnected", "name": "fc", "num_hidden": 4},
    {"op": "SoftmaxOutput", "name": "softmax"})";
const std::string kWrongHead =
    R"({"op": "_contrib_gradientmultiplier", "scalar": 3},)" + kHead;
// Layers in front of these: the gradient multiplier is wrong for this one alone.
const std::string kLayerText =
    R"({"op": "Convolution", "name": "conv", "num_filter": 4, "kernel": [3, 3]},)";

// log(x - 0.5): of the points' first data no number.
const std::string kLog = R"({"op": "_minus_scalar", "scalar": 0.5},
    {"op": "log"},)";

// Logits so far apart that probabilities are below FLT_MIN, but no double 0.
const std::string kSteep = R"({"op": "_mul_scalar", "scalar": 1e5},)";

}  // namespace

TEST_CASE("verify --grad: a loss that is no number is compared elsewhere") {
  Written net(kLog + kLayerText + kHead);
  net.AddPoint(0.4F);
  net.AddPoint(0.75F);
  const auto report = Check(net, 1e-4);
  REQUIRE_MESSAGE(report.ok(), Render(report.errors()));
  CHECK(report->compared == 4);
  REQUIRE(report->moved.size() == 1);
  CHECK(report->moved[0].output == "softmax_output");
  CHECK(report->moved[0].point == 2);
  CHECK_FALSE(report->moved[0].was_cut_off);
  CHECK(report->is_complete());
}

TEST_CASE("verify --grad: what is wrong is found elsewhere, too") {
  Written net(kLog + kLayerText + kWrongHead);
  net.AddPoint(0.75F);
  const auto report = Check(net, 1e-4);
  REQUIRE_FALSE(report.ok());
  CHECK(report.errors()[0].message.find("is wrong") != std::string::npos);
}

TEST_CASE(
    "verify --grad: a loss that is nowhere a number is compared with nothing") {
  Written net(kLog + kLayerText + kWrongHead);
  net.AddPoint(0.25F);
  const auto report = Check(net, 1e-4);
  REQUIRE_MESSAGE(report.ok(), Render(report.errors()));
  CHECK(report->compared == 0);
  CHECK(report->not_finite == std::vector<std::string>{"softmax_output"});
  CHECK_FALSE(report->is_complete());
}

TEST_CASE("verify --grad: probabilities that the loss cuts off are compared") {
  Written net(kSteep + kLayerText + kHead);
  const auto report = Check(net, 1e-4);
  REQUIRE_MESSAGE(report.ok(), Render(report.errors()));
  CHECK(report->compared == 4);
  CHECK(report->moved.empty());
  CHECK(report->is_complete());
  Written wrong(kSteep + kLayerText + kWrongHead);
  CHECK_FALSE(Check(wrong, 1e-4).ok());
}

}  // namespace mxc
