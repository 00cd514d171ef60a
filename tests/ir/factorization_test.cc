// SPDX-License-Identifier: Apache-2.0
// Factorizations, inverses and determinants of matrices.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tests/ir/gradient_run.h"

namespace mxc {
namespace {

using Numbers = std::vector<double>;

// Symmetric and positive definite, two of them.
Tensor Definite() {
  return Doubles({2, 3, 3}, {4, 1, 2, 1, 5, -1, 2, -1, 6,  //
                             3, -1, 0, -1, 2, 1, 0, 1, 4});
}

// No zero stands where a pivot is sought, nor is the diagonal the greatest.
Tensor General() {
  return Doubles({2, 3, 3}, {0.5, 2, -1, 3, 1, 0.5, -1, 2, 4,  //
                             1, -2, 3, 0.5, 4, -1, 2, 2.5, 1});
}

Tensor MatrixProduct(const Tensor& a, const Tensor& b,
                     const char* transpose_a = "0",
                     const char* transpose_b = "0") {
  return EvaluateOp(
      "batch_dot", {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}},
      {a, b})[0];
}

Numbers NumbersOf(const Tensor& tensor) {
  Numbers numbers;
  for (int64_t i = 0; i < tensor.shape().elements(); ++i) {
    numbers.push_back(tensor.At(i));
  }
  return numbers;
}

const Numbers kIdentities = {1, 0, 0, 0, 1, 0, 0, 0, 1,
                             1, 0, 0, 0, 1, 0, 0, 0, 1};

TEST_CASE("Cholesky factors give the matrix back, and its inverse") {
  for (const char* lower : {"0", "1"}) {
    const bool is_lower = *lower == '1';
    const Tensor factor =
        EvaluateOp("_linalg_potrf", {{"lower", lower}}, {Definite()})[0];
    CHECK(factor.At(is_lower ? 1 : 3) == 0);
    const Tensor back = is_lower ? MatrixProduct(factor, factor, "0", "1")
                                 : MatrixProduct(factor, factor, "1", "0");
    CHECK(Near(NumbersOf(back), NumbersOf(Definite()), 1e-12));
    const Tensor inverse =
        EvaluateOp("_linalg_potri", {{"lower", lower}}, {factor})[0];
    CHECK(Near(NumbersOf(MatrixProduct(inverse, Definite())), kIdentities,
               1e-12));
    CheckGradient("_linalg_potri", {{"lower", lower}}, {factor});
  }
}

TEST_CASE("the gradient of a Cholesky factor is symmetric") {
  for (const char* lower : {"0", "1"}) {
    const Tensor head = SomeDoubles({2, 3, 3});
    const Tensor gradient = EvaluateGradient(
        "_linalg_potrf", {{"lower", lower}}, {Definite()}, {head})[0];
    // Along a symmetric change of A it is the change of the factor.
    const auto value = [&](double by) {
      Numbers moved = NumbersOf(Definite());
      moved[1] += by;
      moved[3] += by;
      const Tensor factor = EvaluateOp("_linalg_potrf", {{"lower", lower}},
                                       {Doubles({2, 3, 3}, moved)})[0];
      double sum = 0;
      for (int64_t i = 0; i < 18; ++i) sum += factor.At(i) * head.At(i);
      return sum;
    };
    CHECK(gradient.At(1) == doctest::Approx(gradient.At(3)));
    CHECK(2 * gradient.At(1) ==
          doctest::Approx((value(1e-5) - value(-1e-5)) / 2e-5).epsilon(1e-7));
  }
}

TEST_CASE("triangular systems") {
  for (int bits = 0; bits < 8; ++bits) {
    const auto flag = [&](int bit) { return bits >> bit & 1 ? "1" : "0"; };
    const bool right = bits >> 1 & 1;
    const Tensor b = SomeDoubles(right ? Shape{2, 2, 3} : Shape{2, 3, 2});
    const std::vector<AttrText> attrs = {
        {"transpose", flag(0)}, {"rightside", flag(1)}, {"lower", flag(2)}};
    std::vector<AttrText> doubled = attrs;
    doubled.emplace_back("alpha", "2");
    const Tensor x = EvaluateOp("_linalg_trsm", doubled, {Definite(), b})[0];
    const Tensor back = EvaluateOp("_linalg_trmm", attrs, {Definite(), x})[0];
    for (int64_t i = 0; i < 12; ++i) {
      CHECK(back.At(i) == doctest::Approx(2 * b.At(i)));
    }
    CheckGradient("_linalg_trsm", doubled, {Definite(), b});
  }
}

TEST_CASE("inverses and determinants, with pivots off the diagonal") {
  const Tensor inverse = EvaluateOp("_linalg_inverse", {}, {General()})[0];
  CHECK(Near(NumbersOf(MatrixProduct(inverse, General())), kIdentities, 1e-12));
  // 0.5 (4 - 1) - 2 (12 + 0.5) - (6 + 1); 1 (4 + 2.5) + 2 (0.5 + 2) + ….
  const Numbers determinants = {-30.5, 6.5 + 5 + 3 * (1.25 - 8)};
  CHECK(Near(Evaluate("_linalg_det", {}, {General()}), determinants, 1e-12));
  const auto logs = EvaluateOp("_linalg_slogdet", {}, {General()});
  CHECK(Near(NumbersOf(logs[0]), {-1, -1}));
  CHECK(logs[1].At(0) == doctest::Approx(std::log(30.5)));
  CheckGradient("_linalg_inverse", {}, {General()});
  // Singular at the first, the second and the last pivot, and not.
  const Tensor singular =
      Doubles({4, 3, 3}, {0, 2, -1, 0, 1, 0.5, 0,  2,   4,    //
                          1, 2, 3,  2, 4, 6.5, 0,  0,   1,    //
                          1, 2, 3,  2, 4, 6,   -1, 0.5, 0.5,  //
                          2, 0, 0,  0, 4, 0,   0,  0,   0.5});
  CHECK(Evaluate("_linalg_det", {}, {singular}) == Numbers{0, 0, 0, 4});
  const auto of_singular = EvaluateOp("_linalg_slogdet", {}, {singular});
  CHECK(NumbersOf(of_singular[0]) == Numbers{0, 0, 0, 1});
  for (int64_t i = 0; i < 3; ++i) {
    CHECK(of_singular[1].At(i) == -std::numeric_limits<double>::infinity());
  }
  CHECK(of_singular[1].At(3) == doctest::Approx(std::log(4.0)));
  for (const double value :
       Evaluate("_linalg_inverse", {}, {Doubles({2, 2}, {1, 2, 2, 4})})) {
    CHECK_FALSE(std::isfinite(value));
  }
  CheckGradient("_linalg_det", {}, {General()});
  CheckGradient("_linalg_slogdet", {}, {General()});
  CHECK(Evaluate("_linalg_det", {}, {Floats({1, 1}, {-3})}) == Numbers{-3});
  CHECK(Evaluate("_linalg_det", {}, {Floats({2, 2}, {0, 2, 3, 0})}) ==
        Numbers{-6});
}

TEST_CASE("triangles times orthonormal rows") {
  for (const int64_t columns : {3, 4}) {
    const Tensor a = SomeDoubles({2, 3, columns});
    const auto parts = EvaluateOp("_linalg_gelqf", {}, {a});
    CHECK(Near(NumbersOf(MatrixProduct(parts[1], parts[0])), NumbersOf(a),
               1e-12));
    CHECK(Near(NumbersOf(MatrixProduct(parts[0], parts[0], "0", "1")),
               kIdentities, 1e-12));
    CHECK(parts[1].At(1) == 0);
    // LAPACK's sign.
    CHECK(parts[1].At(0) * a.At(0) < 0);
    CheckGradient("_linalg_gelqf", {}, {a});
  }
}

TEST_CASE("eigenvectors and eigenvalues") {
  const auto parts = EvaluateOp("_linalg_syevd", {}, {Definite()});
  const Tensor &u = parts[0], &l = parts[1];
  CHECK(Near(NumbersOf(MatrixProduct(u, u, "0", "1")), kIdentities, 1e-12));
  const Tensor diagonal = EvaluateOp("_linalg_makediag", {}, {l})[0];
  CHECK(Near(NumbersOf(MatrixProduct(MatrixProduct(u, diagonal, "1", "0"), u)),
             NumbersOf(Definite()), 1e-12));
  CHECK(l.At(0) < l.At(1));
  CHECK(l.At(1) < l.At(2));
  const auto gradient = [&](const std::vector<Tensor>& heads) {
    return EvaluateGradient("_linalg_syevd", {}, {Definite()}, heads)[0];
  };
  const std::vector<Tensor> heads = {SomeDoubles({2, 3, 3}),
                                     SomeDoubles({2, 3}, 2)};
  // Along a symmetric change of A.
  const auto value = [&](double by) {
    Numbers moved = NumbersOf(Definite());
    moved[1] += by;
    moved[3] += by;
    const auto at =
        EvaluateOp("_linalg_syevd", {}, {Doubles({2, 3, 3}, moved)});
    double sum = 0;
    for (int k = 0; k < 2; ++k) {
      for (int64_t i = 0; i < heads[k].shape().elements(); ++i) {
        sum += at[k].At(i) * heads[k].At(i);
      }
    }
    return sum;
  };
  const Tensor found = gradient(heads);
  CHECK(found.At(1) == doctest::Approx(found.At(3)));
  CHECK(found.At(1) + found.At(3) ==
        doctest::Approx((value(1e-5) - value(-1e-5)) / 2e-5).epsilon(1e-7));
}

TEST_CASE("matrices that are not square, or too large, are refused") {
  for (const char* op : {"_linalg_inverse", "_linalg_det", "_linalg_slogdet"}) {
    CHECK(Refuses("C1", op, {}, {Shape{65, 65}}));
    CHECK(Refuses("C1", op, {}, {Shape{2, 3}}));
  }
  for (const char* op : {"_linalg_potrf", "_linalg_potri", "_linalg_syevd"}) {
    CHECK(Refuses("C1", op, {}, {Shape{40000, 40000}}));
    CHECK(Refuses("C1", op, {}, {Shape{2, 3}}));
  }
  CHECK(Refuses("C2", "_linalg_trsm", {}, {Shape{3, 3}, Shape{2, 3}}));
}

}  // namespace
}  // namespace mxc
