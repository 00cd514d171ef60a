// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include "ir/program/steps/contraction.h"
#include "tests/passes/arena_machine.h"
#include "tests/passes/blocked_catalog.h"
#include "tests/passes/channels_last_catalog.h"
#include "tests/passes/networks.h"

namespace mxc {
namespace {

TEST_CASE("planned programs run in one arena without losing a value") {
  const BlockedCatalog catalog;
  for (const Network& net : AllNetworks()) {
    CAPTURE(net.graph.name);
    PassOptions required;
    required.level = 0;
    const auto expected = Run(Compile(net, required), net.inputs);
    for (const KernelCatalog* kernels :
         {static_cast<const KernelCatalog*>(nullptr),
          static_cast<const KernelCatalog*>(&catalog)}) {
      const Program program = Compile(net, {}, kernels);
      CAPTURE(Print(program));
      CHECK(Distance(ArenaMachine(program, net.inputs).Run(), expected) < 1e-5);
    }
  }
}

TEST_CASE("on a device, too, with channels last") {
  const ChannelsLastCatalog catalog;
  int last = 0;
  for (const Network& net : AllNetworks()) {
    CAPTURE(net.graph.name);
    const auto expected = Run(Compile(net, {}), net.inputs);
    const Program program = Compile(net, {}, &catalog, 0, "null");
    CAPTURE(Print(program));
    CHECK(Distance(ArenaMachine(program, net.inputs).Run(), expected) < 1e-5);
    last += static_cast<int>(
        std::ranges::count_if(program.buffers, [](const Buffer& buffer) {
          return buffer.kind == BufferKind::kInternal &&
                 !buffer.layout.row_major();
        }));
  }
  CHECK(last > 10);
}

TEST_CASE("branches write into their concatenation") {
  const BlockedCatalog catalog;
  const Program program = Compile(Branches(), {}, &catalog);
  const auto join = std::ranges::find_if(
      program.steps, [](const Step& s) { return s.name == "join"; });
  CAPTURE(Print(program));
  REQUIRE(join != program.steps.end());
  CHECK(IsInPlace(program, *join));
  const int whole = join->outputs[0];
  std::vector<int64_t> begins;
  for (const int part : join->inputs) {
    CHECK(program.Root(part) == whole);
    begins.push_back(program.BytesIntoRoot(part));
  }
  // 4 and 8 channels in blocks of 4.
  const int64_t block = program.buffers[whole].bytes() / 3;
  CHECK(begins == std::vector<int64_t>{0, block});
}

TEST_CASE("channels that lie side by side stay so between kernels") {
  const ChannelsLastCatalog catalog;
  const Program program = Compile(Branches(), {}, &catalog, 0, "null");
  CAPTURE(Print(program));
  const auto join = std::ranges::find_if(
      program.steps, [](const Step& s) { return s.name == "join"; });
  REQUIRE(join != program.steps.end());
  for (const int operand : join->operands()) {
    const Buffer& buffer = program.buffers[operand];
    CHECK(buffer.layout == Layout::AxisLast(buffer.type.shape, 1));
    CHECK(!buffer.layout.row_major());
  }
}

// The data of a chosen kernel, as its catalog entry asks for it.
TEST_CASE("chosen kernels find their blocks and borders") {
  const BlockedCatalog catalog;
  int checked = 0;
  for (const Network& net : AllNetworks()) {
    CAPTURE(net.graph.name);
    const Program program = Compile(net, {}, &catalog);
    for (const Step& step : program.steps) {
      const ContractionStep* body = step.contraction();
      if (body == nullptr) continue;
      CAPTURE(step.name);
      const KernelCandidate kernel =
          catalog.Candidates(body->contraction).front();
      CHECK(body->choice == kernel.choice);
      const Layout& data = program.buffers[step.inputs[0]].layout;
      const Layout& output = program.buffers[step.outputs[0]].layout;
      CHECK(program.buffers[step.inputs[1]].layout == kernel.weight);
      CHECK(output.block(1) == kernel.output_block);
      if (body->contraction.kernel.empty()) {
        CHECK(data.row_major());
        continue;
      }
      CHECK(data.block(1) == kernel.data_block);
      for (size_t k = 0; k < kernel.halo_low.size(); ++k) {
        CHECK(data.halo_low[k + 2] >= kernel.halo_low[k]);
        CHECK(data.halo_high[k + 2] >= kernel.halo_high[k]);
      }
      ++checked;
    }
  }
  CHECK(checked > 10);
}

}  // namespace
}  // namespace mxc
