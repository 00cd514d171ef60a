// SPDX-License-Identifier: Apache-2.0
// What loss heads report, the next values of states, and what is drawn.
#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "ir/graph/builder.h"
#include "tests/ir/gradient_run.h"

namespace mxc {
namespace {

double LossOf(std::string_view op, const std::vector<AttrText>& attrs,
              const std::vector<Tensor>& inputs) {
  std::vector<TensorType> types;
  std::map<std::string, Tensor> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    types.push_back(inputs[i].type());
    values["in" + std::to_string(i)] = inputs[i];
  }
  OneNode one = BuildOneNode(op, attrs, types, true);
  REQUIRE(one.error == "");
  GraphBuilder builder(one.graph, *one.node);
  const Value loss =
      one.node->op->loss(one.node->attrs.get(), *one.node, builder);
  CHECK(loss.type() == TensorType{DType::kF32, Shape{1}});
  return EvaluateValues(one.graph, std::vector<Value>{loss}, values, false)[0]
      .At(0);
}

const Tensor kScores = Floats({2, 3}, {0, 0, std::log(2.0f), 1, 1, 1});

TEST_CASE("softmax heads report the mean cross entropy") {
  CHECK(LossOf("SoftmaxOutput", {}, {kScores, Floats({2}, {2, 0})}) ==
        doctest::Approx((std::log(2.0) + std::log(3.0)) / 2));
  CHECK(LossOf("SoftmaxOutput", {{"use_ignore", "1"}, {"ignore_label", "0"}},
               {kScores, Floats({2}, {2, 0})}) ==
        doctest::Approx(std::log(2.0)));
  CHECK(LossOf("SoftmaxOutput", {},
               {kScores, Floats({2, 3}, {0, 0.5, 0.5, 1, 0, 0})}) ==
        doctest::Approx((1.5 * std::log(2.0) + std::log(3.0)) / 2));
  CHECK(LossOf("SoftmaxOutput", {{"multi_output", "1"}},
               {Floats({1, 2, 2}, {0, 1, 0, 1}), Floats({1, 2}, {0, 1})}) ==
        doctest::Approx(std::log(2.0)));
  CHECK(LossOf("softmax_cross_entropy", {}, {kScores, Floats({2}, {2, 0})}) ==
        doctest::Approx((std::log(2.0) + std::log(3.0)) / 2));
}

TEST_CASE("regression heads report the mean of their loss") {
  const Tensor data = Floats({2, 2}, {1, 2, 3, 4});
  const Tensor label = Floats({2, 2}, {0, 2, 1, 8});
  CHECK(LossOf("LinearRegressionOutput", {}, {data, label}) == 21.0 / 8);
  CHECK(LossOf("MAERegressionOutput", {}, {data, label}) == 7.0 / 4);
  CHECK(LossOf("LogisticRegressionOutput", {},
               {Floats({2, 1}, {0, 0}), Floats({2}, {1, 0.25})}) ==
        doctest::Approx(std::log(2.0)));
}

TEST_CASE("the absolute error's slope is -1 where there is none") {
  CHECK(GradientOf(0, "MAERegressionOutput", {},
                   {Floats({2, 2}, {1, 2, 3, 4}), Floats({2, 2}, {1, 3, 2, 4})},
                   {1, 1, 1, 1}) == std::vector<double>{-.5, -.5, .5, -.5});
}

TEST_CASE("other heads report theirs") {
  const Tensor data = Floats({1, 2}, {0.5, -0.5});
  CHECK(LossOf("SVMOutput", {{"use_linear", "1"}}, {data, Floats({1}, {0})}) ==
        doctest::Approx(1));
  CHECK(LossOf("SVMOutput", {}, {data, Floats({1}, {0})}) ==
        doctest::Approx(0.5));
  CHECK(LossOf("MakeLoss", {}, {data}) == 0);
  CHECK(LossOf("make_loss", {}, {Floats({2}, {1, 2})}) == 1.5);
}

TEST_CASE("moving statistics move in training only") {
  const std::vector<Tensor> inputs = {Floats({2, 1}, {1, 5}), Floats({1}, {1}),
                                      Floats({1}, {0}), Floats({1}, {10}),
                                      Floats({1}, {20})};
  const auto next = [&](std::vector<AttrText> attrs, bool training) {
    attrs.emplace_back("momentum", "0.5");
    const auto outputs = EvaluateOp("BatchNorm", attrs, inputs, training);
    return std::pair(outputs[3].At(0), outputs[4].At(0));
  };
  CHECK(next({}, true) == std::pair(6.5, 12.0));  // the biased variance, 4
  CHECK(next({}, false) == std::pair(10.0, 20.0));
  CHECK(next({{"use_global_stats", "1"}}, true) == std::pair(10.0, 20.0));
}

TEST_CASE("dropout keeps the mean, and what it dropped") {
  const Tensor ones = Floats({4000}, std::vector<float>(4000, 1));
  const auto outputs = EvaluateOp("Dropout", {{"p", "0.25"}}, {ones}, true);
  int dropped = 0;
  for (int64_t i = 0; i < 4000; ++i) {
    const double y = outputs[0].At(i);
    CHECK((y == 0 || y == doctest::Approx(4.0 / 3)));
    CHECK(y == outputs[1].At(i));
    if (y == 0) ++dropped;
  }
  CHECK(dropped > 880);
  CHECK(dropped < 1120);
}

}  // namespace
}  // namespace mxc
