// SPDX-License-Identifier: Apache-2.0
// The times that the tables tell of steps are those of the machine's model.
#include <doctest/doctest.h>

#include "codegen/codegen.h"
#include "codegen/modelled_time.h"
#include "ir/program/add_buffer.h"
#include "ir/program/steps/copy.h"
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

double Time(const Machine& machine, const Program& program, double planned = 0,
            bool of_units = false) {
  return ModelledNanoseconds(machine, program, program.steps[0], planned,
                             of_units);
}

uint64_t TimeInTables(const Program& program) {
  const auto image =
      GenerateCode({&program, 1}, *ResolveTarget("x86-64-v3"), {});
  REQUIRE(image.ok());
  return static_cast<uint64_t>(image->steps[0][0].nanoseconds);
}

}  // namespace

TEST_CASE("a step takes as long as its bytes or its arithmetic does") {
  Machine machine;
  machine.busy_l3_bytes_per_second = 1e9;
  machine.contraction_flops_per_second = 1e12;
  const Expr x = Load(0, DType::kF32, {Var(0)});
  // 8 MB at 1 GB/s.
  CHECK(Time(machine, Elementwise(x + x)) == doctest::Approx(8e6));
  machine.contraction_flops_per_second = 1e6;
  CHECK(Time(machine, Elementwise(x + x)) == doctest::Approx(1e9));
  CHECK(Time(machine, Elementwise(x + x), 2e9) == doctest::Approx(2e9));
  // Which units compute it is known, and that they take as long as the bytes.
  CHECK(Time(machine, Elementwise(x + x), 1, true) == doctest::Approx(8e6));
  machine.step_seconds = 1e-3;
  CHECK(Time(machine, Elementwise(x + x), 1, true) == doctest::Approx(9e6));
  machine.step_seconds = 0;
  machine.copy_bytes_per_second = 4e9;
  CHECK(Time(machine, Elementwise(StepBody(Copy{}))) == doctest::Approx(1e6));
}

TEST_CASE("functions take longer than additions of as many bytes") {
  const Expr x = Load(0, DType::kF32, {Var(0)});
  const uint64_t sum = TimeInTables(Elementwise(x + x));
  CHECK(sum > 100'000);  // 8 MB
  CHECK(TimeInTables(Elementwise(Exp(Exp(x)))) > 2 * sum);
}

}  // namespace mxc::test
