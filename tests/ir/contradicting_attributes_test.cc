// SPDX-License-Identifier: Apache-2.0
// Attributes that contradict one another, or say more than is needed: what
// MXNet 1.9.1 computed with them.
#include <doctest/doctest.h>

#include <limits>

#include "tests/ir/gradient_run.h"
#include "tests/ir/op_run.h"

namespace mxc {
namespace {

using List = std::vector<double>;

TEST_CASE("clip whose least value exceeds the greatest") {
  CHECK(Evaluate("clip", {{"a_min", "5"}, {"a_max", "1"}},
                 {Floats({4}, {0, 1, 2, 7})}) == List{5, 5, 1, 1});
}

TEST_CASE("multi_output precedes preserve_shape") {
  CHECK(Evaluate("SoftmaxOutput",
                 {{"multi_output", "1"}, {"preserve_shape", "1"}},
                 {Floats({1, 2, 1}, {3, 3}), Floats({1, 1}, {0})}) ==
        List{0.5, 0.5});
  CHECK(Evaluate("SoftmaxOutput", {{"multi_output", "1"}},
                 {Floats({1, 2}, {3, 3}), Floats({1}, {0})}) == List{0.5, 0.5});
}

TEST_CASE("one of two lists of axes counts for nothing") {
  CHECK(InferOp("broadcast_like", {{"lhs_axes", "(1,)"}}, {{1, 3}, {8, 3}})
            .Out() == "(8, 3)");
  CHECK(InferOp("broadcast_like", {{"rhs_axes", "(0,)"}}, {{1, 2}, {6, 2}})
            .Out() == "(6, 2)");
}

TEST_CASE("the last number that arange_like repeats may be cut short") {
  CHECK(Evaluate("_contrib_arange_like", {{"repeat", "2"}, {"axis", "1"}},
                 {Floats({1, 5}, {0, 0, 0, 0, 0})}) == List{0, 0, 1, 1, 2});
}

TEST_CASE("uint8 of quantize_v2 counts from 0") {
  CHECK(Evaluate("_contrib_quantize_v2",
                 {{"out_type", "uint8"},
                  {"min_calib_range", "-3"},
                  {"max_calib_range", "2"}},
                 {Floats({7}, {-3, 0, 0.5, 1, 1.5, 2, 4})}) ==
        List{0, 0, 43, 85, 128, 170, 255});
}

TEST_CASE("one scale alone does not say a size") {
  CHECK(InferOp("_contrib_BilinearResize2D",
                {{"height", "8"}, {"width", "4"}, {"scale_width", "1.5"}},
                {{1, 1, 5, 4}})
            .Out() == "(1, 1, 8, 4)");
  CHECK(
      InferOp("_contrib_BilinearResize2D",
              {{"height", "8"}, {"scale_height", "2"}, {"scale_width", "1.5"}},
              {{1, 1, 5, 4}})
          .Out() == "(1, 1, 10, 6)");
}

TEST_CASE("strides and pads beyond the kernel's entries do not count") {
  CHECK(InferOp("Pooling", {{"kernel", "(2, 2)"}, {"pad", "(1, 1, 1)"}},
                {{1, 1, 4, 4}})
            .Out() == "(1, 1, 5, 5)");
  CHECK(InferOp("Pooling",
                {{"kernel", "(2,)"}, {"stride", "(2, 2)"}, {"pad", "(1, 1)"}},
                {{1, 1, 4}})
            .Out() == "(1, 1, 3)");
}

TEST_CASE(
    "a difference of Correlation that is zero has the slope of one above") {
  const std::vector<Tensor> gradients = EvaluateGradient(
      "Correlation", {{"is_multiply", "0"}, {"max_displacement", "0"}},
      {Floats({1, 1, 1, 2}, {1, 2}), Floats({1, 1, 1, 2}, {1, 3})},
      {Floats({1, 1, 1, 2}, {1, 1}), {}, {}});
  CHECK(Near({gradients[0].At(0), gradients[0].At(1)}, {1, -1}));
  CHECK(Near({gradients[1].At(0), gradients[1].At(1)}, {-1, 1}));
}

TEST_CASE("a window of Pooling_v1 beyond the image has no maximum") {
  const Tensor found =
      EvaluateOp("Pooling_v1",
                 {{"kernel", "(1, 3)"},
                  {"stride", "(1, 4)"},
                  {"pool_type", "max"},
                  {"pooling_convention", "full"}},
                 {Floats({1, 1, 1, 8}, {1, 2, 3, 4, 5, 6, 7, 8})})[0];
  CHECK(found.At(0) == 3);
  CHECK(found.At(1) == 7);
  CHECK(found.At(2) == -std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace mxc
