// SPDX-License-Identifier: Apache-2.0
// Compiled scans that end early, against the same loops in C++.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/cases/engine.h"
#include "tests/passes/network.h"

namespace mxc {
namespace {

constexpr int64_t kWide = 50;

Tensor Filled(DType dtype, double value) {
  return Tensor::Filled({dtype, Shape{1}}, value);
}

std::vector<Tensor> RunBy(const char* engine, int threads, const Network& net) {
  EngineOptions options;
  options.engine = engine;
  options.threads = threads;
  auto outputs = RunGraph(net.Copy(), net.inputs, options);
  REQUIRE_MESSAGE(outputs.ok(), Render(outputs.errors()));
  return *outputs;
}

void ForEachEngine(const std::function<void(const char*, int)>& check) {
  for (const char* engine : {"interpreter", "compiled"}) {
    for (const int threads : {1, 2}) {
      CAPTURE(engine);
      CAPTURE(threads);
      check(engine, threads);
    }
  }
}

// x doubles while its first element is below the limit. Outputs: the number of
// turns, x, and, with `rows`, what x was in each turn.
Network Doubling(int64_t most, bool rows) {
  Network net("doubling");
  const Value first = net.Input("first", {1});
  const Value x = net.Input("x", {kWide});
  const Value limit = net.Input("limit", {1});
  const Value none =
      net.graph.AddConstant("none", Filled(DType::kI64, 0))->out();
  const Value scan =
      net.Op("_scan", "turns", {first, none, x, limit},
             {{"num_args", "4"},
              {"turns", std::to_string(most)},
              {"carried", "3"},
              {"stacks", rows ? "1" : "0"},
              {"conditional", "True"},
              {"body", fmt::format(R"(graph @turn {{
  %0 "arg0" = input f32[1]
  %1 "arg1" = input i64[1]
  %2 "arg2" = input f32[{0}]
  %3 "arg3" = input f32[1]
  %4 "turns" = _plus_scalar(%1) {{scalar = "1"}} : i64[1]
  %5 "next" = _mul_scalar(%2) {{scalar = "2"}} : f32[{0}]
  %6 "head" = slice_axis(%5) {{axis = "0", begin = "0", end = "1"}} : f32[1]
  %7 "below" = broadcast_lesser(%6, %3) : f32[1]
  return %7 "output0", %4 "output1", %5 "output2"{1}
}}
)",
                                   kWide, rows ? ", %2 \"output3\"" : "")}});
  for (int k = 1; k < (rows ? 4 : 3); ++k) net.Output(scan.node->out(k));
  net.inputs["x"] = Tensor::Filled({DType::kF32, Shape{kWide}}, 1);
  return net;
}

TEST_CASE("a compiled scan ends when its condition fails") {
  constexpr int64_t kMost = 6;
  Network net = Doubling(kMost, true);
  for (const float limit : {0.0f, 2.0f, 3.0f, 1000.0f}) {
    for (const float first : {0.0f, 1.0f}) {
      net.inputs["limit"] = Filled(DType::kF32, limit);
      net.inputs["first"] = Filled(DType::kF32, first);
      std::vector<float> rows;
      float x = 1;
      for (bool more = first != 0; more && std::ssize(rows) < kMost;) {
        rows.push_back(x);
        x *= 2;
        more = x < limit;
      }
      ForEachEngine([&](const char* engine, int threads) {
        const auto outputs = RunBy(engine, threads, net);
        CHECK(outputs[0].At(0) == static_cast<double>(rows.size()));
        CHECK(outputs[1].At(kWide - 1) == x);
        for (int64_t t = 0; t < kMost; ++t) {
          const bool ran = t < std::ssize(rows);
          CHECK(outputs[2].At(t * kWide) == (ran ? rows[t] : 0));
          CHECK(outputs[2].At((t + 1) * kWide - 1) == (ran ? rows[t] : 0));
        }
      });
    }
  }
}

// Neither its time nor its memory is that of all turns.
TEST_CASE("a scan that may take two thousand million turns takes five") {
  Network net = Doubling(INT32_MAX, false);
  net.inputs["limit"] = Filled(DType::kF32, 32);
  net.inputs["first"] = Filled(DType::kF32, 1);
  CHECK(Compile(net, {}).arena_bytes() ==
        Compile(Doubling(2, false), {}).arena_bytes());
  ForEachEngine([&](const char* engine, int threads) {
    const auto outputs = RunBy(engine, threads, net);
    CHECK(outputs[0].At(0) == 5);
    CHECK(outputs[1].At(0) == 32);
  });
}

TEST_CASE("a counted scan takes the turns of its first slices") {
  constexpr int64_t kSlices = 7;
  for (const bool reversed : {false, true}) {
    Network net("counted");
    const Value x = net.Input("x", {kSlices, kWide});
    const Value h = net.Input("h", {kWide});
    const Value count = net.Input("count", {1}, DType::kI64);
    const Value scan = net.Op("_scan", "turns", {x, h, count},
                              {{"num_args", "3"},
                               {"turns", std::to_string(kSlices)},
                               {"slices", "1"},
                               {"carried", "1"},
                               {"stacks", "1"},
                               {"counted", "True"},
                               {"reversed", PrintBool(reversed)},
                               {"body", fmt::format(R"(graph @turn {{
  %0 "arg0" = input f32[{0}]
  %1 "arg1" = input f32[{0}]
  %2 "arg2" = input i64[1]
  %3 "half" = _mul_scalar(%1) {{scalar = "0.5"}} : f32[{0}]
  %4 "next" = elemwise_add(%0, %3) : f32[{0}]
  return %4 "output0", %3 "output1"
}}
)",
                                                    kWide)}});
    net.Output(scan);
    net.Output(scan.node->out(1));
    for (const int64_t slices : {0, 1, 4, 7}) {
      net.inputs["count"] = Filled(DType::kI64, static_cast<double>(slices));
      ForEachEngine([&](const char* engine, int threads) {
        const auto outputs = RunBy(engine, threads, net);
        for (const int64_t i : {int64_t{0}, kWide - 1}) {
          double last = net.inputs["h"].At(i);
          for (int64_t k = 0; k < kSlices; ++k) {
            const int64_t t = reversed ? kSlices - 1 - k : k;
            const double half = t < slices ? last / 2 : 0;
            CHECK(outputs[1].At(t * kWide + i) == doctest::Approx(half));
            if (t < slices) last = half + net.inputs["x"].At(t * kWide + i);
          }
          CHECK(outputs[0].At(i) == doctest::Approx(last));
        }
      });
    }
  }
}

}  // namespace
}  // namespace mxc
