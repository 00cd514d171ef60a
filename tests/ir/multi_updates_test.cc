// SPDX-License-Identifier: Apache-2.0
// Updates of several weights by one node: what MXNet 1.9.1 computes, and what lans
// is by its formula.
#include <doctest/doctest.h>

#include <cmath>

#include "ir/graph/gradient.h"
#include "tests/ir/op_run.h"

namespace mxc {
namespace {

using List = std::vector<double>;
using Lists = std::vector<List>;
using Attrs = std::vector<AttrText>;

// Two weights, and what their updates keep.
struct Weights {
  std::vector<std::vector<Tensor>> of = {{}, {}};

  explicit Weights(DType dtype) {
    Add(dtype, {1, -2, .5}, {2});
    Add(dtype, {.5, 1, -.25}, {-1});
  }
  Weights& Add(DType dtype, const List& first, const List& second) {
    of[0].push_back(TypedTensor(dtype, {3}, first));
    of[1].push_back(TypedTensor(dtype, {1}, second));
    return *this;
  }
  Weights& Momentum() { return Add(DType::kF32, {.4, -.1, 0}, {.3}); }
  Weights& Moments() {
    Add(DType::kF32, {.4, -.1, .2}, {.3});
    return Add(DType::kF32, {.04, .09, .25}, {.16});
  }
  Weights& Copy(double second) {
    return Add(DType::kF32, {1.001, -2.002, .5}, {second});
  }
  std::vector<Tensor> With(const std::vector<Tensor>& numbers = {}) const {
    std::vector<Tensor> all = of[0];
    all.insert(all.end(), of[1].begin(), of[1].end());
    all.insert(all.end(), numbers.begin(), numbers.end());
    return all;
  }
};

Attrs With(Attrs attrs, const Attrs& more) {
  attrs.insert(attrs.end(), more.begin(), more.end());
  return attrs;
}

const Attrs kRateOfEach = {
    {"num_weights", "2"}, {"lrs", "(0.1, 0.5)"}, {"wds", "(0.2, 0)"}};
const Attrs kLamb = {{"num_tensors", "2"},    {"learning_rates", "(0.1, 0.5)"},
                     {"wds", "(0.2, 0)"},     {"beta1", "0.8"},
                     {"beta2", "0.9"},        {"epsilon", "0.01"},
                     {"step_count", "(1, 3)"}};

void CheckUpdate(const char* op, const Attrs& attrs,
                 const std::vector<Tensor>& inputs, const Lists& expected,
                 double tolerance = 1e-6) {
  CAPTURE(op);
  const std::vector<Tensor> outputs = EvaluateOp(op, attrs, inputs);
  REQUIRE(outputs.size() == expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(Near(ValuesOf(outputs[i]), expected[i], tolerance));
  }
}

TEST_CASE("momentum of several weights, by attributes and by inputs") {
  const Attrs step = {
      {"momentum", "0.9"}, {"rescale_grad", "0.5"}, {"clip_gradient", "0.4"}};
  const Lists moved = {
      {1.3149999, -2.09, 0.5025}, {2.47}, {0.3149999, -0.09, 0.0025}, {0.47}};
  const Weights weights = Weights(DType::kF32).Momentum();
  CheckUpdate("multi_sgd_mom_update", With(step, kRateOfEach), weights.With(),
              moved);
  CheckUpdate(
      "preloaded_multi_sgd_mom_update", With(step, {{"num_weights", "2"}}),
      weights.With({Floats({2}, {.1f, .5f}), Floats({2}, {.2f, 0})}), moved);
}

TEST_CASE("several weights with copies in f32") {
  const std::vector<Tensor> rates = {Floats({2}, {.1f, .5f}),
                                     Floats({2}, {.2f, 0})};
  const Attrs count = {{"num_weights", "2"}};
  const Lists stepped = {{0.93115234375, -2.0625, 0.51513671875},
                         {2.5},
                         {0.93098, -2.06196, 0.515},
                         {2.5}};
  Weights weights = Weights(DType::kF16).Copy(2);
  CheckUpdate("multi_mp_sgd_update", kRateOfEach, weights.With(), stepped);
  CheckUpdate("preloaded_multi_mp_sgd_update", count, weights.With(rates),
              stepped);
  weights = Weights(DType::kF16).Momentum().Copy(2);
  const Lists moved = {{1.291015625, -2.15234375, 0.51513671875},
                       {2.76953125},
                       {0.28998, -0.14996, 0.015},
                       {1.29098, -2.15196, 0.515},
                       {0.77},
                       {2.77}};
  const Attrs momentum = {{"momentum", "0.9"}};
  CheckUpdate("multi_mp_sgd_mom_update", With(momentum, kRateOfEach),
              weights.With(), moved);
  CheckUpdate("preloaded_multi_mp_sgd_mom_update", With(momentum, count),
              weights.With(rates), moved);
}

TEST_CASE("adamw of several weights") {
  const Attrs attrs = With({{"etas", "(1, 0.3)"},
                            {"beta1", "0.8"},
                            {"beta2", "0.9"},
                            {"epsilon", "0.01"}},
                           kRateOfEach);
  const List mean = {0.37, 0.02, 0.135}, square = {0.04225, 0.106, 0.2265625};
  const std::vector<Tensor> scale = {Floats({1}, {.5f})};
  Weights weights = Weights(DType::kF32).Moments();
  CheckUpdate("_multi_adamw_update", attrs, weights.With(scale),
              {{0.6283445, -1.60596, 0.3722214},
               {1.9501301},
               mean,
               square,
               {0.14},
               {0.169}});
  weights = Weights(DType::kF16).Moments().Copy(2);
  CheckUpdate("_multi_mp_adamw_update", attrs, weights.With(scale),
              {{0.62890625, -1.607421875, 0.372314453125},
               {1.9501953125},
               mean,
               square,
               {0.6291445, -1.60756, 0.3722214},
               {0.14},
               {0.169},
               {1.9501301}});
  // Where the scale is no number all stays.
  const auto stays =
      EvaluateOp("_multi_adamw_update", attrs,
                 Weights(DType::kF32).Moments().With({Floats({1}, {NAN})}));
  CHECK(ValuesOf(stays[0]) == List{1, -2, .5});
  CHECK(Near(ValuesOf(stays[5]), {.16}));
}

TEST_CASE("lamb of several weights, with the norms that it needs") {
  const Weights weights = Weights(DType::kF32).Moments();
  const Attrs half = With(kLamb, {{"rescale_grad", "0.5"}});
  CheckUpdate("_multi_lamb_update", half, weights.With(),
              {{0.7756687, -1.9773052, 0.4592513},
               {1},
               {0.37, 0.02, 0.135},
               {0.04225, 0.106, 0.2265625},
               {0.14},
               {0.169}});
  CheckUpdate("_multi_lamb_update",
              With(half, {{"bias_correction", "0"},
                          {"lower_bound", "3"},
                          {"clip_gradient", "0.2"}}),
              weights.With(),
              {{0.7160661, -1.9209956, 0.4439654},
               {.5},
               {0.36, -0.04, 0.135},
               {0.04, 0.085, 0.2265625},
               {0.2},
               {0.148}});
  CheckUpdate("_multi_mp_lamb_update", kLamb,
              Weights(DType::kF16).Moments().Copy(2.3).With(),
              {{0.77490234375, -2.005859375, 0.463623046875},
               {1.2998046875},
               {0.42, 0.12, 0.11},
               {0.061, 0.181, 0.23125},
               {0.7748044, -2.0053504, 0.4636092},
               {0.04},
               {0.244},
               {1.3}});
}

// One weight of lans, in double.
struct LansReference {
  List weight, mean, square;

  void Step(const List& gradient, double rate, double decay, double t) {
    const double b1 = .8, b2 = .9;
    const double length = Norm(gradient), weights = Norm(weight);
    List by_mean, by_gradient;
    for (size_t i = 0; i < weight.size(); ++i) {
      const double g = gradient[i] / length;
      mean[i] = b1 * mean[i] + (1 - b1) * g;
      square[i] = b2 * square[i] + (1 - b2) * g * g;
      const double root = std::sqrt(square[i] / (1 - std::pow(b2, t))) + .01;
      by_mean.push_back(mean[i] / (1 - std::pow(b1, t)) / root +
                        decay * weight[i]);
      by_gradient.push_back(g / root + decay * weight[i]);
    }
    const double m = rate * b1 * weights / Norm(by_mean);
    const double n = rate * (1 - b1) * weights / Norm(by_gradient);
    for (size_t i = 0; i < weight.size(); ++i) {
      weight[i] -= m * by_mean[i] + n * by_gradient[i];
    }
  }
  static double Norm(const List& x) {
    double sum = 0;
    for (const double element : x) sum += element * element;
    return std::sqrt(sum);
  }
};

TEST_CASE("lans of several weights") {
  LansReference first{{1, -2, .5}, {.4, -.1, .2}, {.04, .09, .25}};
  LansReference second{{2}, {.3}, {.16}};
  first.Step({.5, 1, -.25}, .1, .2, 1);
  second.Step({-1}, .5, 0, 3);
  const Attrs scaled = With(kLamb, {{"rescale_grad", "4"}});
  CheckUpdate("_multi_lans_update", scaled,
              Weights(DType::kF32).Moments().With(),
              {first.weight, second.weight, first.mean, first.square,
               second.mean, second.square});
  const auto mixed = EvaluateOp("_multi_mp_lans_update", kLamb,
                                Weights(DType::kF16).Moments().Copy(2).With());
  CHECK(Near(ValuesOf(mixed[0]), first.weight, 4e-3));
  CHECK(mixed[4].type() == TensorType{DType::kF32, Shape{3}});
  CHECK(Near(ValuesOf(mixed[7]), second.weight));
}

TEST_CASE("a copy counts for nothing where the weight is f32 itself") {
  const auto stepped = EvaluateOp("multi_mp_sgd_update", kRateOfEach,
                                  Weights(DType::kF32).Copy(3).With());
  // w - lr·(wd·w + g) of the weights, not of the copies.
  CHECK(Near(ValuesOf(stepped[0]), {0.93, -2.06, 0.515}));
  CHECK(ValuesOf(stepped[3]) == List{3});
  const auto lamb = EvaluateOp("_multi_mp_lamb_update", kLamb,
                               Weights(DType::kF32).Moments().Copy(3).With());
  const auto alone = EvaluateOp("_multi_lamb_update", kLamb,
                                Weights(DType::kF32).Moments().With());
  CHECK(ValuesOf(lamb[0]) == ValuesOf(alone[0]));
  CHECK(ValuesOf(lamb[7]) == List{3});
}

TEST_CASE("lists have a number for each weight, types follow from any tensor") {
  const OpRun run =
      InferOp("_multi_mp_adamw_update", With({{"etas", "(1, 1)"}}, kRateOfEach),
              {{}, {2, 3}, {}, {}, {}, {}, {}, {}, {}, {4}, {1}});
  CHECK(run.error == "");
  CHECK(run.Out(0) == "(2, 3)");
  CHECK(run.Out(1) == "(4)");
  CHECK(run.Out(7) == "(4)");
  for (const char* op : {"multi_mp_sgd_update", "multi_sgd_mom_update"}) {
    CHECK(
        InferOp(op, {{"lrs", "(1,)"}, {"wds", "()"}}, {{2}, {2}, {2}}).error ==
        "C1: wds has 0 numbers for 1 weights");
  }
  CHECK(Refuses(
      "C1", "_multi_lamb_update",
      {{"learning_rates", "(1,)"}, {"wds", "(0,)"}, {"step_count", "(1, 2)"}},
      {{2}, {2}, {2}, {2}}));
}

}  // namespace
}  // namespace mxc
