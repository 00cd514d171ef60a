// SPDX-License-Identifier: Apache-2.0
// Steps that tests put behind others, on the way from a value to its readers,
// and all program passes one after the other.
#pragma once

#include <doctest/doctest.h>

#include <map>
#include <utility>
#include <vector>

#include "passes/passes.h"
#include "tests/passes/arena_machine.h"
#include "tests/passes/random_network.h"

namespace mxc {

// Behind some of the steps that write an internal buffer: make(buffer, steps)
// appends steps and returns what readers read in its place. Returns how many.
template <class Make>
int AddDetours(Program& program, RandomNetwork& random, Make make) {
  int detours = 0;
  std::vector<Step> steps;
  std::map<int, int> replaced;
  for (Step& step : std::exchange(program.steps, {})) {
    for (int& input : step.inputs) {
      const auto found = replaced.find(input);
      if (found != replaced.end()) input = found->second;
    }
    const int output = step.outputs[0];
    const bool internal = program.buffers[output].kind == BufferKind::kInternal;
    const bool view = step.view;
    steps.push_back(std::move(step));
    if (!internal || view || random.Pick(3) != 0) continue;
    replaced[output] = make(output, steps);
    ++detours;
  }
  program.steps = std::move(steps);
  return detours;
}

// Verifies after each, and calls check().
template <class Check>
void RunEveryPass(Program& program, PassContext& context, Check check) {
  for (const PassDescription& pass : AllPasses()) {
    if (pass.stage != "program") continue;
    CAPTURE(pass.name);
    const auto changed = RunProgramPass(pass.name, program, context);
    REQUIRE(changed.ok());
    const auto broken = Verify(program);
    REQUIRE_MESSAGE(!broken, *broken);
    check();
  }
}

// Calls change(program, random) for random networks as they are lowered. Their
// values must stay, also in one arena: it plans the memory.
template <class Change>
void ForLoweredNetworks(PassContext& context, Change change) {
  for (int seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    RandomNetwork random(seed, 12, seed % 2 == 0 ? 1 : 4,
                         seed % 3 == 0 ? 8 : 0);
    const Network& net = random.network();
    Graph graph = net.Copy();
    REQUIRE(RunGraphPasses(graph, context, {}).ok());
    auto program = Lower(graph, context);
    REQUIRE(program.ok());
    const auto expected = Run(*program, net.inputs);
    change(*program, random);
    CAPTURE(Print(*program));
    CHECK(Distance(Run(*program, net.inputs), expected) < 1e-4);
    CHECK(Distance(ArenaMachine(*program, net.inputs).Run(), expected) < 1e-4);
  }
}

}  // namespace mxc
