// SPDX-License-Identifier: Apache-2.0
// Operators of mx.np, with the values that NumPy gives.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "tests/ir/op_run.h"

namespace mxc {
namespace {

using List = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Tensor TwoByThree() { return Floats({2, 3}, {1, 2, 3, 4, 5, 6}); }
Tensor Doubles(const Shape& shape, const List& values) {
  return TypedTensor(DType::kF64, shape, values);
}

TEST_CASE("tests and comparisons give truth values") {
  const Tensor x = Doubles({4}, {0, kNan, kInfinity, -kInfinity});
  CHECK(EvaluateOp("_npi_isnan", {}, {x})[0].type().dtype == DType::kBool);
  CHECK(Evaluate("_npi_isnan", {}, {x}) == List{0, 1, 0, 0});
  CHECK(Evaluate("_npi_isinf", {}, {x}) == List{0, 0, 1, 1});
  CHECK(Evaluate("_npi_isposinf", {}, {x}) == List{0, 0, 1, 0});
  CHECK(Evaluate("_npi_isneginf", {}, {x}) == List{0, 0, 0, 1});
  CHECK(Evaluate("_npi_isfinite", {}, {x}) == List{1, 0, 0, 0});
  CHECK(Evaluate("_npi_logical_not", {}, {x}) == List{1, 0, 0, 0});
  CHECK(Evaluate("_npi_less", {}, {TwoByThree(), Floats({3}, {2, 2, 4})}) ==
        List{1, 0, 1, 0, 0, 0});
  // A number with a fraction is not cut to an integer first.
  const Tensor whole = TypedTensor(DType::kI32, {2}, {1, 2});
  CHECK(Evaluate("_npi_greater_scalar",
                 {{"scalar", "1.5"}, {"is_int", "False"}},
                 {whole}) == List{0, 1});
  // One that an unsigned type lacks wraps around, as MXNet has it.
  CHECK(Evaluate("_npi_greater_scalar", {{"scalar", "-1"}},
                 {TypedTensor(DType::kU8, {1}, {3})}) == List{0});
  CHECK(Evaluate("_np_any", {{"axis", "(1,)"}},
                 {Floats({2, 2}, {0, 0, 0, 3})}) == List{0, 1});
  CHECK(Evaluate("_np_all", {}, {Floats({2, 2}, {0, 1, 1, 3})}) == List{0});
}

TEST_CASE("angles, signs and powers of two") {
  const double pi = std::numbers::pi;
  CHECK(Near(Evaluate("_npi_arctan2", {},
                      {Doubles({6}, {1, 1, -1, -1, 0, 2}),
                       Doubles({6}, {1, -1, 1, -1, -1, 0})}),
             {pi / 4, 3 * pi / 4, -pi / 4, -3 * pi / 4, pi, pi / 2}));
  CHECK(Near(
      Evaluate("_npi_rarctan2_scalar", {{"scalar", "2"}}, {Doubles({1}, {0})}),
      {pi / 2}));
  CHECK(Evaluate("_npi_copysign", {},
                 {Doubles({3}, {1, -2, 3}), Doubles({3}, {-1, 5, -0.0})}) ==
        List{-1, 2, -3});
  CHECK(Evaluate("_npi_ldexp_scalar", {{"scalar", "3"}},
                 {Doubles({2}, {1.5, -1})}) == List{12, -8});
  CHECK(Evaluate("_npi_around", {},
                 {Doubles({5}, {0.5, 1.5, 2.5, -0.5, -1.5})}) ==
        List{0, 2, 2, 0, -2});
  CHECK(Evaluate("_npi_around", {{"decimals", "-1"}},
                 {Doubles({3}, {125, 135, 145})}) == List{120, 140, 140});
  CHECK(Evaluate("_npi_nan_to_num", {{"nan", "7"}, {"neginf", "-1"}},
                 {Doubles({4}, {kNan, kInfinity, -kInfinity, 2})}) ==
        List{7, std::numeric_limits<double>::max(), -1, 2});
  const Tensor bits = TypedTensor(DType::kI32, {3}, {12, 10, -1});
  const auto scalar = [&](const char* op) {
    return Evaluate(op, {{"scalar", "6"}}, {bits});
  };
  CHECK(scalar("_npi_bitwise_and_scalar") == List{4, 2, 6});
  CHECK(scalar("_npi_bitwise_or_scalar") == List{14, 14, -1});
  CHECK(scalar("_npi_bitwise_xor_scalar") == List{10, 12, -7});
  CHECK(Evaluate("_npi_bitwise_not", {}, {bits}) == List{-13, -11, 0});
}

TEST_CASE("numpy.where broadcasts") {
  const Tensor condition = Floats({2, 1}, {1, 0});
  CHECK(Evaluate("_npi_where", {},
                 {condition, Floats({3}, {1, 2, 3}), Floats({1}, {9})}) ==
        List{1, 2, 3, 9, 9, 9});
  CHECK(Evaluate("_npi_where_lscalar", {{"scalar", "5"}},
                 {condition, Floats({2}, {1, 2})}) == List{5, 5, 1, 2});
  CHECK(Evaluate("_npi_where_rscalar", {{"scalar", "5"}},
                 {condition, Floats({2}, {1, 2})}) == List{1, 2, 5, 5});
}

TEST_CASE("numpy's reductions") {
  CHECK(Evaluate("_npi_var", {{"ddof", "1"}}, {Floats({4}, {1, 2, 3, 6})})[0] ==
        doctest::Approx(14.0 / 3));
  CHECK(Evaluate("_npi_std", {{"axis", "(1,)"}},
                 {Floats({2, 2}, {1, 3, 2, 8})}) == List{1, 3});
  CHECK(EvaluateOp("_npi_argmax", {}, {TwoByThree()})[0].type() ==
        TensorType{DType::kI64, Shape(Extents{})});
  CHECK(Evaluate("_npi_argmin", {{"axis", "1"}}, {TwoByThree()}) == List{0, 0});
  CHECK(Evaluate("_np_trace", {{"offset", "1"}}, {TwoByThree()}) == List{8});
  // Truth values are counted, means of integers are no integers.
  const Tensor truth = TypedTensor(DType::kBool, {3}, {1, 0, 1});
  CHECK(EvaluateOp("_np_sum", {}, {truth})[0].type().dtype == DType::kI64);
  CHECK(Evaluate("_np_sum", {}, {truth}) == List{2});
  CHECK(Evaluate("_npi_mean", {}, {TypedTensor(DType::kI32, {2}, {1, 2})}) ==
        List{1.5});
}

TEST_CASE("axes in another order, other places, another number") {
  CHECK(Evaluate("_np_roll", {{"shift", "(1,)"}, {"axis", "(1,)"}},
                 {TwoByThree()}) == List{3, 1, 2, 6, 4, 5});
  CHECK(Evaluate("_np_roll", {{"shift", "(-2,)"}}, {TwoByThree()}) ==
        List{3, 4, 5, 6, 1, 2});
  CHECK(Evaluate("_npi_flip", {{"axis", "(-1,)"}}, {TwoByThree()}) ==
        List{3, 2, 1, 6, 5, 4});
  CHECK(Evaluate("_npi_rot90", {}, {TwoByThree()}) == List{3, 6, 2, 5, 1, 4});
  CHECK(Evaluate("_npi_rot90", {{"k", "-1"}}, {TwoByThree()}) ==
        List{4, 1, 5, 2, 6, 3});
  CHECK(Evaluate("_np_moveaxis", {{"source", "(0,)"}, {"destination", "(-1,)"}},
                 {TwoByThree()}) == List{1, 4, 2, 5, 3, 6});
  CHECK(Evaluate("_np_diag", {{"k", "1"}}, {TwoByThree()}) == List{2, 6});
  CHECK(Evaluate("_np_diagflat", {}, {Floats({2}, {3, 4})}) ==
        List{3, 0, 0, 4});
  CHECK(Evaluate("_npi_tril", {{"k", "-1"}}, {TwoByThree()}) ==
        List{0, 0, 0, 4, 0, 0});
  CHECK(Evaluate("_npi_diff", {{"n", "2"}}, {Floats({4}, {1, 4, 9, 16})}) ==
        List{2, 2});
  const Tensor row = Floats({2}, {1, 2}), other = Floats({2}, {3, 4});
  CHECK(Evaluate("_npi_vstack", {{"num_args", "2"}}, {row, other}) ==
        List{1, 2, 3, 4});
  CHECK(Evaluate("_npi_column_stack", {{"num_args", "2"}}, {row, other}) ==
        List{1, 3, 2, 4});
  CHECK(Evaluate("_npi_dstack", {{"num_args", "2"}}, {row, other}) ==
        List{1, 3, 2, 4});
  CHECK(EvaluateOp("_npi_hstack", {{"num_args", "2"}}, {row, other})[0]
            .type()
            .shape == Shape{4});
  CHECK(Evaluate("_npi_indices", {{"dimensions", "(2, 2)"}}, {}) ==
        List{0, 0, 1, 1, 0, 1, 0, 1});
  CHECK(Near(Evaluate("_npi_hanning", {{"M", "5"}}, {}), {0, 0.5, 1, 0.5, 0}));
  CHECK(Near(Evaluate("_npi_logspace",
                      {{"start", "0"}, {"stop", "2"}, {"num", "3"}}, {}),
             {1, 10, 100}));
}

TEST_CASE("operands of two types, and borders") {
  const Tensor truth = TypedTensor(DType::kBool, {2}, {1, 0});
  const Tensor whole = TypedTensor(DType::kI32, {2}, {3, -1});
  const Tensor real = Floats({2}, {1.5f, 2});
  CHECK(Evaluate("_npi_multiply", {}, {truth, real}) == List{1.5, 0});
  CHECK(EvaluateOp("_npi_add", {}, {whole, real})[0].type().dtype ==
        DType::kF32);
  CHECK(EvaluateOp("_npi_subtract", {}, {whole, whole})[0].type().dtype ==
        DType::kI32);
  CHECK(Evaluate("_npi_true_divide", {}, {whole, whole}) == List{1, 1});
  CHECK(Evaluate("_npi_true_divide_scalar", {{"scalar", "2"}}, {whole}) ==
        List{1.5, -0.5});
  CHECK(Evaluate("_npi_rtrue_divide_scalar", {{"scalar", "6"}}, {real}) ==
        List{4, 3});
  const auto padded = [](const char* mode) {
    return Evaluate("_npi_pad", {{"pad_width", "((2, 1),)"}, {"mode", mode}},
                    {Floats({3}, {1, 2, 3})});
  };
  CHECK(padded("constant") == List{0, 0, 1, 2, 3, 0});
  CHECK(padded("edge") == List{1, 1, 1, 2, 3, 3});
  CHECK(padded("reflect") == List{3, 2, 1, 2, 3, 2});
  CHECK(padded("symmetric") == List{2, 1, 1, 2, 3, 3});
  CHECK(Refuses("C1", "_npi_pad", {{"pad_width", "((1, 1),)"}}, {{2, 2}}));
  CHECK(Refuses("C2", "_npi_pad",
                {{"pad_width", "((2, 0),)"}, {"mode", "reflect"}}, {{2}}));
}

TEST_CASE("numpy's products") {
  const Tensor square = Floats({2, 2}, {1, 2, 3, 4});
  CHECK(Evaluate("_np_dot", {}, {TwoByThree(), Floats({3}, {1, 0, 2})}) ==
        List{7, 16});
  CHECK(EvaluateOp("_np_dot", {}, {Floats({2}, {1, 2}), Floats({2}, {3, 4})})[0]
            .type()
            .shape == Shape(Extents{}));
  CHECK(Evaluate("_npi_tensordot",
                 {{"a_axes_summed", "(1,)"}, {"b_axes_summed", "(1,)"}},
                 {square, square}) == List{5, 11, 11, 25});
  CHECK(Evaluate("_npi_tensordot_int_axes", {{"axes", "2"}},
                 {square, square}) == List{30});
  const auto einsum = [&](const char* subscripts, std::vector<Tensor> inputs) {
    return Evaluate("_npi_einsum",
                    {{"num_args", std::to_string(inputs.size())},
                     {"subscripts", subscripts}},
                    inputs);
  };
  CHECK(einsum("ij,jk->ki", {square, square}) == List{7, 15, 10, 22});
  CHECK(einsum("ij->", {TwoByThree()}) == List{21});
  CHECK(einsum("ji", {TwoByThree()}) == List{1, 4, 2, 5, 3, 6});
  CHECK(einsum("ii->i", {square}) == List{1, 4});
  CHECK(einsum("i,j,ij", {Floats({2}, {1, 2}), Floats({2}, {1, 3}), square}) ==
        List{37});
  CHECK(einsum("...i,i->...", {TwoByThree(), Floats({3}, {1, 1, 1})}) ==
        List{6, 15});
  CHECK(Refuses("C1", "_npi_einsum",
                {{"num_args", "1"}, {"subscripts", "ij->ijk"}}, {{2, 2}}));
  CHECK(Refuses("C2", "_npi_einsum", {{"num_args", "1"}, {"subscripts", "i"}},
                {{2, 2}}));
  CHECK(Refuses("C3", "_npi_einsum", {{"num_args", "2"}, {"subscripts", "i,i"}},
                {{2}, {3}}));
}

// From MXNet 1.9.1, asked for the same.
TEST_CASE("edges at which MXNet has values of its own") {
  CHECK(Evaluate("softmax_cross_entropy", {},
                 {Floats({1, 2}, {30, 0}), Floats({1}, {1})})[0] ==
        doctest::Approx(18.42068));
  CHECK(Evaluate("L2Normalization", {}, {Floats({3}, {0.5f, -2, 3})}) ==
        List{1, -1, 1});
  const Tensor sums =
      TypedTensor(DType::kI32, {4}, {863143, 241175, -170737, 2000000000});
  const auto requantized = [&](const char* type, const char* least) {
    return EvaluateOp("_contrib_requantize",
                      {{"out_type", type},
                       {"min_calib_range", least},
                       {"max_calib_range", "0.0005"}},
                      {sums, Floats({1}, {-2.75f}), Floats({1}, {1.83f})})[0];
  };
  const Tensor unsigned_sums = requantized("auto", "0");
  CHECK(unsigned_sums.type().dtype == DType::kU8);
  CHECK(unsigned_sums.At(0) == 255);
  CHECK(unsigned_sums.At(1) == 158);
  CHECK(unsigned_sums.At(2) == 0);
  CHECK(requantized("auto", "-0.0001").At(2) == -56);
  const Tensor whole = TypedTensor(DType::kI32, {2}, {3, -3});
  CHECK(EvaluateOp("_div_scalar", {{"scalar", "2"}, {"is_int", "False"}},
                   {whole})[0]
            .type()
            .dtype == DType::kF64);
  CHECK(Evaluate("_div_scalar", {{"scalar", "2"}, {"is_int", "False"}},
                 {whole}) == List{1.5, -1.5});
  CHECK(Evaluate("_arange",
                 {{"start", "0.5"},
                  {"stop", "5"},
                  {"step", "1.5"},
                  {"dtype", "int32"}},
                 {}) == List{0, 1, 2});
  CHECK(Evaluate("amp_cast", {{"dtype", "int32"}},
                 {Floats({2}, {1.7f, -2.5f})}) == List{1, -2});
  CHECK(EvaluateOp("amp_cast", {{"dtype", "float16"}}, {Doubles({1}, {1})})[0]
            .type()
            .dtype == DType::kF64);
}

TEST_CASE("averages, norms and polynomials") {
  const Tensor x = TwoByThree();
  CHECK(Near(
      Evaluate("_npi_average", {{"axis", "(1,)"}}, {x, Floats({3}, {1, 0, 3})}),
      {2.5, 5.5}));
  CHECK(Near(Evaluate("_npi_average", {{"weighted", "False"}}, {x}), {3.5}));
  CHECK(InferOp("_npi_average", {{"axis", "(1,)"}}, {{2, 3}, {3}}).Out(1) ==
        "()");
  CHECK(Refuses("C2", "_npi_average", {{"axis", "(0,)"}}, {{2, 3}, {3}}));
  CHECK(Near(Evaluate("_npi_norm", {}, {x}), {std::sqrt(91.0)}));
  const std::vector<AttrText> cubes = {
      {"flag", "-1"}, {"ord", "3"}, {"axis", "(0,)"}};
  CHECK(Near(Evaluate("_npi_norm", cubes, {Floats({2, 1}, {-3, 4})}),
             {std::cbrt(91.0)}));
  CHECK(Refuses("C2", "_npi_norm", {{"flag", "2"}}, {{2, 3}}));
  CHECK(Evaluate("_npi_polyval", {},
                 {Floats({3}, {2, -1, 5}), Floats({2}, {3, 0})}) ==
        List{20, 5});
  CHECK(Evaluate("_npi_ediff1d",
                 {{"to_begin_scalar", "9"}, {"to_end_arr_given", "True"}},
                 {Floats({2, 2}, {1, 4, 2, 2}), Floats({1}, {7})}) ==
        List{9, 3, -2, 0, 7});
}

TEST_CASE("systems, inverses and eigenvalues of mx.np") {
  const Tensor a = Floats({2, 2}, {0, 2, 4, 0});
  CHECK(Evaluate("_npi_solve", {}, {a, Floats({2}, {6, 8})}) == List{2, 3});
  CHECK(Evaluate("_npi_solve", {}, {a, Floats({2, 1}, {6, 8})}) == List{2, 3});
  CHECK(Refuses("C2", "_npi_solve", {}, {{2, 2}, {3}}));
  CHECK(Near(Evaluate("_npi_tensorinv", {{"ind", "1"}},
                      {Floats({4, 2, 2}, {0, 2, 0, 0, 4, 0, 0, 0,  //
                                          0, 0, 0, 1, 0, 0, 8, 0})}),
             {0, .25, 0, 0, .5, 0, 0, 0, 0, 0, 0, .125, 0, 0, 1, 0}));
  CHECK(InferOp("_npi_tensorinv", {{"ind", "1"}}, {{6, 2, 3}}).Out() ==
        "(2, 3, 6)");
  CHECK(Refuses("C1", "_npi_tensorinv", {}, {{2, 3, 4}}));
  // Only the triangle that is named counts.
  const Tensor upper = Floats({2, 2}, {2, 1, 77, 2});
  CHECK(Near(Evaluate("_npi_eigvalsh", {{"UPLO", "U"}}, {upper}), {1, 3}));
  const auto found = EvaluateOp("_npi_eigh", {{"UPLO", "U"}}, {upper});
  CHECK(Near(ValuesOf(found[0]), {1, 3}));
  const List v = ValuesOf(found[1]);
  CHECK(std::abs(v[0] + v[2]) < 1e-6);
  CHECK(Near({v[1], v[3]}, {std::sqrt(0.5), std::sqrt(0.5)}));
}

// Of matrices, row by row.
List Product(const List& a, const List& b, size_t inner) {
  const size_t rows = a.size() / inner, columns = b.size() / inner;
  List product(rows * columns);
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < columns; ++c) {
      for (size_t i = 0; i < inner; ++i) {
        product[r * columns + c] += a[r * inner + i] * b[i * columns + c];
      }
    }
  }
  return product;
}

TEST_CASE("singular values and pseudo-inverses") {
  const List a = {1, 2, 3, 4, 0, -1, 2, 5, 7, 1, 1, 0};
  const auto parts = EvaluateOp("_npi_svd", {}, {Doubles({3, 4}, a)});
  const List u = ValuesOf(parts[0]), values = ValuesOf(parts[1]);
  List scaled = ValuesOf(parts[2]);
  CHECK(std::is_sorted(values.rbegin(), values.rend()));
  double squares = 0;  // of the values, as of the elements
  for (const double value : values) squares += value * value;
  CHECK(squares == doctest::Approx(111));
  for (size_t i = 0; i < scaled.size(); ++i) scaled[i] *= values[i / 4];
  CHECK(Near(Product(u, scaled, 3), a, 1e-12));
  const List known =
      ValuesOf(EvaluateOp("_npi_svd", {}, {Doubles({2, 2}, {3, 0, 4, 5})})[1]);
  CHECK(Near(known, {std::sqrt(45), std::sqrt(5)}));
  CHECK(Refuses("C1", "_npi_svd", {}, {{4, 3}}));
  // Of rank 1; the inverse of a tall matrix is that of its transpose.
  CHECK(Near(Evaluate("_npi_pinv_scalar_rcond", {{"rcond", "1e-6"}},
                      {Doubles({2, 2}, {1, 1, 1, 1})}),
             {.25, .25, .25, .25}));
  CHECK(Near(Evaluate("_npi_pinv_scalar_rcond", {}, {Doubles({2, 1}, {3, 4})}),
             {3 / 25.0, 4 / 25.0}));
  CHECK(Near(
      Evaluate("_npi_tensorsolve", {},
               {Doubles({2, 1, 2}, {0, 2, 4, 0}), Doubles({2, 1}, {6, 8})}),
      {2, 3}));
  CHECK(Refuses("C2", "_npi_tensorsolve", {}, {{2, 3}, {2}}));
}

}  // namespace
}  // namespace mxc
