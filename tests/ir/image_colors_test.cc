// SPDX-License-Identifier: Apache-2.0
// Colours of pictures, adjusted: MXNet's values for a factor that is certain,
// and what chance may change.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/ir/op_run.h"

namespace mxc {
namespace {

using List = std::vector<double>;

List Steps(double from, double step, int count) {
  List list;
  for (int i = 0; i < count; ++i) list.push_back(from + step * i);
  return list;
}
Tensor Picture(DType dtype) {
  return TypedTensor(dtype, {2, 2, 3}, Steps(0, 20, 12));
}

List Adjusted(const char* op, const char* factor, DType dtype = DType::kF32) {
  return Evaluate(op, {{"min_factor", factor}, {"max_factor", factor}},
                  {Picture(dtype)});
}

TEST_CASE("brightness, contrast and saturation by a factor") {
  CHECK(Adjusted("_image_random_brightness", "1.5") == Steps(0, 30, 12));
  CHECK(Adjusted("_image_random_brightness", "1.5", DType::kU8) ==
        List{0, 30, 60, 90, 120, 150, 180, 210, 240, 255, 255, 255});
  CHECK(Near(Adjusted("_image_random_contrast", "1.5"), Steps(-53.15, 30, 12),
             1e-4));
  CHECK(Adjusted("_image_random_contrast", "1.5", DType::kU8) ==
        List{0, 0, 6, 36, 66, 96, 126, 156, 186, 216, 246, 255});
  CHECK(Near(Adjusted("_image_random_saturation", "1.5"),
             {-2.28, 27.72, 57.72, 84.3, 114.3, 144.3, 170.88, 200.88, 230.88,
              257.46, 287.46, 317.46},
             1e-4));
}

TEST_CASE("hues turn, and come back after a whole circle") {
  CHECK(Near(Adjusted("_image_random_hue", "0.25"),
             {40, 0, 40, 100, 60, 100, 160, 120, 160, 220, 180, 220}, 1e-3));
  CHECK(Near(Adjusted("_image_random_hue", "1"), Steps(0, 20, 12), 1e-3));
  const Tensor primary = Floats({1, 4, 3}, {255, 0, 0, 0, 255, 0,  //
                                            0, 0, 255, 9, 9, 9});
  CHECK(Near(
      Evaluate("_image_random_hue",
               {{"min_factor", "0.33333334"}, {"max_factor", "0.33333334"}},
               {primary}),
      {0, 255, 0, 0, 0, 255, 255, 0, 0, 9, 9, 9}, 1e-3));
  const Tensor grey = Floats({1, 1, 1}, {7});
  CHECK(Evaluate("_image_random_hue",
                 {{"min_factor", "0.5"}, {"max_factor", "0.5"}},
                 {grey}) == List{7});
}

TEST_CASE("light is added by principal components") {
  const auto lit = [](const Tensor& picture) {
    return Evaluate("_image_adjust_lighting", {{"alpha", "(0.1, 0.2, 0.3)"}},
                    {picture});
  };
  List expected = Steps(0, 20, 12);
  const double added[] = {-2.319716, -3.505774, -3.758068};
  for (size_t i = 0; i < expected.size(); ++i) expected[i] += added[i % 3];
  CHECK(Near(lit(Picture(DType::kF32)), expected, 1e-4));
  CHECK(lit(Picture(DType::kU8))[1] == 16);
  CHECK(lit(Floats({1, 1, 1}, {7})) == List{7});
  CHECK(Evaluate("_image_random_lighting", {{"alpha_std", "0"}},
                 {Picture(DType::kF32)}) == Steps(0, 20, 12));
}

TEST_CASE("what is drawn is within bounds, or one of two") {
  const List bright = Evaluate("_image_random_brightness",
                               {{"min_factor", "0.5"}, {"max_factor", "2"}},
                               {Picture(DType::kF32)});
  CHECK(bright[0] == 0);
  const double factor = bright[1] / 20;
  CHECK(factor >= 0.5);
  CHECK(factor <= 2);
  CHECK(Near(bright, Steps(0, 20 * factor, 12), 1e-3));
  for (const char* op : {"left_right", "top_bottom"}) {
    const std::string flip = std::string("_image_flip_") + op;
    const List moved = Evaluate(std::string("_image_random_flip_") + op, {},
                                {Picture(DType::kF32)});
    const List flipped = Evaluate(flip, {}, {Picture(DType::kF32)});
    CHECK((moved == flipped || moved == Steps(0, 20, 12)));
  }
  const auto jitter = [](const char* brightness, const char* hue) {
    return Evaluate("_image_random_color_jitter",
                    {{"brightness", brightness},
                     {"contrast", "0"},
                     {"saturation", "0"},
                     {"hue", hue}},
                    {Picture(DType::kF32)});
  };
  CHECK(jitter("0", "0") == Steps(0, 20, 12));
  const List jittered = jitter("0.5", "0.1");
  // Hues leave the sum of the greatest and the least as it is.
  const auto [least, most] =
      std::minmax({jittered[9], jittered[10], jittered[11]});
  CHECK(least + most >= 400 * 0.5 - 1e-2);
  CHECK(least + most <= 400 * 1.5 + 1e-2);
}

TEST_CASE("what is no picture is refused") {
  const std::vector<AttrText> factors = {{"min_factor", "1"},
                                         {"max_factor", "1"}};
  CHECK(Refuses("C1", "_image_random_hue", factors, {{2, 2}}));
  CHECK(Refuses("C1", "_image_random_hue", factors, {{2, 2, 2}}));
  CHECK(Refuses("C1", "_image_random_flip_left_right", {}, {{1, 2, 2, 3}}));
  CHECK(Refuses("C2", "_image_adjust_lighting", {{"alpha", "(1, 2)"}},
                {{2, 2, 3}}));
}

}  // namespace
}  // namespace mxc
