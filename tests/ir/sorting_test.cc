// SPDX-License-Identifier: Apache-2.0
// Sorting rows of every length, by whatever finds their order, against the
// standard library's.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "tests/ir/gradient_run.h"
#include "tests/ir/op_run.h"

namespace mxc {
namespace {

using List = std::vector<double>;

constexpr double kEndless = std::numeric_limits<double>::infinity();

// Few different values, so that many are equal, of the type's whole range.
Tensor FewElements(DType dtype, Shape shape, unsigned seed) {
  std::mt19937 random(seed);
  List some = {0, 1, 2, 3, 100, 127};
  const bool is_signed = dtype == DType::kI8 || dtype == DType::kI16 ||
                         dtype == DType::kI32 || dtype == DType::kI64;
  if (dtype == DType::kBool) some = {0, 1};
  if (IsFloat(dtype))
    some = {0, -0.0, 0.5, -1.5, 3, -300, kEndless, -kEndless, NAN};
  if (is_signed) some.insert(some.end(), {-1, -2, -128});
  if (SizeOf(dtype) >= 4) some.push_back(70000);
  if (SizeOf(dtype) == 8) {
    const double high = IsFloat(dtype) ? 1 : 0x1p40;
    some.insert(some.end(), {high, high + 0x1p-40 * high, 3 * high});
  }
  if (SizeOf(dtype) == 8 && is_signed) some.push_back(-0x1p40 - 5);
  List values;
  for (int64_t i = 0; i < shape.elements(); ++i) {
    values.push_back(some[random() % some.size()]);
  }
  return TypedTensor(dtype, shape, values);
}

// NaN is the greatest.
bool Before(double a, double b) {
  return a < b || (std::isnan(b) && !std::isnan(a));
}

// The first k places of each row of x[outer, n, inner] in stable order.
List ExpectedOrder(const Tensor& x, bool is_ascend, int64_t k) {
  const int64_t outer = x.shape()[0], n = x.shape()[1], inner = x.shape()[2];
  List order(static_cast<size_t>(outer * k * inner));
  for (int64_t a = 0; a < outer; ++a) {
    for (int64_t b = 0; b < inner; ++b) {
      const auto at = [&](int64_t i) { return x.At((a * n + i) * inner + b); };
      std::vector<int64_t> places(static_cast<size_t>(n));
      std::iota(places.begin(), places.end(), 0);
      std::ranges::stable_sort(places, [&](int64_t i, int64_t j) {
        return is_ascend ? Before(at(i), at(j)) : Before(at(j), at(i));
      });
      for (int64_t j = 0; j < k; ++j) {
        order[static_cast<size_t>((a * k + j) * inner + b)] =
            static_cast<double>(places[static_cast<size_t>(j)]);
      }
    }
  }
  return order;
}

TEST_CASE("orders by procedures are the standard library's, of all types") {
  unsigned seed = 0;
  for (const DType dtype :
       {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kU8,
        DType::kI8, DType::kI16, DType::kU16, DType::kI32, DType::kU32,
        DType::kI64, DType::kU64, DType::kBool}) {
    for (const Shape& shape :
         {Shape{2, 70, 2}, Shape{1, 5, 3}, Shape{2, 1, 1}}) {
      const bool is_ascend = ++seed % 2 == 0;
      const Tensor x = FewElements(dtype, shape, seed);
      const int64_t n = shape[1];
      for (const int64_t k : {int64_t{1}, std::min<int64_t>(n, 4), n}) {
        const std::vector<AttrText> attrs = {
            {"axis", "1"},
            {"is_ascend", is_ascend ? "1" : "0"},
            {"k", std::to_string(k)}};
        const List expected = ExpectedOrder(x, is_ascend, k);
        INFO(ShortName(dtype), " ", ToString(shape), " k ", k, " ", is_ascend);
        CHECK(Evaluate("_radix_order", attrs, {x}) == expected);
        CHECK(Evaluate("_top_order", attrs, {x}) == expected);
      }
    }
  }
}

TEST_CASE("rows of any length are sorted along any axis") {
  for (const int64_t n : {1, 2, 63, 64, 65, 130}) {
    const Tensor x =
        FewElements(DType::kF32, {2, n, 2}, static_cast<unsigned>(n));
    const auto indices = [&](const char* is_ascend, const char* k) {
      return Evaluate("topk",
                      {{"axis", "1"}, {"k", k}, {"is_ascend", is_ascend}}, {x});
    };
    CAPTURE(n);
    CHECK(Evaluate("argsort", {{"axis", "1"}}, {x}) ==
          ExpectedOrder(x, true, n));
    CHECK(indices("0", "1") == ExpectedOrder(x, false, 1));
    CHECK(indices("1", "0") == ExpectedOrder(x, true, n));
    const auto k = std::min<int64_t>(n, 20);
    CHECK(indices("0", std::to_string(k).c_str()) ==
          ExpectedOrder(x, false, k));
  }
}

TEST_CASE("values and masks of long rows") {
  List values;
  for (int i = 0; i < 90; ++i) values.push_back((i * 37) % 90);
  const Tensor x = TypedTensor(DType::kF32, {90}, values);
  List sorted(90);
  std::iota(sorted.begin(), sorted.end(), 0);
  CHECK(Evaluate("sort", {}, {x}) == sorted);
  for (const int k : {3, 30}) {
    const auto topk = [&](const char* what) {
      return ValuesOf(EvaluateOp(
          "topk", {{"k", std::to_string(k)}, {"ret_typ", what}}, {x})[0]);
    };
    List greatest(sorted.rbegin(), sorted.rbegin() + k), mask;
    for (const double value : values) mask.push_back(value >= 90 - k);
    CHECK(topk("value") == greatest);
    CHECK(topk("mask") == mask);
  }
}

TEST_CASE("gradients of long rows") {
  const Tensor x = SomeDoubles({1, 66});
  CheckGradient("sort", {{"is_ascend", "0"}}, {x});
  CheckGradient("topk", {{"k", "2"}, {"ret_typ", "value"}}, {x});
}

}  // namespace
}  // namespace mxc
