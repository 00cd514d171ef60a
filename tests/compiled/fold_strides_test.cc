// SPDX-License-Identifier: Apache-2.0
// Strided first layers, which fold-strides makes convolutions of stride 1.
#include <doctest/doctest.h>

#include <algorithm>

#include "codegen/codegen.h"
#include "tests/cases/engine.h"
#include "tests/passes/network.h"
#include "tests/support/levels.h"

namespace mxc {
namespace {

struct StridedLayer {
  int64_t channels, kernel, stride, pad, height, width;
};

Network NetworkOf(const StridedLayer& layer) {
  Network net;
  const Value data =
      net.Input("data", {2, layer.channels, layer.height, layer.width});
  const auto both = [](int64_t n) { return fmt::format("({0}, {0})", n); };
  net.Output(net.Convolution(
      "conv", data, layer.channels, 64, layer.kernel,
      {{"stride", both(layer.stride)}, {"pad", both(layer.pad)}}));
  return net;
}

bool Folds(const Network& net, const Target& target) {
  const auto catalog = MakeKernelCatalog(target);
  const Program program = Compile(net, PassOptions(), catalog.get());
  return std::ranges::any_of(program.buffers, [](const Buffer& buffer) {
    return buffer.name == "data/phases" && buffer.kind == BufferKind::kInternal;
  });
}

TEST_CASE("strided first layers give the same numbers at stride 1") {
  for (const StridedLayer& layer :
       {StridedLayer{3, 7, 2, 3, 60, 44},   // ResNet
        StridedLayer{3, 11, 4, 2, 83, 62},  // AlexNet
        StridedLayer{3, 8, 2, 0, 51, 64},   //
        StridedLayer{1, 13, 4, 6, 60, 61},  //
        StridedLayer{4, 12, 3, 1, 50, 70}}) {
    CAPTURE(layer.kernel);
    const Network net = NetworkOf(layer);
    PassOptions required;
    required.level = 0;
    const auto expected = Run(Compile(net, required), net.inputs);
    for (const char* name : {"x86-64-v3", "x86-64-v4"}) {
      CAPTURE(name);
      const Target target = *ResolveTarget(name);
      CHECK(Folds(net, target));
      if (!test::CanRun(target)) continue;
      EngineOptions options;
      options.engine = "compiled";
      options.target = name;
      const auto actual = RunGraph(net.Copy(), net.inputs, options);
      REQUIRE_MESSAGE(actual.ok(), Render(actual.errors()));
      CHECK(Distance(*actual, expected) < 2e-5);
    }
  }
}

TEST_CASE("small kernels and those without a faster algorithm stay strided") {
  const Target target = *ResolveTarget("x86-64-v3");
  CHECK(!Folds(NetworkOf({3, 3, 2, 1, 60, 60}), target));
  CHECK(!Folds(NetworkOf({3, 4, 4, 0, 64, 64}), target));
}

}  // namespace
}  // namespace mxc
