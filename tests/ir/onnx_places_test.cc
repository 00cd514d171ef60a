// SPDX-License-Identifier: Apache-2.0
// What ONNX asks of places that MXNet has no operator for: values written at
// them, sums up to them, grids of them, and shifts of integers.
#include <doctest/doctest.h>

#include <limits>

#include "tests/ir/gradient_run.h"

namespace mxc {
namespace {

using List = std::vector<double>;
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

Tensor PlacesOf(Shape shape, std::vector<double> values) {
  return TypedTensor(DType::kI64, std::move(shape), std::move(values));
}

TEST_CASE("integers shift as two's complement, by any number") {
  const Tensor by = TypedTensor(DType::kI8, {5}, {0, 1, 7, 8, -1});
  const auto shifted = [&](const char* op, double x) {
    return Evaluate(op, {}, {TypedTensor(DType::kI8, {1}, {x}), by});
  };
  CHECK(shifted("_npi_bitwise_left_shift", 3) == List{3, 6, -128, 0, 0});
  CHECK(shifted("_npi_bitwise_left_shift", -3) == List{-3, -6, -128, 0, 0});
  CHECK(shifted("_npi_bitwise_right_shift", 100) == List{100, 50, 0, 0, 0});
  CHECK(shifted("_npi_bitwise_right_shift", -100) ==
        List{-100, -50, -1, -1, -1});
  const Tensor wide = TypedTensor(DType::kU32, {2}, {4294967295.0, 1});
  const Tensor last = TypedTensor(DType::kU32, {1}, {31});
  CHECK(Evaluate("_npi_bitwise_right_shift", {}, {wide, last}) == List{1, 0});
  CHECK(Evaluate("_npi_bitwise_left_shift", {}, {wide, last}) ==
        List{2147483648.0, 2147483648.0});
}

TEST_CASE("values are written in order, and what names no place is left out") {
  const auto scattered = [](const char* mode, Tensor data, Tensor places,
                            Tensor values) {
    return Evaluate("_scatter_along", {{"axis", "0"}, {"mode", mode}},
                    {data, places, values});
  };
  const Tensor data = Floats({3}, {1, 2, 3});
  const Tensor places = PlacesOf({4}, {2, 0, 2, 3});
  const Tensor values = Floats({4}, {5, 7, -4, 9});
  CHECK(scattered("write", data, places, values) == List{7, 2, -4});
  CHECK(scattered("add", data, places, values) == List{8, 2, 4});
  CHECK(scattered("multiply", data, places, values) == List{7, 2, -60});
  CHECK(scattered("max", data, places, values) == List{7, 2, 5});
  CHECK(scattered("min", data, places, values) == List{1, 2, -4});
  CHECK(Near(
      scattered("max", data, PlacesOf({1}, {1}), Floats({1}, {kNotANumber})),
      {1, kNotANumber, 3}));
  // Places for all rows alike, and one for each.
  const Tensor rows = Floats({2, 2}, {1, 2, 3, 4});
  CHECK(scattered("write", rows, PlacesOf({1}, {1}), Floats({1, 2}, {8, 9})) ==
        List{1, 2, 8, 9});
  CHECK(scattered("write", rows, PlacesOf({1, 2}, {1, 0}),
                  Floats({1, 2}, {8, 9})) == List{1, 9, 8, 4});
}

TEST_CASE("what is written has the gradient of what stays") {
  const Tensor places = PlacesOf({2, 3}, {1, 1, 3, 0, 4, -1});
  for (const char* mode : {"write", "add", "multiply", "max", "min"}) {
    CAPTURE(mode);
    CheckGradient("_scatter_along", {{"axis", "1"}, {"mode", mode}},
                  {SomeDoubles({2, 4}), places, SomeDoubles({2, 3}, 3)});
  }
  CheckGradient(
      "_scatter_along", {{"axis", "0"}},
      {SomeDoubles({4, 2}), PlacesOf({3}, {2, 0, 2}), SomeDoubles({3, 2}, 3)});
  // A factor of 0 has the product of the others.
  CHECK(GradientOf(2, "_scatter_along", {{"axis", "0"}, {"mode", "multiply"}},
                   {Doubles({2}, {3, 5}), PlacesOf({4}, {0, 0, 1, 1}),
                    Doubles({4}, {0, 2, 0, 0})},
                   {1, 1}) == List{6, 0, 0, 0});
}

TEST_CASE("sums and products up to each position, and from it on") {
  const Tensor x = Floats({4}, {2, 3, 4, 5});
  const auto of = [&](const char* mode, const char* exclusive,
                      const char* reverse) {
    return Evaluate(
        "_accumulate",
        {{"mode", mode}, {"exclusive", exclusive}, {"reverse", reverse}}, {x});
  };
  CHECK(of("sum", "0", "0") == List{2, 5, 9, 14});
  CHECK(of("sum", "1", "0") == List{0, 2, 5, 9});
  CHECK(of("sum", "1", "1") == List{12, 9, 5, 0});
  CHECK(of("product", "0", "1") == List{120, 60, 20, 5});
  CHECK(of("product", "1", "0") == List{1, 2, 6, 24});
}

TEST_CASE("gradients of what is summed or multiplied on the way") {
  for (const char* mode : {"sum", "product"}) {
    for (const char* exclusive : {"0", "1"}) {
      for (const char* reverse : {"0", "1"}) {
        CAPTURE(mode);
        CheckGradient("_accumulate",
                      {{"axis", "1"},
                       {"mode", mode},
                       {"exclusive", exclusive},
                       {"reverse", reverse}},
                      {SomeDoubles({2, 4, 2})});
      }
    }
  }
  // 2, 2·0, 2·0·3, 2·0·3·0: the first 0 has the slopes 2 and 6.
  CHECK(GradientOf(0, "_accumulate", {{"mode", "product"}},
                   {Doubles({4}, {2, 0, 3, 0})},
                   {1, 1, 1, 1}) == List{1, 8, 0, 0});
}

TEST_CASE("a grid reads cells, what lies between them, and what is outside") {
  const Tensor x = Floats({1, 1, 1, 3}, {1, 2, 4});
  const auto read = [&](std::vector<AttrText> attrs, double at) {
    attrs.emplace_back("align_corners", "True");
    const Tensor grid = TypedTensor(DType::kF32, {1, 1, 1, 2}, {at, 0});
    return Evaluate("_grid_sample", attrs, {x, grid})[0];
  };
  CHECK(read({}, 0.5) == 3);
  CHECK(read({}, 1.5) == 2);  // half of it outside
  CHECK(read({{"padding", "border"}}, 9) == 4);
  CHECK(read({{"padding", "reflection"}}, 1.5) == 3);
  CHECK(read({{"padding", "reflection"}}, 3) == 1);
  // The even one of two, which is not the nearer side.
  CHECK(read({{"mode", "nearest"}}, 0.5) == 4);
  CHECK(read({{"mode", "nearest"}}, -0.5) == 1);
  CHECK(read({{"mode", "cubic"}}, 0) == 2);
}

TEST_CASE("gradients through a grid") {
  const Tensor image = SomeDoubles({1, 2, 3, 4});
  const Tensor grid = SomeDoubles({1, 2, 2, 2}, 3);
  for (const char* padding : {"zeros", "border", "reflection"}) {
    for (const char* mode : {"linear", "cubic"}) {
      CAPTURE(mode);
      CAPTURE(padding);
      CheckGradient("_grid_sample", {{"mode", mode}, {"padding", padding}},
                    {image, grid}, 1e-5);
    }
  }
}

TEST_CASE("the greatest contribution to a part of a region") {
  const Tensor x = Floats({1, 1, 2, 2}, {1, 2, 3, 8});
  // One point in the middle of four cells.
  CHECK(Evaluate("_roi_max_align",
                 {{"pooled_size", "(1, 1)"},
                  {"spatial_scale", "1"},
                  {"sample_ratio", "1"}},
                 {x, Floats({1, 5}, {0, 0, 0, 1, 1})}) == List{2});
}

TEST_CASE("what does not fit is refused by its constraint") {
  CHECK(
      Refuses("C1", "_scatter_along", {{"axis", "2"}}, {{2, 3}, {3}, {2, 3}}));
  CHECK(Refuses("C2", "_scatter_along", {}, {{2, 3}, {2, 4}, {3, 4}}));
  CHECK(Refuses("C2", "_scatter_along", {}, {{2, 3}, {5}, {2, 4}}));
  CHECK(Refuses("C1", "_accumulate", {{"axis", "-3"}}, {{2, 3}}));
  CHECK(Refuses("C1", "_grid_sample", {}, {{1, 1, 2, 2}, {1, 2, 2, 3}}));
  CHECK(Refuses("C2", "_grid_sample", {{"mode", "cubic"}},
                {{1, 1, 2, 2, 2}, {1, 2, 2, 2, 3}}));
  CHECK(Refuses("C3", "_roi_max_align",
                {{"pooled_size", "(1, 1)"},
                 {"spatial_scale", "1"},
                 {"position_sensitive", "1"}},
                {{1, 1, 2, 2}, {1, 5}}));
}

}  // namespace
}  // namespace mxc
