// SPDX-License-Identifier: Apache-2.0
// Code for "A@B" computes the bytes of code for "B@B", whatever A's vectors and
// registers are: here, levels of this machine in the order of one of them and of other
// processors; with MXC_TEST_TARGET (tests/cross/operators), another processor beside
// this machine.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "tests/cases/engine.h"
#include "tests/cases/other_machine.h"
#include "tests/passes/random_convolution.h"
#include "tests/passes/random_network.h"
#include "tests/support/levels.h"

namespace mxc {
namespace {

// Orders in which products and sums round once, and in which each does.
constexpr const char* kOrders[] = {"x86-64-v4", "x86-64-v3", "aarch64",
                                   "x86-64-v2"};

// How a network is run so that the bytes must be equal.
std::vector<EngineOptions> WaysOf(const std::string& order) {
  std::vector<EngineOptions> ways;
  const auto add = [&](const std::string& name, bool here) {
    if (!ResolveTarget(name + "@" + order).ok()) return;  // it has no fma
    EngineOptions options;
    options.engine = "compiled";
    options.target = name + "@" + order;
    options.here = here;
    ways.push_back(options);
  };
  for (const Target& target : test::RunnableTargets()) add(target.name, false);
  if (test::OtherMachine::Get() != nullptr) add("native", true);
  return ways;
}

// Which NaN an operation makes is the processor's.
bool EqualButNans(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type()) return false;
  for (int64_t i = 0; i < a.shape().elements(); ++i) {
    const double x = a.At(i), y = b.At(i);
    if (std::isnan(x) && std::isnan(y)) continue;
    if (std::memcmp(&x, &y, sizeof x) != 0) return false;
  }
  return true;
}

void CheckBytes(const Network& net) {
  CAPTURE(Print(net.Copy()));
  for (const std::string order : kOrders) {
    CAPTURE(order);
    std::vector<Tensor> first;
    for (const EngineOptions& options : WaysOf(order)) {
      CAPTURE(options.target);
      const auto outputs = RunGraph(net.Copy(), net.inputs, options);
      REQUIRE_MESSAGE(outputs.ok(), Render(outputs.errors()));
      if (first.empty()) first = *outputs;
      for (size_t i = 0; i < first.size(); ++i) {
        CHECK(EqualButNans((*outputs)[i], first[i]));
      }
    }
  }
}

TEST_CASE("a target names the order of its level, or of another") {
  const Target own = *ResolveTarget("x86-64-v4");
  const Target other = *ResolveTarget("aarch64@x86-64-v4");
  CHECK(own.keeps_own_order());
  CHECK_FALSE(other.keeps_own_order());
  CHECK(other.order == own.order);
  CHECK(other.triple != own.triple);
  CHECK(ResolveTarget("aarch64")->order != own.order);
}

TEST_CASE("random networks have the same bytes on processors of one order") {
  for (int seed = 100; seed < 112; ++seed) {
    CAPTURE(seed);
    CheckBytes(RandomNetwork(seed, 48, seed % 2 == 0 ? 1 : 16).network());
  }
}

TEST_CASE("convolutions' gradients have the same bytes in one order") {
  for (uint32_t seed = 2000; seed < 2010; ++seed) {
    const RandomConvolution c(seed);
    CheckBytes(c.DataGradient());
    CheckBytes(c.WeightGradient());
  }
}

// Ends of rows that fill no vector are added under masks, or one by one.
TEST_CASE("sums of rows have the same bytes in one order") {
  for (const int64_t columns : {5, 37, 300}) {
    for (const char* op : {"softmax", "mean", "norm"}) {
      Network net("rows");
      const Value x = net.Input("x", {7, columns});
      std::vector<AttrText> attrs = {{"axis", "1"}};
      if (op == std::string("norm")) attrs.emplace_back("ord", "2");
      net.Output(net.Op(op, "rows", {x}, attrs));
      CheckBytes(net);
    }
  }
}

TEST_CASE("products have the same bytes in one order") {
  for (const int64_t rows : {1, 9}) {
    for (const int64_t inputs : {70, 600}) {
      Network net("product");
      const Value x = net.Input("x", {rows, inputs});
      const Value w = net.Input("w", {83, inputs});
      net.Output(net.Op("FullyConnected", "y", {x, w},
                        {{"num_hidden", "83"}, {"no_bias", "True"}}));
      CheckBytes(net);
    }
  }
}

}  // namespace
}  // namespace mxc
