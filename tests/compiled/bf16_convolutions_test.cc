// SPDX-License-Identifier: Apache-2.0
// Convolutional networks kept in bf16, by the processor's units for pairs.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "codegen/codegen.h"
#include "ir/program/steps/contraction.h"
#include "runtime/mxc.hpp"
#include "tests/passes/network.h"
#include "tests/support/levels.h"

namespace mxc {
namespace {

// As MobileNet begins: 3 channels, 24 of which each has a kernel of its own, 40.
Network FirstLayers() {
  Network net("first");
  Value x = net.Input("x", {1, 3, 45, 38});
  const auto relu = [&](const std::string& name, Value y) {
    return net.Op("Activation", name, {y}, {{"act_type", "relu"}});
  };
  x = relu("a/relu",
           net.Convolution("a", x, 3, 24, 3,
                           {{"stride", "(2, 2)"}, {"pad", "(1, 1)"}}));
  const Value own = net.Constant("own", {24, 1, 3, 3});
  x = relu("b/relu", net.Op("Convolution", "b", {x, own},
                            {{"kernel", "(3, 3)"},
                             {"pad", "(1, 1)"},
                             {"num_filter", "24"},
                             {"num_group", "24"},
                             {"no_bias", "True"}}));
  net.Output(net.Convolution("c", x, 24, 40, 1));
  return net;
}

Program Narrowed(const Network& net, const Target& target) {
  const auto catalog = MakeKernelCatalog(target);
  PassContext context{&target, catalog.get()};
  context.storage = DType::kBF16;
  auto program = RunPipeline(net.Copy(), context, PassOptions());
  REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
  return std::move(*program);
}

const Contraction& FirstContraction(const Program& program) {
  const auto found = std::ranges::find_if(
      program.steps, [](const Step& s) { return s.contraction() != nullptr; });
  REQUIRE(found != program.steps.end());
  return found->contraction()->contraction;
}

std::vector<float> Outputs(const Program& program, const Target& target,
                           const Network& net) {
  const std::string path =
      fmt::format("{}/mxc-bf16-{}.mxa",
                  std::filesystem::temp_directory_path().string(), getpid());
  REQUIRE(WriteArtifact(path, {&program, 1}, target).ok());
  const api::Model model(path);
  std::filesystem::remove(path);
  api::Executor executor(model, {});
  executor.SetInput("x", net.inputs.at("x").floats());
  executor.Run();
  const auto output = executor.Output<float>(0);
  return {output.begin(), output.end()};
}

TEST_CASE("a first layer reads a copy of its input in bf16 where it pays") {
  const Network net = FirstLayers();
  const Target pairs = *ResolveTarget("x86-64-v4-bf16");
  const Target plain = *ResolveTarget("x86-64-v4");
  CHECK(FirstContraction(Narrowed(net, pairs)).types.data == DType::kBF16);
  CHECK(FirstContraction(Narrowed(net, plain)).types.data == DType::kF32);
}

TEST_CASE("convolutions of bf16 are off by its digits") {
  const Target target = *ResolveTarget("x86-64-v4-bf16");
  if (!test::CanRun(target)) {
    MESSAGE("skipped: this processor has no AVX512-BF16");
    return;
  }
  const Network net = FirstLayers();
  const Tensor expected = Run(Compile(net, PassOptions()), net.inputs)[0];
  const auto actual = Outputs(Narrowed(net, target), target, net);
  REQUIRE(actual.size() == static_cast<size_t>(expected.shape().elements()));
  double largest = 0, error = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    const double want = expected.At(static_cast<int64_t>(i));
    largest = std::max(largest, std::fabs(want));
    error = std::max(error, std::fabs(actual[i] - want));
  }
  CHECK(error > 0);
  CHECK(error < 0x1p-6 * largest);
}

}  // namespace
}  // namespace mxc
