// SPDX-License-Identifier: Apache-2.0
// Random networks, compiled with random subsets of the passes, against the
// interpreter. MXC_SEEDS=1000 tries more of them.
#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/cases/engine.h"
#include "tests/passes/random_network.h"

namespace mxc {
namespace {

int Seeds() {
  const char* given = std::getenv("MXC_SEEDS");
  return given ? std::atoi(given) : 10;
}

TEST_CASE("compiled random networks give the interpreter's numbers") {
  for (int seed = 0; seed < Seeds(); ++seed) {
    CAPTURE(seed);
    RandomNetwork random(seed, 48, seed % 2 == 0 ? 1 : 16);
    const Network& net = random.network();
    PassOptions required;
    required.level = 0;
    const auto expected = Run(Compile(net, required), net.inputs);
    EngineOptions options;
    options.engine = "compiled";
    options.target = seed % 2 == 0 ? "x86-64-v4" : "x86-64-v3";
    options.threads = 1 + seed % 3;
    if (seed % 3 == 0) options.disabled = RandomlyDisabled(random);
    std::string without;
    for (const std::string& pass : options.disabled) without += pass + " ";
    CAPTURE(without);
    CAPTURE(options.target);
    CAPTURE(Print(net.Copy()));
    const auto actual = RunGraph(net.Copy(), net.inputs, options);
    REQUIRE_MESSAGE(actual.ok(), Render(actual.errors()));
    CHECK(Distance(*actual, expected) < 1e-4);
  }
}

TEST_CASE("compiled random networks give the same numbers image by image") {
  for (int seed = 0; seed < Seeds(); ++seed) {
    CAPTURE(seed);
    RandomNetwork random(seed, 36, /*block=*/seed % 2 == 0 ? 8 : 1,
                         /*images=*/seed % 3 == 0 ? 32 : 8);
    const Network& net = random.network();
    EngineOptions options;
    options.engine = "compiled";
    options.target = seed % 2 == 0 ? "x86-64-v4" : "x86-64-v3";
    options.threads = 1 + seed % 3;
    options.disabled = {"tile-and-fuse"};
    const auto apart = RunGraph(net.Copy(), net.inputs, options);
    REQUIRE_MESSAGE(apart.ok(), Render(apart.errors()));
    options.disabled = {};
    options.cache_bytes = 1 << 10;
    CAPTURE(options.target);
    CAPTURE(Print(net.Copy()));
    const auto fused = RunGraph(net.Copy(), net.inputs, options);
    REQUIRE_MESSAGE(fused.ok(), Render(fused.errors()));
    CHECK(Distance(*fused, *apart) < 1e-5);
  }
}

}  // namespace
}  // namespace mxc
