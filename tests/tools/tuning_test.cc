// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/tune/tuning.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "ir/program/add_buffer.h"
#include "ir/program/contraction_text.h"
#include "ir/program/steps/map.h"
#include "tests/tools/contractions.h"
#include "tools/driver/tune/kernel_timer.h"
#include "tools/driver/tune/tuned_catalog.h"

namespace mxc {
namespace {

using Names = std::vector<std::string>;

KernelCandidate Kernel(const std::string& algorithm, double cost) {
  KernelCandidate kernel;
  kernel.choice = {algorithm, {8, 6, 2}};
  kernel.data_block = kernel.output_block = 8;
  kernel.cost = cost;
  return kernel;
}

// One for which the target has kernels that are worth comparing.
Contraction WorthTuning(const Target& target) {
  const auto catalog = MakeKernelCatalog(target);
  for (const int64_t channels : {16, 32, 64, 128}) {
    for (const int64_t size : {7, 12, 14, 28}) {
      const Contraction c = SquareConvolution(channels, channels, size);
      if (WorthMeasuring(catalog->Candidates(c)).size() >= 2) return c;
    }
  }
  FAIL("no contraction has kernels worth comparing for ", target.name);
  return {};
}

// Says the same of every contraction.
class Stated : public KernelCatalog {
 public:
  explicit Stated(std::vector<KernelCandidate> kernels)
      : kernels_(std::move(kernels)) {}
  std::vector<KernelCandidate> Candidates(const Contraction&) const override {
    return kernels_;
  }

 private:
  const std::vector<KernelCandidate> kernels_;
};

std::string NameOf(const KernelCandidate& kernel) {
  return Stated({}).NameOf(kernel);
}

Names AlgorithmsOf(const std::vector<KernelCandidate>& kernels) {
  Names names;
  for (const KernelCandidate& kernel : kernels) {
    names.push_back(kernel.choice.algorithm);
  }
  return names;
}

Progress silent;

const Contraction kMeasured = SquareConvolution(8, 8, 8);

// The order after both were measured.
Names Order(const std::vector<KernelCandidate>& kernels,
            std::map<std::string, KernelTimes> times) {
  const Stated model(kernels);
  TuningCache cache;
  cache.Put("t", ToString(kMeasured), {"m", 2, std::move(times)});
  return AlgorithmsOf(TunedCatalog(model, cache, "t").Candidates(kMeasured));
}

// A file that goes with the test.
struct CacheFile {
  CacheFile()
      : path(std::filesystem::temp_directory_path() /
             fmt::format("mxc-tuning-{}.json", getpid())) {}
  ~CacheFile() { std::filesystem::remove(path); }
  const std::string path;
};

}  // namespace

TEST_CASE("tuning: what was measured to be faster comes first") {
  const std::vector<KernelCandidate> kernels = {Kernel("a", 1.0),
                                                Kernel("b", 1.2)};
  const std::string a = NameOf(kernels[0]), b = NameOf(kernels[1]);
  CHECK(Order(kernels, {{a, {100, 50}}, {b, {80, 40}}}) == Names{"b", "a"});
  CHECK(Order(kernels, {{a, {80, 40}}, {b, {100, 50}}}) == Names{"a", "b"});
  // One thread and all count alike; a hundredth is noise.
  CHECK(Order(kernels, {{a, {100, 50}}, {b, {110, 40}}}) == Names{"b", "a"});
  CHECK(Order(kernels, {{a, {100, 50}}, {b, {99, 50}}}) == Names{"a", "b"});
  // Half of an answer is none.
  CHECK(Order(kernels, {{b, {1, 1}}}) == Names{"a", "b"});
}

// A convolution by the kernel, whose bytes do not count.
Program By(const KernelCandidate& kernel) {
  Program program;
  Step step;
  for (const BufferKind kind :
       {BufferKind::kInput, BufferKind::kInput, BufferKind::kOutput}) {
    const int b = AddBuffer(program, "b", {DType::kF32, Shape{1}}, kind);
    (kind == BufferKind::kOutput ? step.outputs : step.inputs).push_back(b);
  }
  step.body = ContractionStep{kMeasured, Acc(DType::kF32), kernel.choice};
  program.steps.push_back(step);
  return program;
}

TEST_CASE("tuning: steps take what was measured, and to ask notes nothing") {
  const std::vector<KernelCandidate> kernels = {Kernel("a", 1.0),
                                                Kernel("b", 1.2)};
  const Stated model(kernels);
  TuningCache cache;
  const TunedCatalog tuned(model, cache, "t");
  const auto seconds = [&](int kernel) {
    const Program program = By(kernels[kernel]);
    return tuned.Seconds(program, program.steps[0]);
  };
  CHECK(seconds(0) == doctest::Approx(1.0));
  CHECK(seconds(1) == doctest::Approx(1.2));
  CHECK(tuned.questions().empty());
  // The second one is twice as fast as the first, whose time is the model's.
  cache.Put(
      "t", ToString(kMeasured),
      {"m",
       2,
       {{NameOf(kernels[0]), {100, 50}}, {NameOf(kernels[1]), {50, 25}}}});
  CHECK(seconds(0) == doctest::Approx(1.0));
  CHECK(seconds(1) == doctest::Approx(0.5));
  for (const KernelCandidate& kernel : tuned.Candidates(kMeasured)) {
    const Program program = By(kernel);
    CHECK(tuned.WorkSeconds(program, program.steps[0]) == kernel.cost);
  }
}

TEST_CASE("tuning: what a catalog says of other steps is the model's") {
  const auto target = ResolveTarget("cuda:sm_80");
  const auto model = MakeKernelCatalog(*target);
  const TuningCache cache;
  const TunedCatalog tuned(*model, cache, target->name);
  // Sums of few, long rows, which few blocks share.
  Program program;
  Step step;
  step.inputs = {AddBuffer(program, "x", {DType::kF32, Shape{4, 1 << 20}},
                           BufferKind::kInput)};
  step.outputs = {
      AddBuffer(program, "y", {DType::kF32, Shape{4}}, BufferKind::kOutput)};
  const int k = FreshReductionVar();
  const Expr sum = Reduce(ReduceOp::kSum, {{k, 0, Expr(1 << 20)}},
                          Load(0, DType::kF32, {Var(0), Var(k)}));
  step.body = Map{{{0, {0}, {4}, sum}}};
  program.steps.push_back(step);
  const double seconds = model->KernelSeconds(program, program.steps[0]);
  CHECK(seconds > 0);
  CHECK(tuned.KernelSeconds(program, program.steps[0]) == seconds);
  CHECK(tuned.Seconds(program, program.steps[0]) ==
        model->Seconds(program, program.steps[0]));
  // Two elementwise steps are told to the device at once.
  Program two;
  std::vector<const Step*> steps;
  for (const int i : {0, 1}) {
    Step each;
    const TensorType type = {DType::kF32, Shape{1 << 16}};
    each.inputs = {
        AddBuffer(two, fmt::format("x{}", i), type, BufferKind::kInput)};
    each.outputs = {
        AddBuffer(two, fmt::format("y{}", i), type, BufferKind::kOutput)};
    each.body = Map{
        {{0, {0}, {1 << 16}, Load(0, DType::kF32, {Var(0)}) * Constant(2)}}};
    two.steps.push_back(each);
  }
  for (const Step& each : two.steps) steps.push_back(&each);
  CHECK(model->RunsAtOnce(two, steps));
  CHECK(tuned.RunsAtOnce(two, steps));
}

TEST_CASE("tuning: only kernels on the same layouts, and near, are compared") {
  KernelCandidate plain = Kernel("plain", 1.1);
  plain.data_block = 1;
  const std::vector<KernelCandidate> kernels = {
      Kernel("a", 1.0), plain, Kernel("b", 1.2), Kernel("far", 2.0)};
  CHECK(AlgorithmsOf(WorthMeasuring(kernels)) == Names{"a", "b"});
  CHECK(Order(kernels, {{NameOf(kernels[0]), {100, 50}},
                        {NameOf(plain), {1, 1}},
                        {NameOf(kernels[2]), {80, 40}}}) ==
        Names{"b", "a", "plain", "far"});
}

TEST_CASE("tuning: kernels keep the names that caches of others have") {
  KernelCandidate kernel = Kernel("winograd4", 1);
  const auto host = MakeKernelCatalog(*ResolveTarget("x86-64-v3"));
  CHECK(host->NameOf(kernel) == "winograd4 8c 6x2");
  CHECK(host->Describe(kernel.choice) == "winograd4 8c");
  kernel.data_block = 1;
  kernel.parts = 4;
  CHECK(host->NameOf(kernel) == "winograd4 8c 6x2 row-major 4 parts");

  const auto gpu = MakeKernelCatalog(*ResolveTarget("cuda:sm_80"));
  kernel.choice = {"mma", {128, 64, 32, 0, 0}};
  CHECK(gpu->NameOf(kernel) == "mma 128x64 4 parts");
  kernel.choice = gpu->WithLibrary({"mma", {128, 64, 64, 1, 0}});
  kernel.parts = 0;
  CHECK(gpu->NameOf(kernel) ==
        "mma 128x64 by 64 rows, channels last or library");
}

TEST_CASE("tuning: measures once, then the cache knows") {
  const CacheFile file;
  const auto target = ResolveTarget("native");
  REQUIRE(target.ok());
  TuningOptions options{file.path, 20, /*measure=*/true};
  const Contraction layer = WorthTuning(*target);
  std::vector<Names> orders;
  for (int round = 0; round < 2; ++round) {
    auto tuning = Tuning::Open(options, *target, {});
    REQUIRE_MESSAGE(tuning.ok(), Render(tuning.errors()));
    tuning->catalog().Candidates(layer);
    const auto learned = tuning->Measure(silent);
    REQUIRE_MESSAGE(learned.ok(), Render(learned.errors()));
    CHECK(*learned == (round == 0));
    const TuningReport report = tuning->Report();
    CHECK(report.contractions == 1);
    CHECK(report.measured == (round == 0 ? 1 : 0));
    CHECK(report.cached == (round == 0 ? 0 : 1));
    orders.push_back(AlgorithmsOf(tuning->catalog().Candidates(layer)));
  }
  CHECK(orders[0] == orders[1]);
}

TEST_CASE("tuning: every kernel can be tried, forward and of gradients") {
  const auto target = ResolveTarget("native");
  const auto catalog = MakeKernelCatalog(*target);
  Contraction product;
  product.batch = 32;
  product.in = 48;
  product.out = 64;
  product.data_axes = {Role::kBatch, Role::kIn};
  product.weight_axes = {Role::kIn, Role::kOut};
  product.output_axes = {Role::kBatch, Role::kOut};
  Contraction data_gradient = SquareConvolution(32, 64, 12);
  data_gradient.flip = true;
  data_gradient.weight_axes = {Role::kGroupIn, Role::kOut, Role::kSpatial0,
                               Role::kSpatial1};
  KernelTimer timer(*target);
  for (const Contraction& c : {SquareConvolution(64, 64, 12), data_gradient,
                               WeightGradient(8, 32, 12), product}) {
    CAPTURE(ToString(c));
    const auto kernels = catalog->Candidates(c);
    REQUIRE(kernels.size() >= 2);
    const auto times = timer.Measure(c, kernels, *catalog, Stopwatch(), 60);
    REQUIRE_MESSAGE(times.ok(), Render(times.errors()));
    REQUIRE(times->has_value());
    REQUIRE((*times)->size() == kernels.size());
    for (const KernelTimes& time : **times) {
      // Microseconds at least, and no kernel a thousand times the model's cost.
      CHECK(time.one > 1'000);
      CHECK(time.all > 500);
      CHECK(time.one < 1e12 * kernels.back().cost);
    }
  }
}

TEST_CASE("tuning: without time nothing is measured, and nothing is written") {
  const CacheFile file;
  const auto target = ResolveTarget("native");
  auto tuning = Tuning::Open({file.path, 0, true}, *target, {});
  REQUIRE(tuning.ok());
  tuning->catalog().Candidates(WorthTuning(*target));
  const auto learned = tuning->Measure(silent);
  REQUIRE(learned.ok());
  CHECK(!*learned);
  CHECK(Describe(tuning->Report()) == "1 contraction, 1 estimated");
  CHECK(!std::filesystem::exists(file.path));
}

TEST_CASE("tuning: what this machine cannot run it does not measure") {
  const CacheFile file;
  auto target = ResolveTarget("native");
  target->name = "another";
  target->required_features = ~uint64_t{0};
  auto tuning = Tuning::Open({file.path, 20, true}, *target, {});
  REQUIRE(tuning.ok());
  tuning->catalog().Candidates(WorthTuning(*target));
  const auto learned = tuning->Measure(silent);
  REQUIRE(learned.ok());
  CHECK(!*learned);
  CHECK(Describe(tuning->Report()) ==
        "1 contraction, 1 estimated; this machine cannot run code for another");
}

}  // namespace mxc
