// SPDX-License-Identifier: Apache-2.0
// How the work of products is dealt.
#include <doctest/doctest.h>

#include "codegen/cpu/contraction/step_shape.h"
#include "tests/codegen/contraction_case.h"

namespace mxc::test {
namespace {

// The tasks of the product's best kernel.
contraction::StepShape StepShapeOf(const Contraction& product) {
  const Target target = *ResolveTarget("x86-64-v4");
  const ContractionCase one{product, Acc()};
  const auto candidates = MakeKernelCatalog(target)->Candidates(product);
  REQUIRE_FALSE(candidates.empty());
  const Program program = Build(one, candidates[0]);
  return contraction::ShapeStep(program, program.steps[0], target)[0];
}

}  // namespace

TEST_CASE("a row's product of 128 results keeps two threads busy") {
  CHECK(StepShapeOf(Product(1, 1, 784, 128)).task_count() % 2 == 0);
}

// The gradient of a weight: the update that reads it is dealt by rows, too.
TEST_CASE("a product that writes more than it reads is dealt by rows") {
  Contraction gradient = Product(1, 128, 32, 784);
  gradient.data_axes = {Role::kIn, Role::kBatch};
  gradient.weight_axes = {Role::kIn, Role::kOut};
  const contraction::StepShape shape = StepShapeOf(gradient);
  CHECK(shape.tasks.pixel_chunks % 2 == 0);
  CHECK(shape.tasks.channels_innermost);
}

// 13 vectors of 5 rows: 4, 4 and 5 of them, which have sums enough for the units.
TEST_CASE("a vector that is left over joins the last group") {
  const contraction::StepShape shape = StepShapeOf(Product(1, 1120, 64, 200));
  CHECK(shape.tile.vectors == 4);
  CHECK(shape.vector_groups() == 3);
  CHECK(shape.full_vector_groups() == 2);
}

// What is read beside the last rows of a weight that lies as it is.
TEST_CASE("a product fetches the columns that follow in the same rows") {
  Contraction gradient = Product(1, 200, 1120, 10000);
  gradient.data_axes = {Role::kIn, Role::kBatch};
  gradient.weight_axes = {Role::kIn, Role::kOut};
  gradient.output_axes = {Role::kOut, Role::kBatch};
  const contraction::StepShape shape = StepShapeOf(gradient);
  CHECK(shape.task_count() % 2 == 0);
  CHECK(shape.lines_ahead > 0);
  CHECK(shape.nest.LineOffset(shape.nest.row_lines()) == 10000);
}

}  // namespace mxc::test
