// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/kept_terms.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "codegen/cpu/task_ranges.h"
#include "tests/codegen/map_case.h"

namespace mxc::test {
namespace {

// exp of x's element over the sum of its row's, as steps in the lanes of rows.
struct Softmax {
  MapCase c;
  int x;
  Expr max, terms, value;

  explicit Softmax(Shape shape) : x(c.In(shape)) {
    const int last = shape.rank() - 1;
    const auto at = [this, last](Expr r) {
      std::vector<Expr> index;
      for (int axis = 0; axis < last; ++axis) index.push_back(Var(axis));
      index.push_back(std::move(r));
      return c.At(x, index);
    };
    max = MaxOver(shape[last], at);
    terms = SumOver(shape[last], [&](Expr r) { return Exp(at(r) - max); });
    value = Exp(at(Var(last)) - max) / terms;
  }
};

LoopNest Schedule(const Softmax& softmax, const Shape& shape, bool shares) {
  const Store store = {0, Extents(shape.dims().size(), 0), shape.dims(),
                       softmax.value};
  const NestOperand operand = {DType::kF32, Layout::RowMajor(shape)};
  const NestOutput output = {1, {&store}, shares};
  return ScheduleNest({&output, 1}, shape, std::vector{operand, operand},
                      ResolveTarget("x86-64-v3")->machine, kTaskRanges, true);
}

bool HasExp(const Expr& e) {
  if (e->kind == ExprKind::kReduce) return false;
  if (e->kind == ExprKind::kUnary && e->unary == UnaryOp::kExp) return true;
  return std::ranges::any_of(e->args, HasExp);
}

}  // namespace

TEST_CASE("a softmax takes each exp once") {
  for (const Shape& shape : {Shape{5, 1000}, Shape{200}, Shape{2, 3, 100}}) {
    CAPTURE(ToString(shape));
    const Softmax softmax(shape);
    const LoopNest nest = Schedule(softmax, shape, false);
    CHECK(nest.kept.size() == 1);
    CHECK(!HasExp(nest.values[0]));
    // Over its input, which the sum has not read to the end.
    const LoopNest in_place = Schedule(softmax, shape, true);
    CHECK(in_place.kept.empty());
    CHECK(HasExp(in_place.values[0]));
  }
}

TEST_CASE("a softmax is the interpreter's") {
  for (const Shape& shape : {Shape{5, 1000}, Shape{1003}, Shape{70, 2, 33},
                             Shape{40, 3}, Shape{3, 2000}, Shape{600, 257}}) {
    CAPTURE(ToString(shape));
    Softmax softmax(shape);
    softmax.c.Out(shape);
    softmax.c.Set(softmax.value);
    CHECK(softmax.c.CheckAll() == "");
  }
}

// As SoftmaxOutput's gradient beside its output.
TEST_CASE("two outputs read the terms that one keeps") {
  for (const int64_t classes : {10, 100, 1001}) {
    CAPTURE(classes);
    const Shape shape = {37, classes};
    Softmax softmax(shape);
    MapCase& c = softmax.c;
    const int label =
        c.In({DType::kF32, {37}}, Layout::RowMajor({37}),
             [](int64_t i) { return static_cast<double>(i % 9); });
    c.Out(shape);
    c.Out(shape);
    c.Set(softmax.value);
    const Expr is_label = Var(1) == Cast(c.At(label, {Var(0)}), DType::kI64);
    const Expr one = Lit(1, softmax.value), zero = Lit(0, softmax.value);
    c.Set(softmax.value - Select(is_label, one, zero));
    CHECK(c.CheckAll() == "");
  }
}

// Lanes on one side of a bound are swept apart from those on the other.
TEST_CASE("a softmax in pieces of its rows") {
  const Shape shape = {9, 300};
  Softmax softmax(shape);
  MapCase& c = softmax.c;
  c.Out(shape);
  c.Set(
      Select(Var(1) < Expr(100), softmax.value, softmax.value * softmax.value));
  CHECK(c.CheckAll() == "");
}

}  // namespace mxc::test
