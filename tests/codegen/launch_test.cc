// SPDX-License-Identifier: Apache-2.0
// Several steps in one launch of an emulated device.
#include <doctest/doctest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "codegen/backend.h"
#include "codegen/cuda/gpu_machine.h"
#include "codegen/cuda/product_shape.h"
#include "ir/program/steps/launch.h"
#include "ir/support/diagnostic.h"
#include "tests/codegen/contraction_case.h"
#include "tests/codegen/device_step.h"

namespace mxc::test {
namespace {

Program Parse(const std::string& text) {
  auto program = ParseProgram(
      std::make_shared<SourceFile>(SourceFile{"case", "program @t.t " + text}));
  REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
  return std::move(*program);
}

// The steps of the programs, which have no buffer in common, as one launch.
Program Together(const std::vector<Program>& programs) {
  Program whole;
  Program inside;
  inside.places[kKernelPlace].arena_bytes = inside.lower_bound_bytes =
      inside.naive_bytes = 0;
  Step launch;
  // Inputs come first.
  for (const bool inputs : {true, false}) {
    for (const Program& program : programs) {
      for (const Step& step : program.steps) {
        for (const int b : inputs ? step.inputs : step.outputs) {
          Buffer buffer = program.buffers[b];
          if (buffer.kind == BufferKind::kOutput && inputs) continue;
          buffer.kind = inputs ? BufferKind::kInput : BufferKind::kOutput;
          const int number = static_cast<int>(whole.buffers.size());
          (inputs ? launch.inputs : launch.outputs).push_back(number);
          whole.buffers.push_back(buffer);
          inside.buffers.push_back(std::move(buffer));
        }
      }
    }
  }
  size_t in = 0, out = 0;
  for (const Program& program : programs) {
    Step step = program.steps[0];
    for (int& b : step.inputs) b = launch.inputs[in++];
    for (int& b : step.outputs) b = launch.outputs[out++];
    inside.steps.push_back(std::move(step));
  }
  launch.body = Launch{std::make_shared<const Program>(std::move(inside))};
  whole.steps = {std::move(launch)};
  const auto wrong = Verify(whole);
  REQUIRE_MESSAGE(!wrong, *wrong);
  return whole;
}

// A batch norm without its scale, and its input doubled beside it.
std::string Normalized(const std::string& in_place,
                       const std::string& parts = "{0:6 1:40 2:5 3:8}") {
  const std::string type = "f32[6, 40, 5, 8] " + parts;
  const std::string buffers =
      "buffer 0 \"x\" " + type + " input\nbuffer 1 \"u\" " + type +
      " input\n"
      "buffer 2 \"m\" f32[1, 40, 1, 1] {0:1 1:40 2:1 3:1} output\n"
      "buffer 3 \"y\" " +
      type + " output" + in_place + "\nbuffer 4 \"z\" " + type + " output\n";
  return "{\n" + buffers + "step \"all\" (0, 1) -> (2, 3, 4)\n" +
         "launch arena 0 lower 0 naive 0 {\n" + buffers +
         "step \"m\" (0) -> (2)\n"
         "store 0 (0, 0, 0, 0) + (1, 40, 1, 1) = sum{r0 in 0 .. 6, r1 in 0 .. "
         "5, r2 in 0 .. 8}(%0[r0, i1, r1, r2])\n"
         "step \"z\" (1) -> (4)\n"
         "store 0 (0, 0, 0, 0) + (6, 40, 5, 8) = %0[i0, i1, i2, i3] * 2.5\n"
         "step \"y\" (0, 2) -> (3)\n"
         "store 0 (0, 0, 0, 0) + (6, 40, 5, 8) = "
         "%0[i0, i1, i2, i3] * 3.5 - %1[0, i1, 0, 0]\n"
         "}\n}\n";
}

Program ProductOf(const Contraction& c) {
  const auto found = ProductCandidates(c, GpuMachineOf(EmulatedTarget()));
  REQUIRE(!found.empty());
  ContractionCase twice;
  twice.contraction = c;
  twice.epilogue = Acc(DType::kF32) + Acc(DType::kF32);
  return Build(twice, found[0]);
}

bool SameBytes(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), 4 * a.size()) == 0;
}

}  // namespace

TEST_CASE("a block adds its channel and goes on with the sum") {
  for (const std::string in_place : {"", " alias 0"}) {
    CAPTURE(in_place);
    DeviceStep step(Parse(Normalized(in_place)));
    // A block for each channel, and z's vectors behind them.
    const uint32_t threads = step.launch().block[0];
    CHECK(threads == 32);
    CHECK(step.launch().grid[0] == 40 + 6 * 40 * 5 * 8 / 4 / threads);
    const std::vector<float> expected = step.Run({});
    REQUIRE(step.wrong() == "");
    CHECK(step.Error(expected) < 1e-6);
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      CHECK(SameBytes(step.Run({.backwards = true, .seed = seed}), expected));
    }
    // The lanes of a channel wait for the one that writes its sum.
    bool noticed = false;
    for (uint64_t seed = 1; seed <= 8 && !noticed; ++seed) {
      const auto other = step.Run({.seed = seed, .without_barrier = 1});
      noticed = !SameBytes(other, expected);
    }
    CHECK(noticed);
  }
}

// Which leaves a thread 64 registers.
TEST_CASE("no product shares the blocks of 1024 threads that others need") {
  const auto candidate = [](int64_t rows) {
    Program sums =
        Parse("{\nbuffer 0 \"x\" f32[" + std::to_string(rows) +
              ", 16] {0:" + std::to_string(rows) +
              " 1:16} input\nbuffer 1 \"s\" f32[16] {0:16} output\n"
              "step \"s\" (0) -> (1)\nstore 0 (0) + (16) = sum{r0 in 0 .. " +
              std::to_string(rows) + "}(%0[r0, i0])\n}\n");
    const Program whole =
        Together({ProductOf(Product(1, 128, 64, 64)), std::move(sums)});
    const Program& inside = *whole.steps[0].body.As<Launch>()->inside;
    const Target target = EmulatedTarget();
    const auto catalog = BackendOf(target).MakeCatalog(target, {});
    std::vector<const Step*> steps;
    for (const Step& step : inside.steps) steps.push_back(&step);
    return catalog->RunsAtOnce(inside, steps);
  };
  CHECK(candidate(512));
  CHECK(!candidate(65536));
}

TEST_CASE("of channels that lie side by side a block has a vector") {
  for (const std::string in_place : {"", " alias 0"}) {
    CAPTURE(in_place);
    DeviceStep step(Parse(Normalized(in_place, "{0:6 2:5 3:8 1:40}")));
    const uint32_t threads = step.launch().block[0];
    CHECK(threads == 128);
    CHECK(step.launch().grid[0] == 40 / 4 + 6 * 40 * 5 * 8 / 4 / threads + 1);
    const std::vector<float> expected = step.Run({});
    REQUIRE(step.wrong() == "");
    CHECK(step.Error(expected) < 1e-6);
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      CHECK(SameBytes(step.Run({.backwards = true, .seed = seed}), expected));
    }
    // Warps share the sums, and wait for the one that writes them.
    for (const uint32_t barrier : {1u, 2u}) {
      bool noticed = false;
      for (uint64_t seed = 1; seed <= 8 && !noticed; ++seed) {
        const auto other = step.Run({.seed = seed, .without_barrier = barrier});
        noticed = !SameBytes(other, expected);
      }
      CHECK(noticed);
    }
  }
}

TEST_CASE("both gradients of a convolution, and what is independent of them") {
  const ConvolutionShape shape = {.batch = 2,
                                  .in = 32,
                                  .out = 72,
                                  .input = {9, 8},
                                  .kernel = {3, 3},
                                  .pad = {1, 1}};
  DeviceStep step(Together(
      {ProductOf(BackwardData(shape)), ProductOf(BackwardWeight(shape)),
       Parse("{\n"
             "buffer 0 \"x\" f32[1000] {0:1000} input\n"
             "buffer 1 \"y\" f32[1000] {0:1000} output\n"
             "step \"y\" (0) -> (1)\n"
             "store 0 (0) + (1000) = %0[i0] * 2.5\n}\n")}));
  const std::vector<float> expected = step.Run({});
  REQUIRE(step.wrong() == "");
  CHECK(step.Error(expected) < 1e-6);
  CHECK(SameBytes(step.Run({.backwards = true, .seed = 1}), expected));
}

TEST_CASE("few channels, long ones, keep a launch for their sums") {
  const auto runs_at_once = [](const std::string& extents,
                               const std::string& layout, int channels) {
    const Program program = Parse(
        "{\nbuffer 0 \"x\" f32" + extents + " " + layout + " input\n" +
        "buffer 1 \"m\" f32[" + std::to_string(channels) + "] {0:" +
        std::to_string(channels) + "} internal\n" + "buffer 2 \"y\" f32" +
        extents + " " + layout + " output\n" + "step \"m\" (0) -> (1)\n" +
        "store 0 (0) + (" + std::to_string(channels) +
        ") = sum{r0 in 0 .. 8, r1 in 0 .. 65536}(%0[r0, i0, r1])\n" +
        "step \"y\" (0, 1) -> (2)\nstore 0 (0, 0, 0) + (8, " +
        std::to_string(channels) + ", 65536) = %0[i0, i1, i2] - %1[i1]\n}\n");
    const Target target = EmulatedTarget();
    const auto catalog = BackendOf(target).MakeCatalog(target, {});
    const Step* steps[] = {&program.steps[0], &program.steps[1]};
    return catalog->RunsAtOnce(program, steps);
  };
  CHECK(runs_at_once("[8, 64, 65536]", "{0:8 1:64 2:65536}", 64));
  CHECK(!runs_at_once("[8, 3, 65536]", "{0:8 1:3 2:65536}", 3));
}

}  // namespace mxc::test
