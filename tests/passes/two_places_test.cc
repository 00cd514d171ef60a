// SPDX-License-Identifier: Apache-2.0
// Values that go to the host and come back keep their places in all passes, and
// no two of them meet, in neither arena.
#include <doctest/doctest.h>

#include <algorithm>

#include "ir/program/add_buffer.h"
#include "ir/program/steps/copy.h"
#include "ir/program/steps/start.h"
#include "tests/passes/blocked_catalog.h"
#include "tests/passes/detours.h"

namespace mxc {
namespace {

Step CopyFrom(int from, int to, const Program& program) {
  Step step;
  step.name = program.buffers[to].name + "/copy";
  step.inputs = {from};
  step.outputs = {to};
  step.body = Copy();
  return step;
}

// The value goes to the host, is copied there, and comes back.
int AddTravels(Program& program, RandomNetwork& random) {
  return AddDetours(program, random, [&](int output, std::vector<Step>& steps) {
    const TensorType type = program.buffers[output].type;
    int from = output;
    const Place host = program.PlaceFor(PlaceKind::kHost);
    for (const Place place : {host, host, kKernelPlace}) {
      const int to = AddBuffer(program, program.buffers[from].name + "'", type);
      program.buffers[to].place = place;
      steps.push_back(CopyFrom(from, to, program));
      from = to;
    }
    return from;
  });
}

TEST_CASE("values on the host go through all passes and keep their place") {
  const BlockedCatalog catalog;
  Target target = *ResolveTarget("x86-64-v3");
  target.device = "null";
  // So that steps pass by tiles.
  target.machine.l2.bytes = target.machine.l3.bytes = 1 << 10;
  PassContext context{&target, &catalog};
  int travels = 0, starts = 0;
  ForLoweredNetworks(context, [&](Program& program, RandomNetwork& random) {
    const int added = AddTravels(program, random);
    RunEveryPass(program, context, [] {});
    const auto there = std::ranges::count_if(
        program.buffers,
        [&](const Buffer& b) { return program.IsOnHost(b) && b.offset >= 0; });
    CHECK(there >= 2 * added);
    CHECK((program.ArenaBytesOf(PlaceKind::kHost) > 0) == (added > 0));
    travels += added;
    starts += static_cast<int>(std::ranges::count_if(
        program.steps,
        [](const Step& s) { return s.body.As<Start>() != nullptr; }));
  });
  CHECK(travels > 40);
  CHECK(starts > 0);
}

}  // namespace
}  // namespace mxc
