// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tests/ir/op_run.h"

namespace mxc {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
const Tensor kTies =
    Floats({8}, {-2.5f, -1.5f, -0.5f, -0.4f, 0.5f, 1.5f, 2.5f, 2.6f});

TEST_CASE("rounding operators break ties as MXNet does") {
  using List = std::vector<double>;
  CHECK(Evaluate("round", {}, {kTies}) == List{-3, -2, -1, 0, 1, 2, 3, 3});
  CHECK(Evaluate("rint", {}, {kTies}) == List{-3, -2, -1, 0, 0, 1, 2, 3});
  CHECK(Evaluate("fix", {}, {kTies}) == List{-2, -1, 0, 0, 0, 1, 2, 2});
  CHECK(Evaluate("trunc", {}, {kTies}) == List{-2, -1, 0, 0, 0, 1, 2, 2});
  CHECK(Evaluate("floor", {}, {kTies}) == List{-3, -2, -1, -1, 0, 1, 2, 2});
  CHECK(Evaluate("ceil", {}, {kTies}) == List{-2, -1, 0, 0, 1, 2, 3, 3});
}

TEST_CASE("unary operators give the values of mathematics") {
  struct Case {
    const char* op;
    double (*f)(double);
  };
  const Case cases[] = {
      {"exp", std::exp},
      {"expm1", std::expm1},
      {"log", std::log},
      {"log2", std::log2},
      {"log10", std::log10},
      {"log1p", std::log1p},
      {"sin", std::sin},
      {"cos", std::cos},
      {"tan", std::tan},
      {"arcsin", std::asin},
      {"arccos", std::acos},
      {"arctan", std::atan},
      {"sinh", std::sinh},
      {"cosh", std::cosh},
      {"tanh", std::tanh},
      {"arcsinh", std::asinh},
      {"arctanh", std::atanh},
      {"sqrt", std::sqrt},
      {"cbrt", std::cbrt},
      {"erf", std::erf},
      {"gamma", std::tgamma},
      {"gammaln", std::lgamma},
      {"rsqrt", [](double x) { return 1 / std::sqrt(x); }},
      {"rcbrt", [](double x) { return 1 / std::cbrt(x); }},
      {"reciprocal", [](double x) { return 1 / x; }},
      {"square", [](double x) { return x * x; }},
      {"negative", [](double x) { return -x; }},
      {"abs", [](double x) { return std::abs(x); }},
      {"relu", [](double x) { return std::max(x, 0.0); }},
      {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"softsign", [](double x) { return x / (1 + std::abs(x)); }},
      {"degrees", [](double x) { return x * 180 / M_PI; }},
      {"radians", [](double x) { return x * M_PI / 180; }},
  };
  for (const Case& c : cases) {
    CAPTURE(c.op);
    const std::vector<double> got =
        Evaluate(c.op, {}, {Floats({2}, {0.25f, 0.75f})});
    CHECK(Near(got, {c.f(0.25), c.f(0.75)}, 1e-5));
  }
  CHECK(Near(Evaluate("arccosh", {}, {Floats({1}, {2})}), {std::acosh(2)}));
  CHECK(Near(Evaluate("erfinv", {}, {Floats({1}, {std::erf(0.3f)})}), {0.3},
             1e-5));
}

TEST_CASE("NaN passes through relu, clip and the greater of two") {
  const Tensor x = Floats({2}, {std::nanf(""), -2});
  CHECK(Near(Evaluate("relu", {}, {x}), {kNotANumber, 0}));
  CHECK(Near(Evaluate("clip", {{"a_min", "0"}, {"a_max", "1"}}, {x}),
             {kNotANumber, 0}));
  CHECK(Near(Evaluate("_maximum", {}, {x, Floats({2}, {1, 1})}),
             {kNotANumber, 1}));
}

TEST_CASE("a transcendental function of integers is truncated") {
  const Tensor x = TypedTensor(DType::kI32, {3}, {1, 2, 10});
  CHECK(Evaluate("exp", {}, {x}) == std::vector<double>{2, 7, 22026});
  CHECK(Evaluate("sqrt", {}, {x}) == std::vector<double>{1, 1, 3});
}

TEST_CASE("smooth_l1 and hard_sigmoid meet their pieces") {
  const Tensor x = Floats({5}, {-3, -0.25f, 0, 0.25f, 3});
  CHECK(Near(Evaluate("smooth_l1", {{"scalar", "1"}}, {x}),
             {2.5, 0.03125, 0, 0.03125, 2.5}));
  CHECK(Near(Evaluate("smooth_l1", {{"scalar", "2"}}, {x}),
             {2.875, 0.125, 0, 0.125, 2.875}));
  CHECK(Near(Evaluate("hard_sigmoid", {}, {x}), {0, 0.45, 0.5, 0.55, 1}));
}

TEST_CASE("modulo takes the sign of the divisor, and is 0 by 0") {
  const Tensor a = Floats({5}, {5, -5, 5, -5, 3});
  const Tensor b = Floats({5}, {3, 3, -3, -3, 0});
  CHECK(Evaluate("_mod", {}, {a, b}) == std::vector<double>{2, 1, -1, -2, 0});
  const Tensor i = TypedTensor(DType::kI32, {3}, {-7, 7, 7});
  const Tensor j = TypedTensor(DType::kI32, {3}, {3, -3, 0});
  CHECK(Evaluate("_mod", {}, {i, j}) == std::vector<double>{2, -2, 0});
}

TEST_CASE("integers divide towards zero") {
  const Tensor a = TypedTensor(DType::kI32, {3}, {7, -7, -6});
  const Tensor b = TypedTensor(DType::kI32, {3}, {2, 2, 3});
  CHECK(Evaluate("elemwise_div", {}, {a, b}) == std::vector<double>{3, -3, -2});
}

TEST_CASE("comparisons and logical operators give 1 and 0 of the same type") {
  const Tensor a = Floats({4}, {0, 1, 2, -1}), b = Floats({4}, {0, 2, 1, 0});
  using List = std::vector<double>;
  CHECK(Evaluate("_equal", {}, {a, b}) == List{1, 0, 0, 0});
  CHECK(Evaluate("_not_equal", {}, {a, b}) == List{0, 1, 1, 1});
  CHECK(Evaluate("_greater", {}, {a, b}) == List{0, 0, 1, 0});
  CHECK(Evaluate("_greater_equal", {}, {a, b}) == List{1, 0, 1, 0});
  CHECK(Evaluate("_lesser", {}, {a, b}) == List{0, 1, 0, 1});
  CHECK(Evaluate("_lesser_equal", {}, {a, b}) == List{1, 1, 0, 1});
  CHECK(Evaluate("_logical_and", {}, {a, b}) == List{0, 1, 1, 0});
  CHECK(Evaluate("_logical_or", {}, {a, b}) == List{0, 1, 1, 1});
  CHECK(Evaluate("_logical_xor", {}, {a, b}) == List{0, 0, 0, 1});
  CHECK(EvaluateOp("_equal", {}, {a, b})[0].type().dtype == DType::kF32);
}

TEST_CASE("a scalar is converted to the type of the data first") {
  const Tensor i = TypedTensor(DType::kI32, {3}, {-3, 2, 5});
  using List = std::vector<double>;
  CHECK(Evaluate("_plus_scalar", {{"scalar", "1.7"}}, {i}) == List{-2, 3, 6});
  CHECK(Evaluate("_mul_scalar", {{"scalar", "2.5"}}, {i}) == List{-6, 4, 10});
  CHECK(Evaluate("_rminus_scalar", {{"scalar", "1"}}, {i}) == List{4, -1, -4});
  CHECK(Evaluate("_rdiv_scalar", {{"scalar", "7"}}, {i}) == List{-2, 3, 1});
  const Tensor x = Floats({2}, {0.1f, 0.2f});
  CHECK(Evaluate("_equal_scalar", {{"scalar", "0.1"}}, {x}) == List{1, 0});
}

TEST_CASE("broadcasting aligns shapes at the last axis") {
  const Tensor a = Floats({2, 1}, {1, 2}), b = Floats({3}, {10, 20, 30});
  CHECK(Evaluate("broadcast_add", {}, {a, b}) ==
        std::vector<double>{11, 21, 31, 12, 22, 32});
  CHECK(InferOp("broadcast_mul", {}, {{2, 1, 3, 1}, {2, 1, 2}}).Out() ==
        "(2, 2, 3, 2)");
  CHECK(Refuses("C1", "broadcast_add", {}, {{2, 3}, {2, 4}}));
}

TEST_CASE("elementwise operators neither broadcast nor forget what is known") {
  CHECK(Refuses("C1", "elemwise_add", {}, {{2, 3}, {2, 1}}));
  CHECK(Refuses("C1", "add_n", {{"num_args", "2"}}, {{2, 3}, {3, 2}}));
  const OpRun run = InferOp("elemwise_add", {}, {{2, -1}, {-1, 3}});
  CHECK(run.In(0) == "(2, 3)");
  CHECK(run.In(1) == "(2, 3)");
  CHECK(run.Out() == "(2, 3)");
}

TEST_CASE("where selects by element or by row") {
  const Tensor x = Floats({2, 2}, {1, 2, 3, 4}),
               y = Floats({2, 2}, {5, 6, 7, 8});
  CHECK(Evaluate("where", {}, {Floats({2, 2}, {1, 0, -1, 0}), x, y}) ==
        std::vector<double>{1, 6, 3, 8});
  CHECK(Evaluate("where", {}, {Floats({2}, {0, 1}), x, y}) ==
        std::vector<double>{5, 6, 3, 4});
  CHECK(Refuses("C1", "where", {}, {{2, 2}, {2, 2}, {2, 3}}));
  CHECK(Refuses("C2", "where", {}, {{2, 2}, {3, 3}, {3, 3}}));
}

TEST_CASE("Cast truncates, and gives the least integer for what does not fit") {
  const Tensor x = Floats({4}, {-2.5f, 2.7f, 1e10f, -1e10f});
  CHECK(Evaluate("Cast", {{"dtype", "int32"}}, {x}) ==
        std::vector<double>{-2, 2, -2147483648.0, -2147483648.0});
  // As MXNet 1.9.1 on x86.
  const float infinity = std::numeric_limits<float>::infinity();
  const Tensor far =
      Floats({11}, {-2.93f, 255.9f, 300.7f, -300.2f, 65536.5f, 1e6f, -129, 3e9f,
                    infinity, -infinity, std::nanf("")});
  CHECK(Evaluate("Cast", {{"dtype", "uint8"}}, {far}) ==
        std::vector<double>{254, 255, 44, 212, 0, 64, 127, 0, 0, 0, 0});
  CHECK(Evaluate("Cast", {{"dtype", "int8"}}, {far}) ==
        std::vector<double>{-2, -1, 44, -44, 0, 64, 127, 0, 0, 0, 0});
  const double least = -0x1p63;
  CHECK(Evaluate("Cast", {{"dtype", "int64"}}, {far}) ==
        std::vector<double>{-2, 255, 300, -300, 65536, 1000000, -129, 3e9,
                            least, least, least});
  CHECK(Near(Evaluate("Cast", {{"dtype", "float16"}},
                      {Floats({2}, {65519, 1.0009766f})}),
             {65504, 1.0009765625}));
}

TEST_CASE("amp operators change floats only") {
  const Tensor half = TypedTensor(DType::kF16, {1}, {1.5});
  const auto out = EvaluateOp("amp_multicast", {{"num_outputs", "2"}},
                              {Floats({1}, {2.5f}), half});
  CHECK(out[1].type().dtype == DType::kF32);
  CHECK(out[1].At(0) == 1.5);
}

TEST_CASE("quantized values and their range") {
  const Tensor x = Floats({3}, {1.895f, -0.517f, 5});
  const auto out =
      EvaluateOp("_contrib_quantize_v2",
                 {{"min_calib_range", "-1.5"}, {"max_calib_range", "2"}}, {x});
  CHECK(out[0].type().dtype == DType::kI8);
  CHECK(out[0].At(0) == 121);
  CHECK(out[0].At(1) == -33);
  CHECK(out[0].At(2) == 127);
  CHECK(out[1].At(0) == -2);
  const auto back = Evaluate("_contrib_dequantize", {},
                             {out[0], Floats({1}, {-2}), Floats({1}, {2})});
  CHECK(Near(back, {1.895, -0.517, 2}, 0.02));
}

TEST_CASE("8-bit integers are the nearest, and reach down to -128") {
  const float infinity = std::numeric_limits<float>::infinity();
  const Tensor x = Floats({10}, {0.5f, 1.5f, 2.5f, -0.5f, -2.5f, 127, -127.5f,
                                 infinity, -infinity, std::nanf("")});
  const auto quantized = [&](const char* type, const char* low,
                             const char* high) {
    return Evaluate("_contrib_quantize_v2",
                    {{"out_type", type},
                     {"min_calib_range", low},
                     {"max_calib_range", high}},
                    {x});
  };
  CHECK(quantized("int8", "-127.5", "127.5") ==
        std::vector<double>{0, 2, 2, 0, -2, 127, -128, 127, -128, 127});
  CHECK(quantized("uint8", "0", "255.5") ==
        std::vector<double>{0, 2, 2, 0, 0, 127, 0, 255, 0, 0});
}

TEST_CASE("sums of quantized products become 8-bit integers again") {
  const auto out =
      EvaluateOp("_contrib_requantize",
                 {{"min_calib_range", "-2"}, {"max_calib_range", "2"}},
                 {TypedTensor(DType::kI32, {3}, {-100000, 0, 500000}),
                  Floats({1}, {-30000}), Floats({1}, {30000})});
  CHECK(out[0].At(0) == -89);
  CHECK(out[0].At(1) == 0);
  CHECK(out[0].At(2) == 127);
  CHECK(out[2].At(0) == 2);
}

TEST_CASE("allclose compares within a tolerance") {
  const Tensor a = Floats({2}, {1, 2}), b = Floats({2}, {1, 2.0001f});
  CHECK(Evaluate("_contrib_allclose", {}, {a, a}) == std::vector<double>{1});
  CHECK(Evaluate("_contrib_allclose", {}, {a, b}) == std::vector<double>{0});
  CHECK(Evaluate("_contrib_allclose", {{"atol", "0.01"}}, {a, b}) ==
        std::vector<double>{1});
  CHECK(Refuses("C1", "_contrib_allclose", {}, {{2}, {3}}));
}

TEST_CASE("pictures become planes of normalized floats") {
  const Tensor pixel = TypedTensor(DType::kU8, {1, 2, 2}, {0, 255, 51, 102});
  const Tensor planes = EvaluateOp("_image_to_tensor", {}, {pixel})[0];
  CHECK(ToString(planes.shape()) == "(2, 1, 2)");
  CHECK(Near(Evaluate("_image_to_tensor", {}, {pixel}), {0, 0.2, 1, 0.4}));
  CHECK(Near(Evaluate("_image_normalize",
                      {{"mean", "(0, 0.5)"}, {"std", "(0.1, 0.5)"}}, {planes}),
             {0, 2, 1, -0.2}));
  CHECK(Refuses("C1", "_image_to_tensor", {}, {{2, 2}}));
  CHECK(Refuses("C1", "_image_normalize", {}, {{2, 2}}));
  CHECK(Refuses("C2", "_image_normalize", {{"mean", "(1, 2)"}}, {{3, 2, 2}}));
}

}  // namespace
}  // namespace mxc
