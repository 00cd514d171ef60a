// SPDX-License-Identifier: Apache-2.0
// Joining, cutting, padding and repeating.
#include <doctest/doctest.h>

#include "tests/ir/op_run.h"

namespace mxc {
namespace {

using List = std::vector<double>;

const Tensor kZeroToFive = Floats({2, 3}, {0, 1, 2, 3, 4, 5});

TEST_CASE("Concat joins along an axis and solves for a missing extent") {
  const Tensor column = Floats({2, 1}, {8, 9});
  CHECK(Evaluate("Concat", {{"num_args", "2"}}, {kZeroToFive, column}) ==
        List{0, 1, 2, 8, 3, 4, 5, 9});
  CHECK(InferOp("Concat", {{"num_args", "2"}, {"dim", "-2"}}, {{1, 3}, {2, -1}})
            .In(1) == "(2, 3)");
  CHECK(Refuses("C1", "Concat", {{"num_args", "1"}, {"dim", "2"}}, {{2, 3}}));
  CHECK(Refuses("C2", "Concat", {{"num_args", "2"}}, {{2, 3}, {3, 3}}));
  CHECK(Refuses("C4", "_npi_concatenate", {{"num_args", "1"}, {"axis", "None"}},
                {{2, 3}}));
}

TEST_CASE("stack joins along a new axis") {
  const Tensor a = Floats({2}, {1, 2}), b = Floats({2}, {3, 4});
  CHECK(Evaluate("stack", {{"num_args", "2"}, {"axis", "1"}}, {a, b}) ==
        List{1, 3, 2, 4});
  CHECK(Refuses("C1", "stack", {{"num_args", "1"}, {"axis", "3"}}, {{2}}));
  CHECK(Refuses("C2", "stack", {{"num_args", "2"}}, {{2}, {3}}));
}

TEST_CASE("an axis is cut into parts") {
  const auto halves = EvaluateOp(
      "SliceChannel",
      {{"num_outputs", "3"}, {"axis", "1"}, {"squeeze_axis", "True"}},
      {kZeroToFive});
  REQUIRE(halves.size() == 3);
  CHECK(ToString(halves[1].shape()) == "(2)");
  CHECK(halves[1].At(1) == 4);
  const auto parts =
      EvaluateOp("_split_v2", {{"indices", "(0, 1)"}}, {kZeroToFive});
  CHECK(ToString(parts[1].shape()) == "(2, 2)");
  CHECK(parts[1].At(2) == 4);
  const Shape in = {2, 3, 8, 8};
  CHECK(Refuses("C1", "SliceChannel", {{"num_outputs", "1"}, {"axis", "4"}},
                {in}));
  CHECK(Refuses("C2", "SliceChannel", {{"num_outputs", "2"}}, {in}));
  CHECK(Refuses("C3", "SliceChannel",
                {{"num_outputs", "1"}, {"squeeze_axis", "True"}}, {in}));
  CHECK(Refuses("C1", "_split_v2", {{"indices", "(0,)"}, {"axis", "4"}}, {in}));
  CHECK(Refuses("C2", "_split_v2", {{"indices", "(0,)"}, {"sections", "2"}},
                {in}));
  CHECK(Refuses("C3", "_split_v2", {{"indices", "(0, 5)"}}, {in}));
  CHECK(Refuses("C4", "_split_v2",
                {{"indices", "(0, 2)"}, {"squeeze_axis", "True"}}, {in}));
  CHECK(Refuses("C5", "_split_v2", {{"indices", "()"}}, {in}));
}

TEST_CASE("slice follows Python, backwards too") {
  const auto sliced = [](const char* begin, const char* end, const char* step) {
    return Evaluate("slice", {{"begin", begin}, {"end", end}, {"step", step}},
                    {Floats({6}, {0, 1, 2, 3, 4, 5})});
  };
  CHECK(sliced("(1,)", "(4,)", "()") == List{1, 2, 3});
  CHECK(sliced("(None,)", "(None,)", "(-2,)") == List{5, 3, 1});
  CHECK(sliced("(-3,)", "(100,)", "()") == List{3, 4, 5});
  CHECK(sliced("(4,)", "(1,)", "(-1,)") == List{4, 3, 2});
  CHECK(sliced("(0,)", "(-1,)", "(2,)") == List{0, 2, 4});
  const auto refuses = [](const char* label, const char* begin, const char* end,
                          const char* step) {
    return Refuses(label, "slice",
                   {{"begin", begin}, {"end", end}, {"step", step}}, {{2, 3}});
  };
  CHECK(refuses("C1", "(0, 0, 0)", "(1, 1, 1)", "()"));
  CHECK(refuses("C1", "(0, 0)", "(1,)", "()"));
  CHECK(refuses("C2", "(0,)", "(1,)", "(0,)"));
  CHECK(refuses("C3", "(1,)", "(1,)", "()"));
}

TEST_CASE("slices and named places are replaced") {
  const Tensor x = Floats({2, 3}, {0, 1, 2, 3, 4, 5});
  const std::vector<AttrText> back = {
      {"begin", "(None, -1)"}, {"end", "(None, 0)"}, {"step", "(1, -1)"}};
  CHECK(
      Evaluate("_slice_assign", back, {x, Floats({2, 2}, {10, 20, 30, 40})}) ==
      List{0, 20, 10, 3, 40, 30});
  std::vector<AttrText> number = back;
  number.emplace_back("scalar", "7");
  CHECK(Evaluate("_slice_assign_scalar", number, {x}) ==
        List{0, 7, 7, 3, 7, 7});
  CHECK(Refuses("C4", "_slice_assign", back, {{2, 3}, {2, 3}}));
  CHECK(Refuses("C3", "_slice_assign_scalar",
                {{"begin", "(2,)"}, {"end", "(2,)"}}, {{2, 3}}));
  CHECK(Evaluate("_scatter_set_nd", {{"shape", "(2, 3)"}},
                 {x, Floats({2}, {10, 20}), Floats({2, 2}, {0, 1, 2, 0})}) ==
        List{0, 1, 10, 20, 4, 5});
  CHECK(Refuses("C1", "_scatter_set_nd", {{"shape", "(2, 3)"}},
                {{3, 3}, {2}, {2, 2}}));
}

TEST_CASE("parts of pictures, and pictures in another size") {
  const Tensor x = Floats({2, 3, 1}, {0, 1, 2, 3, 4, 5});
  CHECK(Evaluate("_image_crop",
                 {{"x", "1"}, {"y", "0"}, {"width", "2"}, {"height", "1"}},
                 {x}) == List{1, 2});
  CHECK(Refuses("C2", "_image_crop",
                {{"x", "2"}, {"y", "0"}, {"width", "2"}, {"height", "1"}},
                {{2, 3, 1}}));
  CHECK(Evaluate("_image_flip_left_right", {}, {x}) == List{2, 1, 0, 5, 4, 3});
  CHECK(Evaluate("_image_flip_top_bottom", {}, {x}) == List{3, 4, 5, 0, 1, 2});
  CHECK(
      Near(Evaluate("_image_resize", {{"size", "(2, 1)"}}, {x}), {1.75, 3.25}));
  CHECK(Evaluate("_image_resize", {{"size", "(6, 2)"}, {"interp", "0"}}, {x}) ==
        List{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5});
  const std::vector<AttrText> shorter = {{"size", "4"}, {"keep_ratio", "True"}};
  CHECK(InferOp("_image_resize", shorter, {{2, 3, 1}}).Out() == "(4, 6, 1)");
  CHECK(InferOp("_image_resize", shorter, {{5, 3, 2, 1}}).Out() ==
        "(5, 6, 4, 1)");
  CHECK(Refuses("C3", "_image_resize", {{"size", "4"}, {"interp", "3"}},
                {{2, 3, 1}}));
  CHECK(Refuses("C1", "_image_resize", {{"size", "4"}}, {{2, 3}}));
}

TEST_CASE("slice_axis and slice_like cut to a range") {
  CHECK(Evaluate("slice_axis",
                 {{"axis", "-1"}, {"begin", "-2"}, {"end", "None"}},
                 {kZeroToFive}) == List{1, 2, 4, 5});
  CHECK(Evaluate("slice_like", {{"axes", "(1,)"}},
                 {kZeroToFive, Floats({1, 2}, {0, 0})}) == List{0, 1, 3, 4});
  const Shape in = {2, 3, 8, 8};
  CHECK(Refuses("C1", "slice_axis",
                {{"axis", "4"}, {"begin", "0"}, {"end", "1"}}, {in}));
  CHECK(Refuses("C2", "slice_axis",
                {{"axis", "1"}, {"begin", "2"}, {"end", "1"}}, {in}));
  CHECK(Refuses("C2", "slice_axis",
                {{"axis", "1"}, {"begin", "0"}, {"end", "9"}}, {in}));
  CHECK(Refuses("C1", "slice_like", {{"axes", "(2,)"}}, {{2, 3}, {2, 3}}));
  CHECK(Refuses("C2", "slice_like", {}, {{2, 3}, {2, 3, 1}}));
  CHECK(Refuses("C3", "slice_like", {}, {{2, 3}, {2, 4}}));
}

TEST_CASE("Pad borders an image in three ways") {
  const Tensor x = Floats({1, 1, 1, 3}, {1, 2, 3});
  const auto padded = [&](const char* mode) {
    return Evaluate("Pad",
                    {{"mode", mode},
                     {"pad_width", "(0, 0, 0, 0, 0, 0, 2, 1)"},
                     {"constant_value", "7"}},
                    {x});
  };
  CHECK(padded("constant") == List{7, 7, 1, 2, 3, 7});
  CHECK(padded("edge") == List{1, 1, 1, 2, 3, 3});
  CHECK(padded("reflect") == List{3, 2, 1, 2, 3, 2});
  const auto refuses = [](const char* label, const char* width) {
    return Refuses(label, "Pad", {{"mode", "reflect"}, {"pad_width", width}},
                   {{2, 3, 8, 8}});
  };
  CHECK(refuses("C1", "(0, 0, 0, 0, 1)"));
  CHECK(refuses("C1", "(0, 0, 0, 0, 1, 1, 1, 1, 1, 1)"));
  CHECK(refuses("C2", "(1, 0, 0, 0, 1, 1, 1, 1)"));
  CHECK(refuses("C3", "(0, 0, 0, 0, 8, 0, 0, 0)"));
}

TEST_CASE("tile, repeat and reverse") {
  const Tensor x = Floats({2}, {1, 2});
  CHECK(Evaluate("tile", {{"reps", "(2, 2)"}}, {x}) ==
        List{1, 2, 1, 2, 1, 2, 1, 2});
  CHECK(Evaluate("repeat", {{"repeats", "2"}}, {x}) == List{1, 1, 2, 2});
  CHECK(Evaluate("repeat", {{"repeats", "2"}, {"axis", "0"}}, {kZeroToFive}) ==
        List{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
  CHECK(Evaluate("reverse", {{"axis", "(0, 1)"}}, {kZeroToFive}) ==
        List{5, 4, 3, 2, 1, 0});
  CHECK(Refuses("C1", "tile", {{"reps", "(0,)"}}, {{2}}));
  CHECK(Refuses("C1", "repeat", {{"repeats", "2"}, {"axis", "1"}}, {{2}}));
  CHECK(Refuses("C1", "reverse", {{"axis", "(1,)"}}, {{2}}));
}

TEST_CASE("extents too large for memory are refused, not computed") {
  const char* huge = "4611686018427387904";
  CHECK(!InferOp("repeat", {{"repeats", huge}}, {{8}}).error.empty());
  CHECK(!InferOp("tile", {{"reps", huge}}, {{8}}).error.empty());
  CHECK(!InferOp("SliceChannel", {{"num_outputs", huge}}, {{8}}).error.empty());
}

TEST_CASE("im2col lays windows out as columns") {
  const Tensor x = Floats({1, 1, 3}, {1, 2, 3});
  CHECK(Evaluate("im2col", {{"kernel", "(2,)"}, {"pad", "(1,)"}}, {x}) ==
        List{0, 1, 2, 3, 1, 2, 3, 0});
  CHECK(Refuses("C1", "im2col", {{"kernel", "(2, 2)"}}, {{1, 1, 3}}));
  CHECK(Refuses("C2", "im2col", {{"kernel", "(2,)"}, {"pad", "(1, 1)"}},
                {{1, 1, 3}}));
  CHECK(Refuses("C3", "im2col", {{"kernel", "(4,)"}}, {{1, 1, 3}}));
}

TEST_CASE("rows are retained, and elements that are not 0 counted") {
  const Tensor rows = Floats({4, 2}, {1, 2, 3, 4, 5, 6, 0, 8});
  CHECK(Evaluate("_sparse_retain", {}, {rows, Floats({3}, {3, 0, 3})}) ==
        std::vector<double>{1, 2, 0, 0, 0, 0, 0, 8});
  CHECK(Refuses("C1", "_sparse_retain", {}, {{4, 2}, {2, 2}}));
  CHECK(Evaluate("_contrib_getnnz", {}, {rows}) == std::vector<double>{7});
  CHECK(Evaluate("_contrib_getnnz", {{"axis", "1"}}, {rows}) ==
        std::vector<double>{2, 2, 2, 1});
  CHECK(Refuses("C1", "_contrib_getnnz", {}, {{4}}));
  CHECK(Refuses("C2", "_contrib_getnnz", {{"axis", "0"}}, {{4, 2}}));
}

}  // namespace
}  // namespace mxc
