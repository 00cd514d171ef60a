// SPDX-License-Identifier: Apache-2.0
// Weights of Winograd's and Strassen's kernels, transformed in the file or when
// it is opened.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "codegen/codegen.h"
#include "runtime/mxc.hpp"
#include "tests/passes/network.h"
#include "tests/support/levels.h"

namespace mxc {
namespace {

using FloatRow = std::vector<float>;

// Two convolutions that share a weight, and a third one.
Network ThreeConvolutions() {
  Network net("three");
  Value x = net.Input("x", {1, 32, 16, 16});
  const Value weight = net.Constant("shared", {32, 32, 3, 3});
  const std::vector<AttrText> attrs = {{"kernel", "(3, 3)"},
                                       {"pad", "(1, 1)"},
                                       {"num_filter", "32"},
                                       {"no_bias", "True"}};
  for (const char* name : {"a", "b"}) {
    x = net.Op("Convolution", name, {x, weight}, attrs);
    x = net.Op("Activation", std::string(name) + "/relu", {x},
               {{"act_type", "relu"}});
  }
  net.Output(net.Convolution("c", x, 32, 48, 3, {{"pad", "(1, 1)"}}));
  return net;
}

struct Answer {
  FloatRow output;
  int64_t weight_bytes = 0;
};

Answer Run(std::span<const Program> entries, const Target& target,
           const Network& net) {
  const std::string path =
      fmt::format("{}/mxc-prepared-{}.mxa",
                  std::filesystem::temp_directory_path().string(), getpid());
  const auto sizes = WriteArtifact(path, entries, target);
  REQUIRE(sizes.ok());
  const api::Model model(path);
  std::filesystem::remove(path);
  api::Executor executor(model, {});
  executor.SetInput("x", net.inputs.at("x").floats());
  executor.Run();
  const auto output = executor.Output<float>(0);
  return {{output.begin(), output.end()}, sizes->weight_bytes};
}

// One whose weight is multiplied in quarters.
Network Pointwise() {
  Network net("pointwise");
  const Value x = net.Input("x", {1, 256, 15, 15});
  net.Output(net.Convolution("a", x, 256, 512, 1, {}));
  return net;
}

// Answers agree; the file has `elements` of weights, and before
// `larger` times as many or more.
void CheckPrepared(Network net, const Target& target,
                   const CatalogOptions& options, size_t steps,
                   int64_t elements, double larger) {
  const auto catalog = MakeKernelCatalog(target, options);
  auto program = RunPipeline(std::move(net.graph), {&target, catalog.get()},
                             PassOptions{});
  REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
  program->entry.purpose = Purpose::kInfer;
  std::vector<Program> entries = {*program};
  const Answer in_file = Run(entries, target, net);
  auto preparation = MakePreparation(entries);
  REQUIRE(preparation);
  CHECK(preparation->steps.size() == steps);
  entries.push_back(std::move(*preparation));
  const Answer at_load = Run(entries, target, net);
  CHECK(at_load.weight_bytes < 4 * elements + 256);
  CHECK(static_cast<double>(in_file.weight_bytes) >
        larger * static_cast<double>(at_load.weight_bytes));
  float largest = 0;
  for (const float value : in_file.output) {
    largest = std::max(largest, std::abs(value));
  }
  REQUIRE(in_file.output.size() == at_load.output.size());
  for (size_t i = 0; i < in_file.output.size(); ++i) {
    CHECK(std::abs(in_file.output[i] - at_load.output[i]) < 2e-5f * largest);
  }
}

}  // namespace

TEST_CASE("weights that are transformed at load give the same answers") {
  for (const char* level : {"x86-64-v2", "x86-64-v3"}) {
    CAPTURE(level);
    const auto target = ResolveTarget(level);
    REQUIRE(target.ok());
    if (!test::CanRun(*target)) continue;
    CheckPrepared(ThreeConvolutions(), *target, {}, 2, 9 * 32 * 80 + 48, 1.5);
    CheckPrepared(Pointwise(), *target, {.options = {{"strassen", "on"}}}, 1,
                  256 * 512 + 512, 1.7);
  }
}

}  // namespace mxc
