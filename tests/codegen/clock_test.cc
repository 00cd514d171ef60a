// SPDX-License-Identifier: Apache-2.0
// KernelCatalog::Seconds: the one estimate of a step's time, by which passes
// decide, and which the tables tell: those of a host without its launches.
#include <doctest/doctest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codegen/codegen.h"
#include "ir/program/add_buffer.h"
#include "ir/program/contraction_text.h"
#include "ir/program/steps/branch.h"
#include "ir/program/steps/copy.h"
#include "ir/program/steps/repeat.h"
#include "ir/program/steps/tile_loop.h"
#include "tests/codegen/contraction_case.h"
#include "tests/codegen/map_case.h"

namespace mxc::test {
namespace {

constexpr int64_t kElements = 1'000'000;

// y = `value` of x, element by element.
Program Elementwise(StepBody body) {
  Program program;
  program.entry.purpose = Purpose::kInfer;
  const TensorType type = {DType::kF32, Shape{kElements}};
  Step step;
  step.inputs = {AddBuffer(program, "x", type, BufferKind::kInput)};
  step.outputs = {AddBuffer(program, "y", type, BufferKind::kOutput)};
  step.body = std::move(body);
  program.steps.push_back(step);
  return program;
}

Program Elementwise(const Expr& value) {
  return Elementwise(StepBody(Map{{{0, {0}, {kElements}, value}}}));
}

// A machine whose kernels take so long, if that is known.
class Stated : public KernelCatalog {
 public:
  Stated(const Machine& machine, double seconds)
      : KernelCatalog(machine), seconds_(seconds) {}
  double KernelSeconds(const Program&, const Step&) const override {
    return seconds_;
  }

 private:
  const double seconds_;
};

double Time(const Machine& machine, const Program& program,
            double of_kernel = 0) {
  return Stated(machine, of_kernel).Seconds(program, program.steps[0]);
}

double SecondsInTables(const Program& program,
                       const KernelCatalog* catalog = nullptr) {
  const auto image = GenerateCode({&program, 1}, *ResolveTarget("x86-64-v3"),
                                  {.catalog = catalog});
  REQUIRE(image.ok());
  return 1e-9 * image->steps[0][0].nanoseconds;
}

// The contraction as the only step, whose bytes do not count.
Program Of(const Contraction& c, const KernelChoice& choice) {
  Program program;
  const TensorType type = {DType::kF32, Shape{1}};
  Step step;
  step.inputs = {AddBuffer(program, "x", type, BufferKind::kInput),
                 AddBuffer(program, "w", type, BufferKind::kInput)};
  step.outputs = {AddBuffer(program, "y", type, BufferKind::kOutput)};
  step.body = ContractionStep{c, Acc(c.types.sum), choice};
  program.steps.push_back(step);
  return program;
}

std::string TextOf(const KernelChoice& choice) {
  KernelCandidate kernel;
  kernel.choice = choice;
  return KernelCatalog().NameOf(kernel);
}

std::vector<Contraction> Contractions() {
  const ConvolutionShape shape = {.batch = 8,
                                  .in = 64,
                                  .out = 64,
                                  .input = {28, 28},
                                  .kernel = {3, 3},
                                  .pad = {1, 1}};
  std::vector<Contraction> all = {Convolution(shape), BackwardData(shape),
                                  BackwardWeight(shape),
                                  Product(1, 64, 256, 512)};
  for (size_t i = 0; i < 4; ++i) all.push_back(Typed(all[i], DType::kBF16));
  return all;
}

Program Inner() { return Elementwise(Load(0, DType::kF32, {Var(0)})); }

}  // namespace

TEST_CASE("a step takes as long as its bytes or its arithmetic does") {
  Machine machine;
  machine.launch_seconds = 0;
  machine.busy_l3_bytes_per_second = 1e9;
  machine.contraction_flops_per_second = 1e12;
  const Expr x = Load(0, DType::kF32, {Var(0)});
  // 8 MB at 1 GB/s.
  CHECK(Time(machine, Elementwise(x + x)) == doctest::Approx(8e-3));
  machine.contraction_flops_per_second = 1e6;
  CHECK(Time(machine, Elementwise(x + x)) == doctest::Approx(1));
  // The kernel's known time counts, and not its FLOPs.
  CHECK(Time(machine, Elementwise(x + x), 2) == doctest::Approx(2));
  CHECK(Time(machine, Elementwise(x + x), 1e-9) == doctest::Approx(8e-3));
  machine.launch_seconds = 1e-3;
  CHECK(Time(machine, Elementwise(x + x), 1e-9) == doctest::Approx(9e-3));
  machine.launch_seconds = 0;
  machine.copy_bytes_per_second = 4e9;
  CHECK(Time(machine, Elementwise(StepBody(Copy{}))) == doctest::Approx(1e-3));
}

TEST_CASE("a step that holds others takes as long as all their runs") {
  Machine machine;
  machine.launch_seconds = 1e-3;
  const auto inside = std::make_shared<const Program>(Inner());
  const double once = Time(machine, Inner());
  CHECK(once > 1e-3);
  Program program = Inner();
  TileLoop loop;
  loop.tile = inside;
  loop.tiles = 5;
  program.steps[0].body = loop;
  // One launch has all tiles.
  CHECK(Time(machine, program) == doctest::Approx(1e-3 + 5 * (once - 1e-3)));
  Repeat repeat;
  repeat.body = inside;
  repeat.turns = 7;
  program.steps[0].body = repeat;
  CHECK(Time(machine, program) == doctest::Approx(7 * once));
  Branch branch;
  branch.then = std::make_shared<const Program>();
  branch.otherwise = inside;
  program.steps[0].body = branch;
  CHECK(Time(machine, program) == doctest::Approx(once));
}

TEST_CASE("functions take longer than additions of as many bytes") {
  const Expr x = Load(0, DType::kF32, {Var(0)});
  const double sum = SecondsInTables(Elementwise(x + x));
  CHECK(sum > 1e-4);  // 8 MB
  CHECK(SecondsInTables(Elementwise(Exp(Exp(x)))) > 2 * sum);
}

TEST_CASE(
    "the tables tell what the catalog said that programs were planned by") {
  const Expr x = Load(0, DType::kF32, {Var(0)});
  const Program program = Elementwise(x + x);
  const Target target = *ResolveTarget("x86-64-v3");
  const Stated stated(target.machine, 0.125);
  CHECK(SecondsInTables(program, &stated) == doctest::Approx(0.125));
  const auto own = MakeKernelCatalog(target);
  CHECK(SecondsInTables(program) ==
        doctest::Approx(own->WorkSeconds(program, program.steps[0])));
}

// select-kernels orders candidates by their costs; other passes ask how long the
// step takes for which one was chosen.
TEST_CASE("no two questions order a contraction's kernels in two ways") {
  for (const char* name : {"x86-64-v2", "x86-64-v3", "x86-64-v4",
                           "x86-64-v4-amx", "cuda:sm_80", "cuda:sm_90a"}) {
    const auto catalog = MakeKernelCatalog(*ResolveTarget(name));
    for (const Contraction& c : Contractions()) {
      CAPTURE(name);
      CAPTURE(ToString(c));
      std::set<std::string> seen;
      for (const KernelCandidate& kernel : catalog->Candidates(c)) {
        // Another contraction computes parts. The first of all layouts is taken.
        if (kernel.parts > 1 || kernel.flipped_weight) continue;
        if (!seen.insert(TextOf(kernel.choice)).second) continue;
        const Program program = Of(c, kernel.choice);
        const double seconds = catalog->WorkSeconds(program, program.steps[0]);
        CHECK(seconds == doctest::Approx(kernel.cost));
      }
    }
  }
}

}  // namespace mxc::test
