// SPDX-License-Identifier: Apache-2.0
#include "ir/program/adjoint.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "ir/program/definition.h"
#include "ir/program/evaluator.h"
#include "ir/program/steps/map.h"

namespace mxc {
namespace {

// One axis of windows: output[o] = Σ_w factor · x[o·stride + w·dilate − pad],
// as far as that lies in x.
struct Windows {
  int64_t extent, outputs, kernel, stride, dilate, pad;
};

constexpr double kFactor = 3;

Store WindowStore(const Windows& w) {
  const Expr sum = Definition::Sum({w.kernel}, [&](const std::vector<Expr>& r) {
    const Expr at = Var(0) * w.stride + r[0] * w.dilate - w.pad;
    const Expr x = Load(0, DType::kF32, {at});
    return Select(at >= 0 && at < w.extent, x * Lit(kFactor, x), Lit(0, x));
  });
  return {0, {0}, {w.outputs}, sum};
}

Expr WindowAdjoint(const Windows& w) {
  const Store store = WindowStore(w);
  return Adjoint(std::span(&store, 1), 0, {DType::kF32, {w.extent}},
                 [](const std::vector<Expr>& index) {
                   return Load(1, DType::kF32, index);
                 });
}

TEST_CASE("the adjoint of windows adds what each cell has been part of") {
  std::mt19937 random(5);
  const auto pick = [&](int low, int high) {
    return low + static_cast<int64_t>(random() % (high - low + 1));
  };
  for (int round = 0; round < 300; ++round) {
    const Windows w = {pick(1, 9), pick(1, 6), pick(1, 4),
                       pick(1, 3), pick(1, 3), pick(0, 3)};
    std::vector<Element> x(w.extent, 0), head;
    for (int64_t o = 0; o < w.outputs; ++o) {
      head.push_back(static_cast<double>(pick(1, 9)));
    }
    std::vector<Element> expected(w.extent, 0);
    for (int64_t o = 0; o < w.outputs; ++o) {
      for (int64_t k = 0; k < w.kernel; ++k) {
        const int64_t at = o * w.stride + k * w.dilate - w.pad;
        if (at >= 0 && at < w.extent) expected[at] += kFactor * head[o];
      }
    }
    const Expr adjoint = WindowAdjoint(w);
    INFO(Print(adjoint));
    Evaluator evaluator({{x, {w.extent}}, {head, {w.outputs}}});
    for (int64_t j = 0; j < w.extent; ++j) {
      const Element at = static_cast<Element>(j);
      REQUIRE(evaluator.Evaluate(adjoint, 1, {{at}})[0] == expected[j]);
    }
  }
}

// The terms that the sum for one cell has.
int64_t TermsAt(const Expr& adjoint, int64_t cell) {
  int64_t terms = 1;
  Rewrite(adjoint, [&](const Expr& e) {
    if (e->kind == ExprKind::kReduce) {
      for (const Range& range : e->ranges) {
        const Expr extent = range.end - range.begin;
        terms *= static_cast<int64_t>(Evaluator({}).Evaluate(
            extent, 1, {{static_cast<double>(cell)}})[0]);
      }
    }
    return Expr();
  });
  return terms;
}

TEST_CASE("a cell asks only the windows that it lies in") {
  CHECK(TermsAt(WindowAdjoint({200, 100, 3, 2, 1, 1}), 50) <= 2);
  CHECK(TermsAt(WindowAdjoint({200, 100, 2, 2, 1, 0}), 50) == 1);
}

TEST_CASE("places that data decide are asked for") {
  // output[o] = x[index[o]]
  const Expr place = Cast(Load(1, DType::kF32, {Var(0)}), DType::kI64);
  const Store store = {0, {0}, {4}, Load(0, DType::kF32, {place})};
  const Expr adjoint = Adjoint(std::span(&store, 1), 0, {DType::kF32, {3}},
                               [](const std::vector<Expr>& index) {
                                 return Load(2, DType::kF32, index);
                               });
  const std::vector<Element> x = {0, 0, 0}, index = {2, 0, 2, 2},
                             head = {1, 2, 4, 8};
  Evaluator evaluator({{x, {3}}, {index, {4}}, {head, {4}}});
  CHECK(evaluator.Evaluate(adjoint, 3, {{0, 1, 2}}) ==
        std::vector<Element>{2, 0, 13});
}

TEST_CASE("each of several readings binds its own variables") {
  // output[o] = 2 · x[index[o]] + x[other[o]]
  const auto place = [](int operand) {
    return Cast(Load(operand, DType::kF32, {Var(0)}), DType::kI64);
  };
  const Expr one = Load(0, DType::kF32, {place(1)});
  const Expr other = Load(0, DType::kF32, {place(2)});
  const Store store = {0, {0}, {4}, Lit(2, one) * one + other};
  const Expr adjoint = Adjoint(std::span(&store, 1), 0, {DType::kF32, {3}},
                               [](const std::vector<Expr>& index) {
                                 return Load(3, DType::kF32, index);
                               });
  const std::vector<Element> x = {0, 0, 0}, index = {2, 0, 2, 2},
                             others = {0, 0, 1, 2}, head = {1, 2, 4, 8};
  Evaluator evaluator({{x, {3}}, {index, {4}}, {others, {4}}, {head, {4}}});
  CHECK(evaluator.Evaluate(Canonical(adjoint), 3, {{0, 1, 2}}) ==
        std::vector<Element>{7, 4, 34});
}

}  // namespace
}  // namespace mxc
