// SPDX-License-Identifier: Apache-2.0
// Operators of mx.np that put elements elsewhere, choose them, or draw them,
// with the values that NumPy gives.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "ir/graph/builder.h"
#include "tests/ir/op_run.h"

namespace mxc {
namespace {

using List = std::vector<double>;

Tensor Table() { return Floats({2, 3}, {1, 2, 3, 4, 5, 6}); }
Tensor Row(std::vector<float> values) {
  const Shape shape{std::ssize(values)};
  return Floats(shape, std::move(values));
}
Tensor Whole(const List& values) {
  return TypedTensor(DType::kI64, Shape{std::ssize(values)}, values);
}

TEST_CASE("the least common multiple") {
  CHECK(
      Evaluate("_npi_lcm", {}, {Whole({4, 6, 0, 21}), Whole({6, -4, 3, 6})}) ==
      List{12, 12, 0, 42});
  // Consecutive Fibonacci numbers take Euclid longest.
  CHECK(Evaluate("_npi_lcm", {}, {Whole({1134903170}), Whole({701408733})}) ==
        List{1134903170.0 * 701408733.0});
  CHECK(Evaluate("_npi_lcm", {},
                 {TypedTensor(DType::kI32, {2, 1}, {2, 3}),
                  TypedTensor(DType::kI32, {2}, {4, 5})}) ==
        List{4, 10, 12, 15});
  CHECK(Evaluate("_npi_lcm_scalar", {{"scalar", "-6.5"}}, {Whole({4, 0})}) ==
        List{12, 0});
  CHECK(InferOp("_npi_lcm", {}, {{2}, {2}}).error != "");  // floats
}

// Of a list, the first elements.
List First(const Tensor& tensor, size_t count) {
  List values = ValuesOf(tensor);
  values.resize(count);
  return values;
}

TEST_CASE("the different rows, in order of their elements") {
  const std::vector<AttrText> all = {{"axis", "0"},
                                     {"return_index", "True"},
                                     {"return_inverse", "True"},
                                     {"return_counts", "True"}};
  const Tensor rows = Floats({4, 2}, {1, 0, 0, 2, 1, -0.0F, 0, -1});
  const auto found = EvaluateOp("_npi_unique", all, {rows});
  REQUIRE(found.size() == 5);
  CHECK(ValuesOf(found[4]) == List{3});
  CHECK(First(found[0], 6) == List{0, -1, 0, 2, 1, 0});
  CHECK(First(found[1], 3) == List{3, 1, 0});
  CHECK(ValuesOf(found[2]) == List{2, 1, 2, 0});
  CHECK(First(found[3], 3) == List{1, 1, 2});
  const auto one = EvaluateOp("_npi_unique", all, {Floats({1, 1, 2}, {4, 3})});
  CHECK(ValuesOf(one[0]) == List{4, 3});
  CHECK(ValuesOf(one[3]) == List{1});
  CHECK(Refuses("C1", "_npi_unique", {{"axis", "1"}}, {{2, 2}}));
  CHECK(Refuses("C3", "_npi_unique", {{"axis", "0"}}, {{2, 257}}));
}

TEST_CASE("splits along the axis of the name") {
  const auto columns = EvaluateOp(
      "_npi_hsplit", {{"indices", "(0, 1)"}, {"axis", "1"}}, {Table()});
  CHECK(ValuesOf(columns[0]) == List{1, 4});
  CHECK(ValuesOf(columns[1]) == List{2, 3, 5, 6});
  const auto halves =
      EvaluateOp("_npi_hsplit", {{"indices", "()"}, {"sections", "2"}},
                 {Row({1, 2, 3, 4})});
  CHECK(ValuesOf(halves[1]) == List{3, 4});
  const std::vector<AttrText> deep = {
      {"indices", "()"}, {"sections", "2"}, {"axis", "2"}};
  const auto depths =
      EvaluateOp("_npi_dsplit", deep, {Floats({1, 2, 2}, {1, 2, 3, 4})});
  CHECK(ValuesOf(depths[0]) == List{1, 3});
  CHECK(Refuses("C1", "_npi_dsplit", deep, {{2, 2}}));
  CHECK(InferOp("_npi_dsplit", {{"indices", "(0,)"}}, {{2, 2, 2}})
            .error.starts_with("C6"));
  CHECK(InferOp("_npi_hsplit", {{"indices", "(0,)"}, {"axis", "0"}}, {{2, 2}})
            .error.starts_with("C6"));
}

TEST_CASE("percentiles, between elements and at the ends") {
  const auto of_list = [](const char* q, const char* how) {
    return Evaluate("_npi_percentile",
                    {{"q_scalar", q}, {"interpolation", how}},
                    {Row({10, 1, 4, 2, 3, 5})})[0];
  };
  CHECK(of_list("50", "linear") == 3.5);
  CHECK(of_list("50", "lower") == 3);
  CHECK(of_list("50", "higher") == 4);
  CHECK(of_list("50", "midpoint") == 3.5);
  CHECK(of_list("30", "nearest") == 3);  // 1.5: the upper one
  CHECK(of_list("0", "linear") == 1);
  CHECK(of_list("100", "midpoint") == 10);
  CHECK(Near(Evaluate("_npi_percentile", {{"axis", "(1,)"}},
                      {Table(), Row({25, 100, 200})}),
             {1.5, 4.5, 3, 6, 3, 6}));
  CHECK(InferOp("_npi_percentile", {{"axis", "(0,)"}, {"keepdims", "True"}},
                {{2, 3}, {4}})
            .Out() == "(4, 1, 3)");
  CHECK(EvaluateOp("_npi_percentile", {{"q_scalar", "50"}}, {Whole({1, 2})})[0]
            .type() == TensorType{DType::kF32, Shape(Extents{})});
  CHECK(Refuses("C1", "_npi_percentile", {{"axis", "(2,)"}}, {{2, 3}, {4}}));
  CHECK(Refuses("C2", "_npi_percentile", {}, {{2, 3}, {2, 2}}));
  CHECK(Refuses("C3", "_npi_percentile", {{"q_scalar", "101"}}, {{2, 3}}));
}

TEST_CASE("elements are put before an index, a slice, or what a tensor names") {
  const auto at_index = [](const char* index, const Tensor& values) {
    return Evaluate("_npi_insert_scalar", {{"int_ind", index}, {"axis", "1"}},
                    {Table(), values});
  };
  CHECK(at_index("1", Row({7, 8})) == List{1, 7, 2, 3, 4, 8, 5, 6});
  CHECK(at_index("-1", Row({7})) == List{1, 2, 7, 3, 4, 5, 7, 6});
  CHECK(at_index("3", Floats({2, 2}, {7, 8, 9, 0})) ==
        List{1, 2, 3, 7, 9, 4, 5, 6, 8, 0});
  CHECK(Evaluate("_npi_insert_scalar", {{"int_ind", "6"}, {"val", "9"}},
                 {Table()}) == List{1, 2, 3, 4, 5, 6, 9});
  const auto at_slice = [](std::vector<AttrText> slice, const Tensor& values) {
    return Evaluate("_npi_insert_slice", slice, {Row({1, 2, 3}), values});
  };
  CHECK(at_slice({{"step", "2"}}, Row({7, 8})) == List{7, 1, 2, 8, 3});
  CHECK(at_slice({{"step", "-2"}}, Row({7, 8})) == List{8, 1, 2, 7, 3});
  CHECK(at_slice({{"start", "1"}, {"stop", "2"}}, Row({7, 8})) ==
        List{1, 7, 8, 2, 3});
  CHECK(at_slice({{"start", "2"}, {"stop", "2"}}, Row({7})) == List{1, 2, 3});
  const auto at_tensor = [](const List& places, const Tensor& values) {
    return Evaluate("_npi_insert_tensor", {},
                    {Row({1, 2, 3}), values, Whole(places)});
  };
  CHECK(at_tensor({2, 0, 2}, Row({7, 8, 9})) == List{8, 1, 2, 7, 9, 3});
  CHECK(at_tensor({-1}, Row({7, 8})) == List{1, 2, 7, 8, 3});
  CHECK(at_tensor({99, -99}, Row({7, 8})) == List{8, 1, 2, 3, 7});  // clipped
  CHECK(EvaluateOp("_npi_insert_scalar", {{"int_ind", "0"}},
                   {Whole({1}), Row({7.9f})})[0]
            .At(0) == 7);
}

TEST_CASE("insertions that are none are refused") {
  const auto refused = [](std::string_view label, std::vector<AttrText> attrs,
                          const Shape& values) {
    return Refuses(label, "_npi_insert_scalar", attrs, {{2, 3}, values});
  };
  CHECK(refused("C1", {{"int_ind", "0"}, {"axis", "2"}}, {1}));
  CHECK(refused("C1", {{"int_ind", "0"}}, {2, 2}));
  CHECK(refused("C2", {{"int_ind", "4"}, {"axis", "1"}}, {1}));
  CHECK(refused("C3", {{"int_ind", "0"}, {"axis", "1"}}, {3}));
  CHECK(Refuses("C4", "_npi_insert_slice", {{"step", "0"}}, {{3}, {1}}));
  CHECK(Refuses("C6", "_npi_insert_slice", {}, {{1 << 25}, {1}}));
  CHECK(Refuses("C5", "_npi_insert_tensor", {}, {{3}, {1}, {2, 2}}));
  CHECK(Refuses("C5", "_npi_insert_tensor", {}, {{3}, {2}, Shape(Extents{})}));
}

TEST_CASE("an index or a slice is left out") {
  const auto left = [](std::vector<AttrText> attrs) {
    return Evaluate("_npi_delete", attrs, {Table()});
  };
  CHECK(left({{"int_ind", "1"}, {"axis", "1"}}) == List{1, 3, 4, 6});
  CHECK(left({{"int_ind", "-1"}}) == List{1, 2, 3, 4, 5});
  CHECK(left({{"step", "2"}}) == List{2, 4, 6});
  CHECK(left({{"start", "4"}, {"stop", "1"}, {"step", "-1"}}) == List{1, 2, 6});
  CHECK(Refuses("C1", "_npi_delete", {{"int_ind", "0"}, {"axis", "2"}},
                {{2, 3}}));
  CHECK(Refuses("C2", "_npi_delete", {{"int_ind", "3"}, {"axis", "1"}},
                {{2, 3}}));
  CHECK(Refuses("C3", "_npi_delete", {{"step", "1"}}, {{2, 3}}));
  CHECK(Refuses("C4", "_npi_delete", {{"step", "0"}}, {{2, 3}}));
  CHECK(Refuses("C5", "_npi_delete", {}, {{2, 3}, {2}}));
  CHECK(Refuses("C6", "_npi_delete", {{"int_ind", "0"}}, {{1 << 25}}));
}

TEST_CASE("what a mask chooses is replaced") {
  const Tensor rows = TypedTensor(DType::kBool, {2}, {0, 1});
  const Tensor columns = TypedTensor(DType::kBool, {3}, {1, 0, 1});
  CHECK(Evaluate("_npi_boolean_mask_assign_scalar", {{"value", "9"}},
                 {Table(), rows}) == List{1, 2, 3, 9, 9, 9});
  const auto assigned = [&](const Tensor& value) {
    return Evaluate("_npi_boolean_mask_assign_tensor", {{"start_axis", "1"}},
                    {Table(), columns, value});
  };
  CHECK(assigned(Row({7})) == List{7, 2, 7, 7, 5, 7});
  CHECK(assigned(Floats({2, 2}, {7, 8, 9, 0})) == List{7, 2, 8, 9, 5, 0});
  CHECK(assigned(Row({7, 8})) == List{7, 2, 7, 8, 5, 8});
  CHECK(Refuses("C1", "_npi_boolean_mask_assign_scalar", {{"value", "9"}},
                {{2, 3}, {3}}));
  CHECK(Refuses("C1", "_npi_boolean_mask_assign_scalar",
                {{"value", "9"}, {"start_axis", "2"}}, {{2, 3}, {3}}));
  CHECK(Refuses("C2", "_npi_boolean_mask_assign_tensor", {},
                {{2, 3}, {2}, {2, 2}}));
}

// Drawn by the graph's random state.
List Drawn(const char* op, const std::vector<AttrText>& attrs,
           const std::vector<Tensor>& inputs) {
  return ValuesOf(EvaluateOp(op, attrs, inputs)[0]);
}

TEST_CASE("numbers are chosen with and without replacement") {
  List all = Drawn("_npi_choice",
                   {{"a", "6"}, {"size", "6"}, {"replace", "False"}}, {});
  std::ranges::sort(all);
  CHECK(all == List{0, 1, 2, 3, 4, 5});
  // Of probability 0 nothing is chosen, and of what is left all.
  List likely = Drawn("_npi_choice",
                      {{"a", "4"},
                       {"size", "(2,)"},
                       {"replace", "False"},
                       {"weighted", "True"}},
                      {Row({0.5f, 0, 0, 0.5f})});
  std::ranges::sort(likely);
  CHECK(likely == List{0, 3});
  const List many = Drawn(
      "_npi_choice", {{"a", "None"}, {"size", "(40, 50)"}, {"weighted", "1"}},
      {Row({9, 9, 9}), Row({0.2f, 0, 0.8f})});
  CHECK(std::ranges::count(many, 1) == 0);
  CHECK(std::abs(static_cast<double>(std::ranges::count(many, 2)) - 1600) < 90);
  const List even = Drawn("_npi_choice", {{"a", "2"}, {"size", "2000"}}, {});
  CHECK(std::abs(static_cast<double>(std::ranges::count(even, 1)) - 1000) <
        110);
  CHECK(InferOp("_npi_choice", {{"a", "2"}, {"size", "None"}}, {}).Out() ==
        "()");
  CHECK(Refuses("C1", "_npi_choice", {{"a", "None"}, {"size", "1"}}, {{2, 2}}));
  CHECK(Refuses("C1", "_npi_choice", {{"a", "4294967296"}, {"size", "1"}}, {}));
  CHECK(Refuses("C2", "_npi_choice",
                {{"a", "2"}, {"size", "3"}, {"replace", "0"}}, {}));
  CHECK(Refuses("C3", "_npi_choice",
                {{"a", "2"}, {"size", "3"}, {"weighted", "1"}}, {{3}}));
}

TEST_CASE("outcomes of trials are counted") {
  const List counts =
      Drawn("_npi_multinomial",
            {{"n", "50"}, {"pvals", "(0.2, 0.0, 0.8)"}, {"size", "(40,)"}}, {});
  double first = 0;
  for (size_t i = 0; i < counts.size(); i += 3) {
    CHECK(counts[i] + counts[i + 2] == 50);
    CHECK(counts[i + 1] == 0);
    first += counts[i];
  }
  CHECK(std::abs(first - 400) < 90);
  CHECK(Drawn("_npi_multinomial", {{"n", "5"}}, {Row({1, 0})}) == List{5, 0});
  CHECK(Drawn("_npi_multinomial", {{"n", "5"}}, {Row({0.3f})}) == List{5});
  CHECK(Refuses("C1", "_npi_multinomial", {{"n", "5"}}, {{2, 2}}));
  CHECK(Refuses("C2", "_npi_multinomial",
                {{"n", "5"}, {"pvals", "(0.7, 0.7, 0)"}}, {}));
  CHECK(Refuses("C2", "_npi_multinomial", {{"n", "5"}, {"pvals", "(a,)"}}, {}));
  CHECK(Refuses("C3", "_npi_multinomial",
                {{"n", "4294967296"}, {"pvals", "(1,)"}}, {}));
}

}  // namespace
}  // namespace mxc
