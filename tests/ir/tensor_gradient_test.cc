// SPDX-License-Identifier: Apache-2.0
// Gradients of the tensor family against central differences, and where they
// are MXNet's own.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tests/ir/gradient_run.h"

namespace mxc {
namespace {

using Attrs = std::vector<AttrText>;
constexpr double kNanValue = std::numeric_limits<double>::quiet_NaN();

Tensor Some(Shape shape) { return SomeDoubles(std::move(shape)); }
Tensor More(Shape shape) { return SomeDoubles(std::move(shape), 3); }
// Between 1.1 and 1.9.
Tensor AboveOne(Shape shape, int seed = 0) {
  const Tensor some = SomeDoubles(shape, seed);
  std::vector<double> values;
  for (int64_t i = 0; i < shape.elements(); ++i) {
    values.push_back(1 + std::abs(some.At(i)));
  }
  return Doubles(shape, values);
}

TEST_CASE("functions of one variable") {
  for (const char* op :
       {"abs",          "arcsin",     "arccos",  "arctan", "arcsinh",
        "arctanh",      "cbrt",       "cos",     "cosh",   "degrees",
        "erf",          "erfinv",     "exp",     "expm1",  "floor",
        "hard_sigmoid", "negative",   "radians", "rcbrt",  "reciprocal",
        "relu",         "round",      "sigmoid", "sign",   "sin",
        "sinh",         "softsign",   "square",  "tan",    "tanh",
        "ones_like",    "logical_not"}) {
    CheckGradient(op, {}, {Some({7})});
  }
  for (const char* op : {"arccosh", "gamma", "gammaln", "log", "log10", "log1p",
                         "log2", "rsqrt", "sqrt"}) {
    CheckGradient(op, {}, {AboveOne({7})});
  }
  CheckGradient("smooth_l1", {{"scalar", "1.5"}}, {Some({7})});
  CheckGradient("clip", {{"a_min", "-0.4"}, {"a_max", "0.3"}}, {Some({7})});
  CheckGradient("_contrib_quadratic", {{"a", "2"}, {"b", "3"}, {"c", "1"}},
                {Some({7})});
  CheckGradient("_contrib_div_sqrt_dim", {}, {Some({2, 3})});
  CheckGradient("_image_normalize", {{"mean", "(1, 2)"}, {"std", "(2, 4)"}},
                {Some({2, 2, 3})});
}

TEST_CASE("functions of two variables, broadcast or not") {
  for (const std::string name :
       {"add", "sub", "mul", "div", "mod", "power", "maximum", "minimum",
        "hypot", "equal", "lesser", "logical_and"}) {
    CheckGradient("broadcast_" + name, {},
                  {AboveOne({2, 3}), AboveOne({2, 1}, 3)});
    CheckGradient("broadcast_" + name, {}, {AboveOne({3}), Some({2, 1, 3})});
  }
  for (const char* op :
       {"elemwise_add", "elemwise_sub", "elemwise_mul", "elemwise_div",
        "_power", "_maximum", "_minimum", "_hypot", "_mod"}) {
    CheckGradient(op, {}, {AboveOne({2, 3}), AboveOne({2, 3}, 3)});
  }
}

TEST_CASE("a tensor and a number") {
  for (const std::string name :
       {"plus", "minus", "rminus", "mul", "div", "rdiv", "mod", "rmod", "power",
        "rpower", "maximum", "minimum", "hypot", "greater"}) {
    CheckGradient("_" + name + "_scalar", {{"scalar", "1.3"}},
                  {AboveOne({2, 3})});
  }
}

TEST_CASE("a power of 0 does not depend on a positive exponent") {
  const std::vector<double> found =
      GradientOf(1, "broadcast_power", {},
                 {Doubles({2}, {0, 2}), Doubles({2}, {3, 3})}, {1, 1});
  CHECK(found[0] == 0);
  CHECK(found[1] == doctest::Approx(8 * std::log(2.0)));
}

TEST_CASE("kinks and straight-through estimates are MXNet's") {
  const auto gradient = [](const char* op, const Attrs& attrs,
                           std::vector<float> x, std::vector<double> head) {
    const auto extent = static_cast<int64_t>(x.size());
    return GradientOf(0, op, attrs, {Floats({extent}, std::move(x))},
                      std::move(head));
  };
  using Numbers = std::vector<double>;
  CHECK(gradient("relu", {}, {-1, 0, 2}, {5, 6, 7}) == Numbers{0, 0, 7});
  CHECK(gradient("abs", {}, {-1, 0, 2}, {5, 6, 7}) == Numbers{-5, 0, 7});
  CHECK(gradient("clip", {{"a_min", "0"}, {"a_max", "2"}}, {-1, 0, 2, 3},
                 {5, 6, 7, 8}) == Numbers{0, 6, 7, 0});
  CHECK(gradient("_contrib_round_ste", {}, {-1.2f, 0.7f}, {5, 6}) ==
        Numbers{5, 6});
  CHECK(gradient("_contrib_sign_ste", {}, {-1.2f, 0.7f}, {5, 6}) ==
        Numbers{5, 6});
  CHECK(gradient("_contrib_gradientmultiplier", {{"scalar", "-2"}}, {1, 2},
                 {5, 6}) == Numbers{-10, -12});
  CHECK(gradient("round", {}, {1.2f}, {5}).empty());
  // A tie goes to the left, and to every extremum.
  CHECK(GradientOf(0, "_maximum", {}, {Floats({1}, {3}), Floats({1}, {3})},
                   {5}) == Numbers{5});
  CHECK(GradientOf(1, "_maximum", {}, {Floats({1}, {3}), Floats({1}, {3})},
                   {5}) == Numbers{0});
  CHECK(gradient("max", {}, {4, 1, 4}, {5}) == Numbers{5, 0, 5});
  CHECK(gradient("min", {}, {4, 1, 1}, {5}) == Numbers{0, 5, 5});
  CHECK(Near(gradient("prod", {}, {0, 2, 3}, {1}), {6, 0, 0}));
  CHECK(Near(gradient("prod", {}, {0, 2, 0}, {1}), {0, 0, 0}));
  CHECK(Near(gradient("_np_prod", {}, {2, 0, 3}, {5}), {0, 30, 0}));
  CHECK(Near(gradient("nanprod", {}, {0, NAN, 3}, {5}), {15, 0, 0}));
  CHECK(Near(gradient("nansum", {}, {1, NAN, 3}, {5}), {5, 0, 5}));
  CHECK(Near(gradient("nanprod", {}, {2, NAN, 3}, {5}), {15, 0, 10}));
  CHECK(Near(gradient("norm", {}, {0, 0}, {1}), {kNanValue, kNanValue}));
}

TEST_CASE("reductions") {
  for (const char* op :
       {"sum", "mean", "prod", "nansum", "nanprod", "max", "min", "norm"}) {
    CheckGradient(op, {}, {Some({2, 3})});
    CheckGradient(op, {{"axis", "1"}}, {Some({2, 3, 2})});
    CheckGradient(op, {{"axis", "(0, -1)"}, {"keepdims", "1"}},
                  {Some({2, 3, 2})});
  }
  CheckGradient("sum", {{"axis", "1"}, {"exclude", "1"}}, {Some({2, 3, 2})});
  CheckGradient("norm", {{"ord", "1"}, {"axis", "1"}}, {Some({2, 3})});
  for (const char* op :
       {"_np_sum", "_npi_mean", "_np_prod", "_np_max", "_np_min"}) {
    CheckGradient(op, {}, {Some({2, 3})});
    CheckGradient(op, {{"axis", "(1,)"}}, {Some({2, 3})});
  }
  CheckGradient("moments", {{"axes", "(1,)"}}, {Some({2, 3})});
  CheckGradient("moments", {{"keepdims", "1"}}, {Some({2, 3})});
  CheckGradient("_np_cumsum", {{"axis", "1"}}, {Some({2, 3})});
  CheckGradient("_np_cumsum", {}, {Some({2, 3})});
}

TEST_CASE("broadcasts and copies") {
  CheckGradient("broadcast_to", {{"shape", "(2, 3)"}}, {Some({1, 3})});
  CheckGradient("broadcast_axis", {{"axis", "1"}, {"size", "4"}},
                {Some({2, 1, 3})});
  CheckGradient("broadcast_like", {}, {Some({1, 3}), Some({2, 3})});
  CheckGradient("tile", {{"reps", "(2, 1, 3)"}}, {Some({2, 3})});
  CheckGradient("tile", {{"reps", "(2,)"}}, {Some({2, 3})});
  CheckGradient("repeat", {{"repeats", "3"}, {"axis", "0"}}, {Some({2, 3})});
  CheckGradient("repeat", {{"repeats", "2"}}, {Some({2, 3})});
  CheckGradient("add_n", {{"num_args", "3"}},
                {Some({2}), More({2}), Some({2})});
  CheckGradient("_copy", {}, {Some({2})});
}

TEST_CASE("shapes") {
  const Tensor x = Some({2, 3, 4});
  CheckGradient("Reshape", {{"shape", "(4, -1)"}}, {x});
  CheckGradient("Flatten", {}, {x});
  CheckGradient("expand_dims", {{"axis", "1"}}, {x});
  CheckGradient("squeeze", {}, {Some({2, 1, 3})});
  CheckGradient("reshape_like", {}, {x, Some({6, 4})});
  CheckGradient("_np_reshape", {{"newshape", "(-1,)"}}, {x});
  CheckGradient("_npx_reshape", {{"newshape", "(-5, -2)"}}, {x});
  CheckGradient("transpose", {}, {x});
  CheckGradient("transpose", {{"axes", "(1, 2, 0)"}}, {x});
  CheckGradient("_np_transpose", {{"axes", "(-1, 0, 1)"}}, {x});
  CheckGradient("SwapAxis", {{"dim1", "0"}, {"dim2", "2"}}, {x});
  CheckGradient("reverse", {{"axis", "(0, 2)"}}, {x});
  CheckGradient("space_to_depth", {{"block_size", "2"}}, {Some({1, 2, 4, 2})});
  CheckGradient("depth_to_space", {{"block_size", "2"}}, {Some({1, 8, 1, 2})});
}

TEST_CASE("parts") {
  const Tensor x = Some({3, 4});
  CheckGradient("slice", {{"begin", "(0, 1)"}, {"end", "(2, 3)"}}, {x});
  CheckGradient(
      "slice",
      {{"begin", "(None, 3)"}, {"end", "(None, 0)"}, {"step", "(2, -2)"}}, {x});
  CheckGradient("slice", {{"begin", "(1,)"}, {"end", "(2,)"}, {"step", "(9,)"}},
                {x});
  CheckGradient("slice_axis", {{"axis", "1"}, {"begin", "-3"}, {"end", "None"}},
                {x});
  CheckGradient("slice_like", {}, {x, Some({2, 2})});
  CheckGradient("SliceChannel", {{"num_outputs", "2"}}, {x});
  CheckGradient("SliceChannel",
                {{"num_outputs", "3"}, {"axis", "0"}, {"squeeze_axis", "1"}},
                {x});
  CheckGradient("_split_v2", {{"indices", "(0, 1)"}, {"axis", "1"}}, {x});
  CheckGradient("_split_v2", {{"indices", "(1, 2)"}, {"axis", "1"}}, {x});
  CheckGradient("_split_v2", {{"indices", "(3,)"}, {"axis", "1"}}, {x});
  CheckGradient("Concat", {{"num_args", "2"}}, {x, Some({3, 2})});
  CheckGradient("stack", {{"num_args", "2"}, {"axis", "1"}}, {x, More({3, 4})});
  CheckGradient("_npi_concatenate", {{"num_args", "2"}, {"axis", "0"}},
                {x, Some({1, 4})});
  for (const char* mode : {"constant", "edge", "reflect"}) {
    CheckGradient("Pad",
                  {{"mode", mode}, {"pad_width", "(0, 0, 0, 0, 1, 2, 2, 0)"}},
                  {Some({1, 2, 3, 4})});
  }
  CheckGradient("Pad",
                {{"mode", "edge"}, {"pad_width", "(0, 0, 0, 0, 2, 1, 0, 3)"}},
                {Some({1, 1, 1, 2})});
  CheckGradient("diag", {{"k", "1"}}, {Some({3})});
  CheckGradient("diag", {{"k", "-1"}}, {x});
  CheckGradient("diag", {{"k", "1"}, {"axis1", "2"}, {"axis2", "0"}},
                {Some({3, 2, 4})});
  CheckGradient("im2col", {{"kernel", "(2, 2)"}, {"pad", "(1, 0)"}},
                {Some({1, 2, 3, 3})});
  CheckGradient("im2col",
                {{"kernel", "(2,)"}, {"stride", "(2,)"}, {"dilate", "(2,)"}},
                {Some({2, 1, 7})});
  CheckGradient("col2im", {{"output_size", "(3, 3)"}, {"kernel", "(2, 2)"}},
                {Some({1, 4, 4})});
}

TEST_CASE("products") {
  for (const char* a : {"0", "1"}) {
    for (const char* b : {"0", "1"}) {
      const Attrs attrs = {{"transpose_a", a}, {"transpose_b", b}};
      const bool ta = *a == '1', tb = *b == '1';
      CheckGradient(
          "dot", attrs,
          {ta ? Some({3, 2}) : Some({2, 3}), tb ? More({4, 3}) : More({3, 4})});
      CheckGradient("dot", attrs,
                    {ta ? Some({3, 2, 2}) : Some({2, 2, 3}),
                     tb ? More({4, 3}) : More({3, 4})});
      CheckGradient("batch_dot", attrs,
                    {ta ? Some({2, 3, 2}) : Some({2, 2, 3}),
                     tb ? More({2, 1, 3}) : More({2, 3, 1})});
      CheckGradient(
          "_linalg_gemm2",
          {{"transpose_a", a}, {"transpose_b", b}, {"alpha", "2"}},
          {ta ? Some({3, 2}) : Some({2, 3}), tb ? More({4, 3}) : More({3, 4})});
      for (const char* lower : {"0", "1"}) {
        CheckGradient("_linalg_trmm",
                      {{"transpose", a},
                       {"rightside", b},
                       {"lower", lower},
                       {"alpha", "1.5"}},
                      {Some({2, 2}), tb ? More({3, 2}) : More({2, 3})});
      }
    }
    CheckGradient("_linalg_syrk", {{"transpose", a}, {"alpha", "2"}},
                  {Some({2, 3, 2})});
  }
  CheckGradient("dot", {}, {Some({3}), More({3})});
  CheckGradient("dot", {}, {Some({2, 3}), More({3})});
  CheckGradient("_linalg_gemm", {{"beta", "3"}},
                {Some({2, 3}), More({3, 2}), Some({2, 2})});
  CheckGradient("_linalg_gemm", {{"axis", "0"}},
                {Some({2, 2, 3}), More({3, 2, 2}), Some({2, 2, 2})});
  CheckGradient("_npi_matmul", {}, {Some({2, 3}), More({3, 2})});
  CheckGradient("_npi_matmul", {}, {Some({2, 1, 2, 3}), More({2, 3, 2})});
  CheckGradient("khatri_rao", {{"num_args", "3"}},
                {Some({2, 2}), More({3, 2}), Some({1, 2})});
  CheckGradient("_linalg_sumlogdiag", {}, {AboveOne({2, 3, 3})});
  for (const char* offset : {"-1", "0", "1"}) {
    const Attrs attrs = {{"offset", offset}};
    CheckGradient("_linalg_extractdiag", attrs, {Some({2, 3, 3})});
    CheckGradient("_linalg_makediag", attrs, {Some({2, 3})});
    CheckGradient("_linalg_extracttrian", attrs, {Some({2, 3, 3})});
    CheckGradient("_linalg_maketrian", attrs, {Some({2, 3})});
  }
}

TEST_CASE("reading at positions: what is read twice adds up") {
  const Tensor x = Some({3, 4});
  CheckGradient("take", {}, {x, Floats({2, 2}, {2, 0, 2, -7})});
  CheckGradient("take", {{"axis", "1"}, {"mode", "wrap"}},
                {x, Floats({3}, {1, 5, -1})});
  CheckGradient("pick", {}, {x, Floats({3}, {1, 9, 0})});
  CheckGradient("pick", {{"axis", "0"}, {"keepdims", "1"}, {"mode", "wrap"}},
                {x, Floats({1, 4}, {1, 2, 4, -1})});
  CheckGradient("batch_take", {}, {x, Floats({3}, {1, 3, 1})});
  CheckGradient("gather_nd", {}, {x, Floats({2, 3}, {0, 2, 0, 1, 3, 1})});
  CheckGradient("gather_nd", {}, {x, Floats({1, 2}, {1, -2})});
  CheckGradient("scatter_nd", {{"shape", "(3, 4)"}},
                {Some({2}), Floats({2, 2}, {0, 2, 1, 3})});
  CheckGradient("_contrib_index_copy", {},
                {x, Floats({2}, {2, 0}), More({2, 4})});
  CheckGradient(
      "where", {},
      {Floats({3, 4}, {0, 1, 0, 1, 1, 1, 0, 0, 2, 0, -1, 0}), x, More({3, 4})});
  CheckGradient("where", {}, {Floats({3}, {0, 1, 0}), x, More({3, 4})});
  CheckGradient("sort", {{"is_ascend", "0"}}, {x});
  CheckGradient("sort", {{"axis", "None"}}, {x});
  CheckGradient("topk", {{"k", "2"}, {"ret_typ", "value"}}, {x});
  CheckGradient("topk", {{"axis", "None"}, {"k", "3"}, {"ret_typ", "value"}},
                {x});
}

TEST_CASE("a gradient keeps the element type of its input") {
  const Tensor x = TypedTensor(DType::kF16, {2}, {1, 2});
  const auto gradients = EvaluateGradient("Cast", {{"dtype", "float32"}}, {x},
                                          {Floats({2}, {0.5, 3})});
  REQUIRE(!gradients[0].empty());
  CHECK(gradients[0].type().dtype == DType::kF16);
  CHECK(gradients[0].At(1) == 3);
  const auto reduced = EvaluateGradient("norm", {{"out_dtype", "float32"}}, {x},
                                        {Floats({1}, {1})});
  CHECK(reduced[0].type().dtype == DType::kF16);
}

}  // namespace
}  // namespace mxc
