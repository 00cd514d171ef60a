// SPDX-License-Identifier: Apache-2.0
// Products, linear algebra and gathering.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/ir/op_run.h"

namespace mxc {
namespace {

using List = std::vector<double>;

const Tensor kA = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
const Tensor kB = Floats({3, 2}, {1, 0, 0, 1, 1, 1});
const Tensor kSquare = Floats({2, 2}, {1, 2, 3, 4});

TEST_CASE("dot sums over one axis of each operand") {
  CHECK(Evaluate("dot", {}, {kA, kB}) == List{4, 5, 10, 11});
  CHECK(Evaluate("dot", {{"transpose_a", "1"}, {"transpose_b", "1"}},
                 {kB, kA}) == List{4, 10, 5, 11});
  const Tensor v = Floats({3}, {1, 1, 2});
  CHECK(Evaluate("dot", {}, {v, v}) == List{6});
  CHECK(Evaluate("dot", {}, {kA, v}) == List{9, 21});
  CHECK(Evaluate("dot", {}, {v, kB}) == List{3, 3});
  CHECK(InferOp("dot", {}, {{2, 2, 3}, {3, 4, 5}}).Out() == "(2, 2, 4, 5)");
  CHECK(InferOp("dot", {{"transpose_a", "True"}}, {{3, 2, 4}, {3, 5}}).Out() ==
        "(2, 4, 5)");
  CHECK(Refuses("C1", "dot", {}, {{2, 3}, {2, 3}}));
  CHECK(Refuses("C2", "dot", {{"transpose_a", "True"}}, {{3}, {3}}));
}

TEST_CASE("batch_dot multiplies matrix by matrix") {
  const Tensor a = Floats({2, 1, 2}, {1, 2, 3, 4});
  const Tensor b = Floats({2, 1, 2}, {5, 6, 7, 8});
  CHECK(Evaluate("batch_dot", {{"transpose_b", "True"}}, {a, b}) ==
        List{17, 53});
  CHECK(InferOp("batch_dot", {}, {{2, 3, 4, 5}, {2, 3, 5, 6}}).Out() ==
        "(2, 3, 4, 6)");
  CHECK(Refuses("C1", "batch_dot", {}, {{2, 3}, {3, 2}}));
  CHECK(Refuses("C2", "batch_dot", {}, {{2, 3, 4}, {3, 4, 2}}));
  CHECK(Refuses("C3", "batch_dot", {}, {{2, 3, 4}, {2, 3, 4}}));
}

TEST_CASE("matmul broadcasts its leading axes") {
  CHECK(Evaluate("_npi_matmul", {}, {kA, kB}) == List{4, 5, 10, 11});
  CHECK(InferOp("_npi_matmul", {}, {{5, 1, 2, 3}, {4, 3, 2}}).Out() ==
        "(5, 4, 2, 2)");
  CHECK(Refuses("C1", "_npi_matmul", {}, {{3}, {3, 2}}));
  CHECK(Refuses("C2", "_npi_matmul", {}, {{2, 2, 3}, {3, 3, 2}}));
  CHECK(Refuses("C3", "_npi_matmul", {}, {{2, 3}, {2, 3}}));
}

TEST_CASE("gemm scales, adds and finds its rows along any axis") {
  const Tensor c = Floats({2, 2}, {1, 1, 1, 1});
  CHECK(Evaluate("linalg_gemm", {{"alpha", "2"}, {"beta", "0.5"}},
                 {kA, kB, c}) == List{8.5, 10.5, 20.5, 22.5});
  CHECK(Evaluate("linalg_gemm2", {{"alpha", "-1"}}, {kA, kB}) ==
        List{-4, -5, -10, -11});
  const Tensor rows_first = Floats({2, 1, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor b = Floats({3, 1, 2}, {1, 0, 0, 1, 1, 1});
  CHECK(Evaluate("linalg_gemm2", {{"axis", "-3"}}, {rows_first, b}) ==
        List{4, 5, 10, 11});
  CHECK(Refuses("C1", "linalg_gemm2", {}, {{3}, {3}}));
  CHECK(Refuses("C2", "linalg_gemm2", {}, {{2, 3, 4}, {3, 4, 2}}));
  CHECK(Refuses("C3", "linalg_gemm2", {}, {{2, 3}, {2, 3}}));
  CHECK(Refuses("C4", "linalg_gemm2", {{"axis", "-1"}}, {{2, 3}, {3, 2}}));
  CHECK(Refuses("C5", "linalg_gemm", {}, {{2, 3}, {3, 2}, {2, 3}}));
}

TEST_CASE("triangular and symmetric products") {
  CHECK(Evaluate("linalg_syrk", {}, {kSquare}) == List{5, 11, 11, 25});
  CHECK(Evaluate("linalg_syrk", {{"transpose", "1"}, {"alpha", "2"}},
                 {kSquare}) == List{20, 28, 28, 40});
  CHECK(Refuses("C1", "linalg_syrk", {}, {{3}}));
  CHECK(Evaluate("linalg_trmm", {}, {kSquare, kSquare}) == List{1, 2, 15, 22});
  CHECK(Evaluate("linalg_trmm", {{"rightside", "1"}, {"lower", "0"}},
                 {kSquare, kSquare}) == List{1, 10, 3, 22});
  CHECK(Refuses("C1", "linalg_trmm", {}, {{2, 2}, {1, 2, 2}}));
  CHECK(Refuses("C2", "linalg_trmm", {}, {{2, 3}, {2, 2}}));
}

TEST_CASE("diagonals and triangles are taken out and put back") {
  CHECK(Near(Evaluate("linalg_sumlogdiag", {}, {kSquare}), {std::log(4.0)}));
  CHECK(Evaluate("linalg_extractdiag", {{"offset", "1"}}, {kSquare}) ==
        List{2});
  CHECK(Evaluate("linalg_makediag", {{"offset", "-1"}}, {Floats({1}, {7})}) ==
        List{0, 0, 7, 0});
  CHECK(Evaluate("linalg_extracttrian", {}, {kSquare}) == List{1, 3, 4});
  CHECK(Evaluate("linalg_extracttrian", {{"lower", "0"}}, {kSquare}) ==
        List{1, 2, 4});
  const Tensor triangle = Floats({3}, {1, 2, 3});
  CHECK(Evaluate("linalg_maketrian", {}, {triangle}) == List{1, 0, 2, 3});
  CHECK(Evaluate("linalg_maketrian", {{"offset", "1"}}, {triangle}) ==
        List{0, 1, 2, 0, 0, 3, 0, 0, 0});
  CHECK(Refuses("C1", "linalg_sumlogdiag", {}, {{2, 3}}));
  CHECK(Refuses("C1", "linalg_extractdiag", {}, {{2, 3}}));
  CHECK(Refuses("C2", "linalg_extractdiag", {{"offset", "2"}}, {{2, 2}}));
  CHECK(Refuses("C1", "linalg_extracttrian", {}, {{2, 3}}));
  CHECK(Refuses("C2", "linalg_extracttrian", {{"offset", "-2"}}, {{2, 2}}));
  CHECK(Refuses("C1", "linalg_maketrian", {}, {{4}}));
}

TEST_CASE("diag reads a diagonal or makes a matrix") {
  CHECK(Evaluate("diag", {}, {kA}) == List{1, 5});
  CHECK(Evaluate("diag", {{"k", "2"}}, {kA}) == List{3});
  CHECK(Evaluate("diag", {{"k", "1"}}, {Floats({1}, {7})}) == List{0, 7, 0, 0});
  CHECK(InferOp("diag", {{"axis1", "1"}, {"axis2", "2"}}, {{2, 3, 4}}).Out() ==
        "(2, 3)");
  CHECK(Refuses("C1", "diag", {{"axis2", "0"}}, {{2, 3}}));
  CHECK(Refuses("C2", "diag", {{"k", "3"}}, {{2, 3}}));
}

TEST_CASE("khatri_rao multiplies column by column") {
  CHECK(Evaluate("khatri_rao", {{"num_args", "2"}},
                 {kSquare, Floats({2, 2}, {5, 6, 7, 8})}) ==
        List{5, 12, 7, 16, 15, 24, 21, 32});
  CHECK(Refuses("C1", "khatri_rao", {{"num_args", "2"}}, {{2, 3}, {2, 2}}));
}

TEST_CASE("indices out of range are clipped or wrapped, never followed") {
  const Tensor x = Floats({3}, {10, 11, 12});
  const Tensor wild = Floats({4}, {-1, 5, 1.9f, 2});
  CHECK(Evaluate("take", {}, {x, wild}) == List{10, 12, 11, 12});
  CHECK(Evaluate("take", {{"mode", "wrap"}}, {x, wild}) ==
        List{12, 12, 11, 12});
  CHECK(Evaluate("take", {{"mode", "raise"}}, {x, wild}) ==
        List{10, 12, 11, 12});
  CHECK(Evaluate("batch_take", {}, {kA, Floats({2}, {7, -1})}) == List{3, 4});
  CHECK(Evaluate("gather_nd", {}, {x, Floats({1, 2}, {-1, 1})}) ==
        List{12, 11});
  CHECK(Refuses("C1", "take", {{"axis", "1"}}, {{3}, {2}}));
  CHECK(Refuses("C1", "batch_take", {}, {{2, 3}, {3}}));
  CHECK(Refuses("C1", "gather_nd", {}, {{3}, {2, 2}}));
}

TEST_CASE("pick takes one element along an axis") {
  const Tensor index = Floats({2}, {5, 0});
  CHECK(Evaluate("pick", {}, {kA, index}) == List{3, 4});
  CHECK(Evaluate("pick", {{"mode", "wrap"}}, {kA, index}) == List{3, 4});
  CHECK(InferOp("pick", {{"keepdims", "True"}}, {{2, 3}, {2}}).Out() ==
        "(2, 1)");
  CHECK(InferOp("pick", {{"axis", "0"}}, {{2, 3}, Shape()}).In(1) == "(3)");
  CHECK(Refuses("C1", "pick", {{"axis", "2"}}, {{2, 3}, {2}}));
  CHECK(Refuses("C2", "pick", {}, {{2, 3}, {3}}));
}

TEST_CASE("one_hot, scatter_nd and copies by index") {
  CHECK(Evaluate("one_hot", {{"depth", "3"}, {"off_value", "-1"}},
                 {Floats({2}, {1, 3})}) == List{-1, 1, -1, -1, -1, -1});
  CHECK(Evaluate("scatter_nd", {{"shape", "(3,)"}},
                 {Floats({2}, {5, 6}), Floats({1, 2}, {2, 2})}) ==
        List{0, 0, 6});
  CHECK(Refuses("C1", "scatter_nd", {{"shape", "(3,)"}}, {{3}, {1, 2}}));
  CHECK(Refuses("C2", "_scatter_set_nd", {{"shape", "(4,)"}}, {{4}, {4}, {4}}));
  CHECK(Evaluate("_contrib_index_copy", {},
                 {kB, Floats({1}, {1}), Floats({1, 2}, {8, 9})}) ==
        List{1, 0, 8, 9, 1, 1});
  CHECK(Refuses("C1", "_contrib_index_copy", {}, {{3, 2}, {1}, {2, 2}}));
  CHECK(Evaluate("fill_element_0index", {},
                 {kB, Floats({3}, {7, 8, 9}), Floats({3}, {0, 1, 0})}) ==
        List{7, 0, 0, 8, 9, 1});
  CHECK(Refuses("C1", "fill_element_0index", {}, {{3, 2}, {2}, {3}}));
}

TEST_CASE("positions and indices are inverses") {
  const Tensor index = Floats({2, 3}, {0, 2, 1, 1, 3, 0});
  const std::vector<AttrText> shape = {{"shape", "(3, 4)"}};
  CHECK(Evaluate("_ravel_multi_index", shape, {index}) == List{1, 11, 4});
  CHECK(Evaluate("_unravel_index", shape, {Floats({3}, {1, 11, 4})}) ==
        List{0, 2, 1, 1, 3, 0});
  CHECK(Refuses("C1", "_ravel_multi_index", shape, {{3, 3}}));
  CHECK(Refuses("C1", "_unravel_index", {{"shape", "(3, 0)"}}, {{3}}));
}

}  // namespace
}  // namespace mxc
