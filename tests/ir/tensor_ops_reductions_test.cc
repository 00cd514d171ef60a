// SPDX-License-Identifier: Apache-2.0
// Reductions, extrema and sorting.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tests/ir/op_run.h"

namespace mxc {
namespace {

using List = std::vector<double>;
constexpr double kNanTerm = std::numeric_limits<double>::quiet_NaN();

const Tensor kOneToSix = Floats({2, 3}, {1, 2, 3, 4, 5, 6});

TEST_CASE("a tensor reduced over all axes has shape (1)") {
  CHECK(InferOp("sum", {}, {{2, 3}}).Out() == "(1)");
  CHECK(InferOp("sum", {{"axis", "(0, 1)"}}, {{2, 3}}).Out() == "(1)");
  CHECK(InferOp("sum", {{"axis", "()"}, {"keepdims", "1"}}, {{2, 3}}).Out() ==
        "(1, 1)");
  CHECK(
      InferOp("sum", {{"axis", "1"}, {"exclude", "True"}}, {{2, 3, 4}}).Out() ==
      "(3)");
  CHECK(InferOp("_np_sum", {}, {{2, 3}}).Out() == "()");
}

TEST_CASE("reductions over an axis") {
  const std::vector<AttrText> columns = {{"axis", "0"}};
  CHECK(Evaluate("sum", columns, {kOneToSix}) == List{5, 7, 9});
  CHECK(Evaluate("mean", columns, {kOneToSix}) == List{2.5, 3.5, 4.5});
  CHECK(Evaluate("prod", columns, {kOneToSix}) == List{4, 10, 18});
  CHECK(Evaluate("max", columns, {kOneToSix}) == List{4, 5, 6});
  CHECK(Evaluate("min", columns, {kOneToSix}) == List{1, 2, 3});
  CHECK(Evaluate("sum", {{"axis", "-1"}}, {kOneToSix}) == List{6, 15});
  CHECK(Evaluate("_npi_mean", columns, {kOneToSix}) == List{2.5, 3.5, 4.5});
  const Tensor ints = TypedTensor(DType::kI32, {2}, {-2, -5});
  CHECK(Evaluate("mean", {}, {ints}) == List{-3});
}

TEST_CASE("NaN counts for nothing in nansum and nanprod, for all in max") {
  const Tensor x = Floats({3}, {2, std::nanf(""), 3});
  CHECK(Evaluate("nansum", {}, {x}) == List{5});
  CHECK(Evaluate("nanprod", {}, {x}) == List{6});
  CHECK(Near(Evaluate("max", {}, {x}), {kNanTerm}));
}

TEST_CASE("reductions refuse axes out of range and named twice") {
  for (const char* op : {"sum", "mean", "prod", "nansum", "nanprod", "max",
                         "min", "norm", "_np_sum", "_npi_mean"}) {
    CAPTURE(op);
    CHECK(Refuses("C1", op, {{"axis", "(1, 1)"}}, {{2, 3}}));
    CHECK(Refuses("C1", op, {{"axis", "2"}}, {{2, 3}}));
  }
  CHECK(Refuses("C1", "moments", {{"axes", "(2,)"}}, {{2, 3}}));
  CHECK(Refuses("C2", "norm", {{"ord", "3"}}, {{2, 3}}));
  CHECK(Refuses("C2", "_np_sum", {{"initial", "1"}}, {{2, 3}}));
}

TEST_CASE("norms and moments") {
  const Tensor x = Floats({2, 2}, {3, -4, 0, 2});
  CHECK(Evaluate("norm", {{"axis", "1"}}, {x}) == List{5, 2});
  CHECK(Evaluate("norm", {{"axis", "1"}, {"ord", "1"}}, {x}) == List{7, 2});
  const auto out = EvaluateOp("moments", {{"axes", "(1,)"}}, {x});
  CHECK(out[0].At(0) == -0.5);
  CHECK(out[1].At(0) == 12.25);
}

TEST_CASE("argmax finds the first greatest element, or the first NaN") {
  const Tensor ties = Floats({2, 3}, {1, 3, 3, 2, 2, 2});
  CHECK(Evaluate("argmax", {{"axis", "1"}}, {ties}) == List{1, 0});
  CHECK(Evaluate("argmin", {{"axis", "1"}}, {ties}) == List{0, 0});
  CHECK(Evaluate("argmax_channel", {}, {ties}) == List{1, 0});
  CHECK(Evaluate("argmax", {}, {kOneToSix}) == List{5});
  CHECK(InferOp("argmax", {}, {{2, 3}}).Out() == "(1)");
  const Tensor nan = Floats({4}, {1, std::nanf(""), 3, std::nanf("")});
  CHECK(Evaluate("argmax", {{"axis", "0"}}, {nan}) == List{1});
  CHECK(Evaluate("argmin", {{"axis", "0"}}, {nan}) == List{1});
  const Shape longest = {int64_t{1} << 24}, longer = {(int64_t{1} << 24) + 1};
  for (const char* op : {"argmax", "argmin", "argsort", "topk"}) {
    CHECK(InferOp(op, {}, {longest}).error == "");
    CHECK(InferOp(op, {}, {longer})
              .error.find("the positions of 16777217 elements") !=
          std::string::npos);
  }
  CHECK(InferOp("argsort", {{"dtype", "int32"}}, {longer}).error == "");
  CHECK(InferOp("topk", {{"dtype", "int64"}}, {longer}).error == "");
  CHECK(Refuses("C1", "argmax", {{"axis", "9"}}, {{2, 3, 8, 8}}));
  CHECK(Refuses("C1", "argmin", {{"axis", "-3"}}, {{2, 3}}));
}

TEST_CASE("all_finite") {
  CHECK(Evaluate("all_finite", {}, {kOneToSix}) == List{1});
  CHECK(Evaluate("all_finite", {}, {Floats({2}, {1, INFINITY})}) == List{0});
  CHECK(Evaluate("all_finite", {}, {Floats({1}, {std::nanf("")})}) == List{0});
}

TEST_CASE("sorting is stable in both directions and puts NaN last") {
  const Tensor x = Floats({5}, {2, 1, 2, 1, 3});
  CHECK(Evaluate("argsort", {}, {x}) == List{1, 3, 0, 2, 4});
  CHECK(Evaluate("argsort", {{"is_ascend", "0"}}, {x}) == List{4, 0, 2, 1, 3});
  CHECK(Evaluate("sort", {}, {x}) == List{1, 1, 2, 2, 3});
  const Tensor nan = Floats({3}, {std::nanf(""), 2, 1});
  CHECK(Evaluate("argsort", {}, {nan}) == List{2, 1, 0});
  CHECK(Evaluate("sort", {{"axis", "None"}, {"is_ascend", "False"}},
                 {kOneToSix}) == List{6, 5, 4, 3, 2, 1});
  CHECK(Refuses("C1", "sort", {{"axis", "2"}}, {{2, 3}}));
  CHECK(Refuses("C1", "argsort", {{"axis", "2"}}, {{2, 3}}));
}

TEST_CASE("topk returns values, indices, both or a mask") {
  const Tensor x = Floats({2, 3}, {1, 3, 2, 6, 4, 5});
  const auto topk = [&](const char* what) {
    return EvaluateOp("topk", {{"k", "2"}, {"ret_typ", what}}, {x});
  };
  const auto values = [](const Tensor& t) {
    List list;
    for (int64_t i = 0; i < t.shape().elements(); ++i) list.push_back(t.At(i));
    return list;
  };
  CHECK(values(topk("indices")[0]) == List{1, 2, 0, 2});
  CHECK(values(topk("value")[0]) == List{3, 2, 6, 5});
  CHECK(values(topk("both")[1]) == List{1, 2, 0, 2});
  CHECK(values(topk("mask")[0]) == List{0, 1, 1, 1, 0, 1});
  CHECK(InferOp("topk", {{"axis", "None"}, {"k", "4"}}, {{2, 3}}).Out() ==
        "(4)");
  CHECK(InferOp("topk", {{"k", "0"}}, {{2, 3}}).Out() == "(2, 3)");
  CHECK(Refuses("C1", "topk", {{"axis", "2"}}, {{2, 3}}));
  CHECK(Refuses("C2", "topk", {{"k", "4"}}, {{2, 3}}));
}

// Around the lengths at which sums are found in blocks, and in blocks of blocks.
TEST_CASE("cumsum of a long axis") {
  for (const int64_t n : {1, 63, 64, 65, 129, 4095, 4096, 4097, 8200}) {
    CAPTURE(n);
    std::vector<float> data;
    List expected;
    for (int64_t i = 0; i < 3 * n; ++i) {
      data.push_back(static_cast<float>(i * i % 11 - 4));
      expected.push_back(data.back() + (i < 3 ? 0 : expected.end()[-3]));
    }
    CHECK(Evaluate("cumsum", {{"axis", "0"}},
                   {Tensor::FromFloats({n, 3}, data)}) == expected);
  }
}

TEST_CASE("cumsum sums up to each position") {
  CHECK(Evaluate("cumsum", {}, {kOneToSix}) == List{1, 3, 6, 10, 15, 21});
  CHECK(Evaluate("cumsum", {{"axis", "1"}}, {kOneToSix}) ==
        List{1, 3, 6, 4, 9, 15});
  CHECK(Refuses("C1", "cumsum", {{"axis", "-1"}}, {{2, 3}}));
}

}  // namespace
}  // namespace mxc
