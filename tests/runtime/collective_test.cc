// SPDX-License-Identifier: Apache-2.0
// Steps that devices do together, where there is one, and what is refused about
// them. Several: tests/collectives.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/runtime/api.h"
#include "tests/runtime/block_artifacts.h"

namespace mxc::test {
namespace {

// sums = all_reduce(data), of two tensors at once
TestArtifact SharedArtifact(const std::string& device) {
  TestEntry e;
  e.buffers = {{"data", {1, kWide}, MXC_BUFFER_INPUT},
               {"twice", {1, kWide}, MXC_BUFFER_INTERNAL, 0},
               {"sum", {1, kWide}, MXC_BUFFER_OUTPUT},
               {"sum of twice", {1, kWide}, MXC_BUFFER_OUTPUT},
               {"rows", {2, kWide}, MXC_BUFFER_INTERNAL, 4096}};
  e.steps = {{"scale", kScale, {0}, {1}, 64},
             Collective("all_reduce", 0, {0, 1}, {2, 3})};
  e.inputs = {0};
  e.outputs = {2, 3};
  e.arena_bytes = 3 * 4096;
  TestArtifact artifact;
  artifact.entries = {e};
  artifact.device = device;
  return artifact;
}

TEST_CASE("a device that is alone has what it brought") {
  for (const char* device : {"", "null"}) {
    CAPTURE(device);
    const ModelHandle model =
        Open(WriteTemporary("shared", SharedArtifact(device).File()));
    const ExecutorHandle executor = Bind(model.get(), 2);
    const std::vector<float> data = ChainInput(4);
    SetInput(executor.get(), data);
    REQUIRE(Message(mxc_run(executor.get())) == "");
    CHECK(Output(executor.get(), 0) == data);
    std::vector<float> twice = data;
    for (float& value : twice) value = 2 * value + 1;
    CHECK(Output(executor.get(), 1) == twice);
  }
}

TEST_CASE("every rule of collectives is enforced") {
  const auto check = [](const char* message, auto change) {
    TestArtifact artifact = SharedArtifact("null");
    change(artifact.entries.front());
    CHECK(ComplaintAbout(artifact) == message);
  };
  check("", [](TestEntry&) {});
  check("entry 0, step 1: unknown collective",
        [](TestEntry& e) { e.steps[1].attributes = "all_reduces"; });
  check("entry 0, step 1: tensors without what becomes of them",
        [](TestEntry& e) { e.steps[1].outputs = {2}; });
  check("entry 0, step 1: a collective of another type or size",
        [](TestEntry& e) { e.steps[1].outputs = {4, 3}; });
  check("entry 0, step 1: a collective of another type or size",
        [](TestEntry& e) { e.buffers[2].dtype = 4; });
  check("entry 0, step 1: a sum of what is no float",
        [](TestEntry& e) { e.buffers[0].dtype = e.buffers[2].dtype = 4; });
  check("entry 0, step 1: a collective with tasks, flags or a block of steps",
        [](TestEntry& e) { e.steps[1].flags = 1; });
  check("entry 0, step 1: a collective with tasks, flags or a block of steps",
        [](TestEntry& e) { e.steps[1].tasks = 1; });
  check("entry 0, step 1: writes to an input or a weight",
        [](TestEntry& e) { e.steps[1].outputs = {2, 0}; });
  check("entry 0, step 1: unknown place",
        [](TestEntry& e) { e.steps[1].place = MXC_PLACE_HOST; });
  const auto gathers = [](int64_t members) {
    return [members](TestEntry& e) {
      e.steps[1] = Collective("all_gather", members, {0}, {4});
    };
  };
  check("", gathers(2));
  for (const int64_t members : {0, 1, 3}) {
    check("entry 0, step 1: a collective of another type or size",
          gathers(members));
  }
  const auto scatters = [](int64_t members) {
    return [members](TestEntry& e) {
      e.steps[1] = Collective("reduce_scatter", members, {4}, {2});
    };
  };
  check("", scatters(2));
  for (const int64_t members : {0, 1, 3}) {
    check("entry 0, step 1: a collective of another type or size",
          scatters(members));
  }
}

}  // namespace
}  // namespace mxc::test
