// SPDX-License-Identifier: Apache-2.0
// The Hawkes process: likelihoods by hand, and gradients by differences.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "ir/graph/builder.h"
#include "ir/graph/gradient.h"
#include "tests/ir/op_run.h"

namespace mxc {
namespace {

using List = std::vector<double>;

Tensor DoubleTensor(const Shape& shape, const List& values) {
  return TypedTensor(DType::kF64, shape, values);
}

// Two sequences of two marks, of three and of two points.
std::vector<Tensor> Process(const List& rates, const List& alpha,
                            const List& beta) {
  return {DoubleTensor({2, 2}, rates),
          DoubleTensor({2}, alpha),
          DoubleTensor({2}, beta),
          DoubleTensor({2, 2}, {0.5, 0, 1, 2}),
          DoubleTensor({2, 3}, {0.5, 1, 0.25, 1, 0.5, 9}),
          TypedTensor(DType::kI32, {2, 3}, {0, 1, 0, 1, 1, 0}),
          DoubleTensor({2}, {3, 2}),
          DoubleTensor({2}, {2, 4})};
}
const List kRates = {1, 0.5, 2, 0.25}, kAlpha = {0.5, 0.25}, kBeta = {1, 2};

TEST_CASE("one mark that is excited once") {
  const std::vector<Tensor> inputs = {
      DoubleTensor({1, 1}, {2}), DoubleTensor({1}, {0.5}),
      DoubleTensor({1}, {1}),    DoubleTensor({1, 1}, {0}),
      DoubleTensor({1, 1}, {1}), TypedTensor(DType::kI32, {1, 1}, {0}),
      DoubleTensor({1}, {1}),    DoubleTensor({1}, {2})};
  const auto found = EvaluateOp("_contrib_hawkesll", {}, inputs);
  const double left = std::exp(-1.0);
  CHECK(found[0].At(0) ==
        doctest::Approx(std::log(2) - 2 - (2 + 0.5 * (1 - left))));
  CHECK(found[1].At(0) == doctest::Approx(left));
}

TEST_CASE("gradients of the rates, of excitement and of its decay") {
  const auto likelihood = [](const List& rates, const List& alpha,
                             const List& beta) {
    const List all = ValuesOf(
        EvaluateOp("_contrib_hawkesll", {}, Process(rates, alpha, beta))[0]);
    return all[0] + 3 * all[1];
  };
  std::vector<TensorType> types;
  std::map<std::string, Tensor> values;
  const auto inputs = Process(kRates, kAlpha, kBeta);
  for (size_t i = 0; i < inputs.size(); ++i) {
    types.push_back(inputs[i].type());
    values["in" + std::to_string(i)] = inputs[i];
  }
  OneNode one = BuildOneNode("_contrib_hawkesll", {}, types, true);
  REQUIRE(one.error == "");
  GraphBuilder builder(one.graph, *one.node);
  const Value head = builder.Constant(DoubleTensor({2}, {1, 3}), "head");
  const std::vector<Value> wrt = {one.node->inputs[0], one.node->inputs[1],
                                  one.node->inputs[2]};
  const std::vector<HeadGradient> heads = {{one.node->out(0), head}};
  auto gradients = Gradients(one.graph, heads, wrt);
  REQUIRE(gradients.ok());
  const auto ruled = EvaluateValues(one.graph, *gradients, values, true);
  List lists[] = {kRates, kAlpha, kBeta};
  for (size_t input = 0; input < 3; ++input) {
    for (size_t i = 0; i < lists[input].size(); ++i) {
      const double at = lists[input][i], step = 1e-6;
      lists[input][i] = at + step;
      const double above = likelihood(lists[0], lists[1], lists[2]);
      lists[input][i] = at - step;
      const double below = likelihood(lists[0], lists[1], lists[2]);
      lists[input][i] = at;
      CHECK(ruled[input].At(static_cast<int64_t>(i)) ==
            doctest::Approx((above - below) / (2 * step)).epsilon(1e-5));
    }
  }
}

TEST_CASE("types follow from the rates and the times") {
  const Shape unknown;
  const OpRun run = InferOp(
      "_contrib_hawkesll", {},
      {{2, 3}, unknown, unknown, unknown, {2, 4}, unknown, unknown, unknown});
  CHECK(run.error == "");
  CHECK(run.In(5) == "(2, 4)");
  CHECK(run.inputs[5].dtype == DType::kI32);
  CHECK(run.Out(0) == "(2)");
  CHECK(run.Out(1) == "(2, 3)");
  CHECK(Refuses("C1", "_contrib_hawkesll", {},
                {{2, 3}, {3}, {3}, {2, 3}, {3, 4}, {3, 4}, {2}, {2}}));
}

}  // namespace
}  // namespace mxc
