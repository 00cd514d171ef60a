// SPDX-License-Identifier: Apache-2.0
// Scans as planned repeats: what they compute, and the memory that they take.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/passes/network.h"

namespace mxc {
namespace {

constexpr int64_t kLength = 1000;

// A turn adds 1 to what it is handed. `output`: 0 for the last value, 1 for the
// history.
Network Counting(int64_t turns, std::vector<int> outputs) {
  Network net("counting");
  const Value x = net.Input("x", {kLength});
  const Value last = net.Op("_scan", "turns", {x},
                            {{"num_args", "1"},
                             {"turns", std::to_string(turns)},
                             {"carried", "1"},
                             {"body", fmt::format(R"(graph @turn {{
  %0 "arg0" = input f32[{0}]
  %1 "next" = _plus_scalar(%0) {{scalar = "1"}} : f32[{0}]
  return %1 "output0"
}}
)",
                                                  kLength)}});
  for (const int k : outputs) net.Output(last.node->out(k));
  return net;
}

TEST_CASE("what only the last turn leaves is not kept for the others") {
  const Program few = Compile(Counting(2, {0}), {});
  const Program many = Compile(Counting(1000000, {0}), {});
  CHECK(few.arena_bytes() == many.arena_bytes());
  // The value lies in the output; one more would have 4,000 bytes.
  CHECK(many.arena_bytes() < 4 * kLength);
}

TEST_CASE("a history takes the bytes of all turns and one more") {
  Network net = Counting(9, {0});
  const Value history = net.graph.outputs[0].node->out(1);
  net.graph.outputs[0] = net.Op("sum", "sums", {history}, {{"axis", "0"}});
  const Program program = Compile(net, {});
  CHECK(program.arena_bytes() >= 10 * 4 * kLength);
  CHECK(program.arena_bytes() < 11 * 4 * kLength);
}

TEST_CASE("the last value is that of the history") {
  const Network net = Counting(3, {0, 1});
  for (const int level : {0, 2}) {
    PassOptions options;
    options.level = level;
    const auto outputs = Run(Compile(net, options), net.inputs);
    const Tensor& x = net.inputs.at("x");
    for (const int64_t i : {int64_t{0}, kLength - 1}) {
      CHECK(outputs[0].At(i) == doctest::Approx(x.At(i) + 3));
      CHECK(outputs[1].At(i) == x.At(i));
      CHECK(outputs[1].At(2 * kLength + i) == doctest::Approx(x.At(i) + 2));
      CHECK(outputs[1].At(3 * kLength + i) == outputs[0].At(i));
    }
  }
}

}  // namespace
}  // namespace mxc
