// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "ir/program/program.h"
#include "ir/program/steps/contraction.h"
#include "ir/program/steps/map.h"

namespace mxc {
namespace {

int64_t FlopsOf(const Shape& shape, const Expr& value) {
  Program program;
  Step step;
  step.body = Map{{Store{0, Extents(shape.rank(), 0), shape.dims(), value}}};
  return step.flops(program);
}

Expr Sum(int var, int64_t extent, const Expr& body) {
  return Reduce(ReduceOp::kSum, {{var, 0, extent}}, body);
}

TEST_CASE("index arithmetic is no arithmetic, a shared value counts once") {
  const Expr x = Load(0, DType::kF32, {Var(0) * Expr(7) + Var(1)});
  const Expr y = Exp(x);
  CHECK(FlopsOf({3, 5}, y + y * y) == 3 * 15);
}

TEST_CASE("a row's softmax takes its sum once for each row") {
  const int r = kFirstReductionVar;
  const Expr here = Load(0, DType::kF32, {Var(0), Var(1)});
  const Expr other = Load(0, DType::kF32, {Var(0), Var(r)});
  const Expr softmax = Exp(here) / Sum(r, 100, Exp(other));
  // Of each element: two exponentials, an addition and a division.
  CHECK(FlopsOf({8, 100}, softmax) == 4 * 800);
}

TEST_CASE("a window counts for each of its places") {
  const int r = kFirstReductionVar;
  const Expr begin = Var(0) * Expr(2);
  const Expr window = Reduce(ReduceOp::kMax, {{r, begin, begin + Expr(2)}},
                             Load(0, DType::kF32, {Var(r)}));
  CHECK(FlopsOf({5}, window) == 10);
  const Range clipped = {r, Max(Var(0) - Expr(1), 0), Min(Var(0) + Expr(2), 5)};
  const Expr within =
      Reduce(ReduceOp::kMax, {clipped}, Load(0, DType::kF32, {Var(r)}));
  CHECK(FlopsOf({5}, within) == 2 + 3 + 3 + 3 + 2);
}

TEST_CASE("bounds that data say count as one term") {
  const int r = kFirstReductionVar;
  const Range range = {r, 0, Load(0, DType::kI64, {Var(0)})};
  const Expr sum =
      Reduce(ReduceOp::kSum, {range}, Load(1, DType::kF32, {Var(r)}));
  CHECK(FlopsOf({5}, sum) == 5);
}

TEST_CASE("what is added up at positions counts once for each value") {
  const int r = kFirstReductionVar;
  const Expr position = Load(0, DType::kI64, {Var(r)});
  const Expr value = Load(1, DType::kF32, {Var(r), Var(1)});
  const Expr sum =
      Sum(r, 20, Select(position == Var(0), value, Constant(0, DType::kF32)));
  CHECK(FlopsOf({1000, 6}, sum) == 2 * 20 * 6);
}

TEST_CASE("a contraction's epilogue runs once for each output") {
  Program program;
  program.buffers.emplace_back();
  program.buffers[0].type = {DType::kF32, {2, 4}};
  Step step;
  step.outputs = {0};
  ContractionStep body;
  body.contraction.in = 3;
  body.contraction.out = 4;
  body.contraction.batch = 2;
  body.epilogue = Max(Acc() + Load(2, DType::kF32, {Var(1)}), Lit(0, Acc()));
  step.body = body;
  CHECK(step.flops(program) == 2 * 2 * 3 * 4 + 2 * 8);
}

}  // namespace
}  // namespace mxc
