// SPDX-License-Identifier: Apache-2.0
// Updates as operators: one step of each, as its formula says, for one element.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tests/ir/op_run.h"

namespace mxc {
namespace {

using List = std::vector<double>;

const Tensor kWeight = Floats({1}, {1}), kGradient = Floats({1}, {0.5f});

// All outputs, one number each: the next weight, and the next states.
List Step(const char* op, const std::vector<AttrText>& attrs,
          const std::vector<float>& others) {
  std::vector<Tensor> inputs = {kWeight, kGradient};
  for (const float other : others) inputs.push_back(Floats({1}, {other}));
  List numbers;
  for (const Tensor& output : EvaluateOp(op, attrs, inputs)) {
    numbers.push_back(output.At(0));
  }
  return numbers;
}

const std::vector<AttrText> kRate = {{"lr", "0.1"}, {"wd", "0.2"}};
std::vector<AttrText> Rate(std::vector<AttrText> more) {
  more.insert(more.end(), kRate.begin(), kRate.end());
  return more;
}

TEST_CASE("gradient descent: plain, with momentum, along signs") {
  CHECK(Near(Step("sgd_update", kRate, {}), {1 - 0.1 * (0.5 + 0.2)}));
  CHECK(Near(Step("sgd_mom_update", Rate({{"momentum", "0.5"}}), {0.4f}),
             {1 + 0.2 - 0.07, 0.2 - 0.07}));
  // m = 0.2; the weight is read again as it was.
  CHECK(Near(Step("nag_mom_update", Rate({{"momentum", "0.5"}}), {0.4f}),
             {1 - 0.2 + 1.5 * 0.13, 0.13}));
  CHECK(Near(Step("signsgd_update", kRate, {}), {1 - 0.02 - 0.1}));
  CHECK(Near(
      Step("signum_update", Rate({{"momentum", "0.5"}, {"wd_lh", "0.3"}}), {2}),
      {1 - 0.03 + 0.1, 1 - 0.5 * 0.7}));
}

TEST_CASE("a gradient is rescaled, then clipped, to 0 as well; below 0 not") {
  const auto step = [](const char* clip) {
    return Step("sgd_update",
                {{"lr", "1"}, {"rescale_grad", "4"}, {"clip_gradient", clip}},
                {})[0];
  };
  CHECK(step("-1") == -1);
  CHECK(step("1.5") == -0.5);
  CHECK(step("0") == 1);
}

TEST_CASE("means of the gradient and of its square") {
  const std::vector<AttrText> betas = {
      {"lr", "0.1"}, {"beta1", "0.5"}, {"beta2", "0.75"}, {"epsilon", "0.5"}};
  // g = 0.5: m = 0.5 + 0.25, v = 0.75 · 0.25 + 0.25 · 0.25 = 0.25
  CHECK(Near(Step("adam_update", betas, {1, 0.25}), {1 - 0.075, 0.75, 0.25}));
  std::vector<AttrText> attrs = betas;
  attrs.insert(attrs.end(), {{"eta", "2"}, {"wd", "0.2"}});
  CHECK(Near(Step("_adamw_update", attrs, {1, 0.25, 1}),
             {1 - 2 * (0.075 + 0.2), 0.75, 0.25}));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float stops : {0.0f, nan, INFINITY}) {
    CHECK(Step("_adamw_update", attrs, {1, 0.25, stops}) == List{1, 1, 0.25});
  }
}

TEST_CASE("adagrad, by element and by row") {
  // g = 0.5, h = 0.75 + 0.25: 1 + 0.21 is 1.1 squared.
  CHECK(Near(Step("_sparse_adagrad_update",
                  {{"lr", "0.1"}, {"epsilon", "0.21"}}, {0.75}),
             {1 - 0.05 / 1.1, 1}));
  // Of the second row the mean square is (9 + 16) / 2, of which 0.5 is kept.
  const std::vector<Tensor> next =
      EvaluateOp("_contrib_group_adagrad_update",
                 {{"lr", "0.1"}, {"epsilon", "3"}, {"rescale_grad", "2"}},
                 {Floats({2, 2}, {1, 2, 3, 4}), Floats({2, 2}, {0, 1, 1.5, 2}),
                  Floats({2, 1}, {4, 0.5})});
  const double first = std::sqrt(4 + 2 + 3), second = std::sqrt(13 + 3);
  for (const auto& [at, value] :
       {std::pair(0, 1.0), std::pair(1, 2 - 0.2 / first),
        std::pair(2, 3 - 0.3 / second), std::pair(3, 4 - 0.4 / second)}) {
    CHECK(next[0].At(at) == doctest::Approx(value));
  }
  CHECK(next[1].At(0) == 6);
  CHECK(next[1].At(1) == 13);
}

TEST_CASE("arrays are reset") {
  const std::vector<Tensor> next =
      EvaluateOp("reset_arrays", {{"num_arrays", "2"}},
                 {Floats({2}, {1, 2}), Floats({1}, {3})});
  REQUIRE(next.size() == 4);
  for (const Tensor& each : next) CHECK(each.At(0) == 0);
}

TEST_CASE("lamb, in two phases") {
  const std::vector<AttrText> attrs = {
      {"beta1", "0.5"}, {"beta2", "0.75"}, {"epsilon", "0.5"},
      {"wd", "0.2"},    {"t", "1"},        {"bias_correction", "0"}};
  CHECK(Near(Step("lamb_update_phase1", attrs, {1, 0.25}),
             {0.75 + 0.2, 0.75, 0.25}));
  std::vector<AttrText> corrected = attrs;
  corrected.back().second = "1";
  CHECK(Near(Step("lamb_update_phase1", corrected, {1, 0.25}),
             {1.5 / 1.5 + 0.2, 0.75, 0.25}));
  const auto second = [](float r1, float r2, std::vector<AttrText> more) {
    more.push_back({"lr", "0.1"});
    return Step("lamb_update_phase2", more, {r1, r2})[0];
  };
  CHECK(second(2, 4, {}) == doctest::Approx(1 - 0.1 * 0.5 * 0.5));
  CHECK(second(0, 4, {}) == doctest::Approx(1 - 0.1 * 0.5));
  CHECK(second(2, 0, {}) == doctest::Approx(1 - 0.1 * 0.5));
  CHECK(second(2, 4, {{"lower_bound", "8"}}) == doctest::Approx(0.9));
  CHECK(second(2, 4, {{"upper_bound", "1"}}) == doctest::Approx(1 - 0.0125));
}

TEST_CASE("rmsprop, plain and centred; weights are limited") {
  const std::vector<AttrText> attrs = {
      {"lr", "0.1"}, {"gamma1", "0.75"}, {"epsilon", "0.75"}};
  // n = 0.75 · 0.25 + 0.25 · 0.25
  CHECK(Near(Step("rmsprop_update", attrs, {0.25}), {1 - 0.05, 0.25}));
  std::vector<AttrText> limited = attrs;
  limited.push_back({"clip_weights", "0.5"});
  CHECK(Near(Step("rmsprop_update", limited, {0.25}), {0.5, 0.25}));
  // a = 0.75 · 0.5 + 0.25 · 0.5, and n − a² + ε = 0.75
  CHECK(Near(Step("rmspropalex_update", attrs, {0.25, 0.5, 1}),
             {1 + 0.9 - 0.05 / std::sqrt(0.75), 0.25, 0.5,
              0.9 - 0.05 / std::sqrt(0.75)}));
}

TEST_CASE("leaders") {
  // n: 0.75 → 1, z = 1 + 0.5 − (1 − √0.75)·1 / 0.5
  const double z = 1.5 - 2 * (1 - std::sqrt(0.75));
  CHECK(
      Near(Step("ftrl_update", {{"lr", "0.5"}, {"lamda1", "0.25"}}, {1, 0.75}),
           {(0.25 - z) / 4, z, 1}));
  CHECK(Near(Step("ftrl_update", {{"lr", "0.5"}, {"lamda1", "2"}}, {1, 0.75}),
             {0, z, 1}));
  // v = 0.25 of a correction of 0.25; d' = 0.5 / 0.5 · (1 + 1)
  CHECK(Near(Step("ftml_update",
                  {{"lr", "0.5"},
                   {"beta1", "0.5"},
                   {"beta2", "0.75"},
                   {"epsilon", "1"},
                   {"t", "1"}},
                  {1, 0.25, 3}),
             {-(1.5 + 0.25 - 1.5) / 2, 2, 0.25, 0.25}));
}

TEST_CASE(
    "a copy in f32 is what is updated, and the weight is rounded from it") {
  const Tensor half = TypedTensor(DType::kF16, {1}, {1});
  const auto outputs = EvaluateOp(
      "mp_sgd_update", {{"lr", "1"}},
      {half, TypedTensor(DType::kF16, {1}, {0}), Floats({1}, {1.0001f})});
  CHECK(outputs[0].type().dtype == DType::kF16);
  CHECK(outputs[0].At(0) == 1);
  CHECK(outputs[1].At(0) == 1.0001f);
  // Of mp_lamb_update_phase1 the step is f32, and the copy stays.
  const OneNode one = BuildOneNode(
      "mp_lamb_update_phase1", {{"t", "1"}, {"wd", "0"}},
      {half.type(), half.type(), {}, {}, {DType::kUnknown, Shape{1}}}, false);
  REQUIRE(one.error == "");
  CHECK(one.node->types.size() == 3);
  CHECK(one.node->types[0] == TensorType{DType::kF32, Shape{1}});
  CHECK(one.node->inputs[4].type().dtype == DType::kF32);
  // Of mp_nag_mom_update the second step is from the next weight.
  CHECK(Near(Step("mp_nag_mom_update", Rate({{"momentum", "0.5"}}), {0.4f, 1}),
             {0.995, 0.2 - 0.1 * (0.5 + 0.2 * 0.995), 0.995}));
}

TEST_CASE("types follow from any of the tensors") {
  const OpRun run = InferOp("adam_update", {{"lr", "1"}}, {{}, {}, {}, {2, 3}});
  CHECK(run.error == "");
  CHECK(run.In(0) == "(2, 3)");
  CHECK(run.Out(2) == "(2, 3)");
  CHECK(InferOp("sgd_update", {{"lr", "1"}}, {{2}, {3}}).error != "");
  CHECK(InferOp("sgd_update", {}, {{2}, {2}}).error != "");
  CHECK(BuildOneNode("sgd_update", {{"lr", "1"}},
                     {{DType::kI32, {2}}, {DType::kI32, {2}}}, false)
            .error != "");
  CHECK(
      Refuses("C1", "lamb_update_phase2", {{"lr", "1"}}, {{2}, {2}, {2}, {1}}));
}

TEST_CASE("sums of squares, rates of lars, and whether all is finite") {
  const Tensor list = Floats({3}, {1, 2, 2});
  CHECK(Evaluate("multi_sum_sq", {{"num_arrays", "2"}}, {list, kGradient}) ==
        List{9, 0.25});
  CHECK(Near(Evaluate("multi_lars",
                      {{"eta", "0.5"}, {"eps", "1"}, {"rescale_grad", "2"}},
                      {Floats({3}, {1, 1, 1}), Floats({3}, {4, 0, 4}),
                       Floats({3}, {9, 9, 0}), Floats({3}, {0.5, 1, 1})}),
             {0.5 * 2 / (6 + 1 + 1), 1, 1}));
  const Tensor infinite = Floats({2}, {1, INFINITY});
  CHECK(Evaluate("multi_all_finite", {{"num_arrays", "2"}},
                 {list, kGradient}) == List{1});
  CHECK(Evaluate("multi_all_finite", {{"num_arrays", "2"}}, {list, infinite}) ==
        List{0});
}

TEST_CASE("several weights at once, by rates of their own") {
  const Tensor two = Floats({2}, {1, 2}), steps = Floats({2}, {3, 4});
  const std::vector<Tensor> pairs = {kWeight, kGradient, two, steps};
  const std::vector<AttrText> count = {{"num_weights", "2"}};
  std::vector<AttrText> stated = count;
  stated.insert(stated.end(), {{"lrs", "(0.1, 0.5)"}, {"wds", "(0.2, 0)"}});
  const auto by_attributes = EvaluateOp("multi_sgd_update", stated, pairs);
  CHECK(Near(ValuesOf(by_attributes[0]), {1 - 0.1 * (0.5 + 0.2)}));
  CHECK(Near(ValuesOf(by_attributes[1]), {-0.5, 0}));
  std::vector<Tensor> all = pairs;
  all.push_back(Floats({2}, {0.1f, 0.5f}));
  all.push_back(Floats({2}, {0.2f, 0}));
  const auto by_inputs = EvaluateOp("preloaded_multi_sgd_update", count, all);
  CHECK(Near(ValuesOf(by_inputs[0]), ValuesOf(by_attributes[0])));
  CHECK(Near(ValuesOf(by_inputs[1]), ValuesOf(by_attributes[1])));
  CHECK(
      InferOp("multi_sgd_update", {{"lrs", "(1,)"}, {"wds", "()"}}, {{2}, {2}})
          .error.starts_with("C1"));
  CHECK(Refuses("C1", "preloaded_multi_sgd_update", {}, {{2}, {2}, {2}, {1}}));
}

}  // namespace
}  // namespace mxc
