// SPDX-License-Identifier: Apache-2.0
// Densities add up to 1, also those whose parameters differ from sample to
// sample.
#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "tests/ir/op_run.h"

namespace mxc {
namespace {

// Samples from `first` on, `step` apart.
Tensor SamplesFrom(double first, double step, int count) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(first + step * i));
  }
  return Floats({1, count}, values);
}

double Sum(const std::string& distribution, const Tensor& samples,
           const std::vector<float>& parameters) {
  std::vector<Tensor> inputs = {samples};
  for (const float parameter : parameters) {
    inputs.push_back(Floats({1}, {parameter}));
  }
  const auto found = Evaluate("_random_pdf_" + distribution, {}, inputs);
  return std::accumulate(found.begin(), found.end(), 0.0);
}

TEST_CASE("densities add up to 1") {
  const Tensor counts = SamplesFrom(0, 1, 400);
  CHECK(Sum("poisson", counts, {3.5}) == doctest::Approx(1).epsilon(1e-4));
  CHECK(Sum("negative_binomial", counts, {2.5, 0.3}) ==
        doctest::Approx(1).epsilon(1e-4));
  CHECK(Sum("generalized_negative_binomial", counts, {4, 0.5}) ==
        doctest::Approx(1).epsilon(1e-4));
  const double step = 0.01;
  const Tensor line = SamplesFrom(-10 + step / 2, step, 2000);
  CHECK(step * Sum("normal", line, {1, 1.5}) ==
        doctest::Approx(1).epsilon(1e-4));
  const Tensor positive = SamplesFrom(step / 2, step, 4000);
  CHECK(step * Sum("gamma", positive, {2.5, 1.5}) ==
        doctest::Approx(1).epsilon(1e-4));
  CHECK(step * Sum("exponential", positive, {0.75}) ==
        doctest::Approx(1).epsilon(1e-4));
}

TEST_CASE("each sample has its own parameters") {
  const auto found = Evaluate(
      "_random_pdf_uniform", {{"is_log", "True"}},
      {Floats({2, 2}, {0, 1, 2, 3}), Floats({2}, {0, 1}), Floats({2}, {4, 3})});
  const double wide = -std::log(4), narrow = -std::log(2);
  CHECK(Near(found, {wide, wide, narrow, narrow}));
  // Of three classes all alike: Γ(3) = 2 everywhere.
  CHECK(Near(Evaluate("_random_pdf_dirichlet", {},
                      {Floats({1, 2, 3}, {.2, .3, .5, .1, .1, .8}),
                       Floats({1, 3}, {1, 1, 1})}),
             {2, 2}, 1e-5));
  CHECK(Refuses("C1", "_random_pdf_normal", {}, {{2, 3}, {3}, {3}}));
  CHECK(Refuses("C1", "_random_pdf_normal", {}, {{2, 3}, {2}, {1}}));
  CHECK(Refuses("C1", "_random_pdf_dirichlet", {}, {{2, 3}, {2}}));
}

}  // namespace
}  // namespace mxc
