// SPDX-License-Identifier: Apache-2.0
// Distributions: moments against mathematics; shapes; one draw for each run.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include "ir/graph/gradient.h"
#include "ir/ops/op.h"
#include "tests/ir/gradient_run.h"
#include "tests/ir/op_run.h"

namespace mxc {
namespace {

struct Statistics {
  double mean = 0, variance = 0;
};

// With the given parameters, of which there may be one.
std::vector<double> Draws(const std::string& distribution, double first,
                          double second, int count) {
  std::vector<Tensor> parameters = {Floats({1}, {static_cast<float>(first)})};
  const bool one = distribution == "exponential" || distribution == "poisson";
  if (!one) parameters.push_back(Floats({1}, {static_cast<float>(second)}));
  return Evaluate("_sample_" + distribution,
                  {{"shape", "(" + std::to_string(count) + ",)"}}, parameters);
}

Statistics DrawSamples(const std::string& distribution, double first,
                       double second, int count = 4000) {
  const auto x = Draws(distribution, first, second, count);
  Statistics s;
  for (const double v : x) s.mean += v / count;
  for (const double v : x) {
    s.variance += (v - s.mean) * (v - s.mean) / count;
  }
  return s;
}

void CheckNear(const Statistics& s, double mean, double variance) {
  CHECK(s.mean == doctest::Approx(mean).epsilon(0.06));
  CHECK(s.variance == doctest::Approx(variance).epsilon(0.15));
}

// Of a distribution of mx.np; parameters are numbers.
Statistics NpSamples(const std::string& op, std::vector<AttrText> parameters) {
  constexpr int kCount = 20000;
  parameters.emplace_back("size", "(100, 200)");
  const auto x = Evaluate("_npi_" + op, parameters, {});
  CHECK(x.size() == kCount);
  Statistics s;
  for (const double v : x) s.mean += v / kCount;
  for (const double v : x) s.variance += (v - s.mean) * (v - s.mean) / kCount;
  return s;
}

}  // namespace

TEST_CASE("distributions of mx.np have their mean and variance") {
  const double pi2 = std::numbers::pi * std::numbers::pi;
  const std::vector<AttrText> at = {{"loc", "3"}, {"scale", "2"}};
  CheckNear(NpSamples("normal", at), 3, 4);
  CheckNear(NpSamples("gumbel", at), 3 + 2 * std::numbers::egamma, pi2 / 6 * 4);
  CheckNear(NpSamples("logistic", at), 3, pi2 / 3 * 4);
  CheckNear(NpSamples("uniform", {{"low", "2"}, {"high", "6"}}), 4, 16 / 12.0);
  CheckNear(NpSamples("exponential", {{"scale", "0.5"}}), 0.5, 0.25);
  CheckNear(NpSamples("gamma", {{"shape", "3"}, {"scale", "2"}}), 6, 12);
  CheckNear(NpSamples("pareto", {{"a", "5"}}), 0.25, 5 / (16 * 3.0));
  CheckNear(NpSamples("rayleigh", {{"scale", "2"}}),
            2 * std::sqrt(std::numbers::pi / 2), (4 - std::numbers::pi) * 2);
  CheckNear(NpSamples("weibull", {{"a", "2"}}), std::sqrt(std::numbers::pi) / 2,
            1 - std::numbers::pi / 4);
  CheckNear(NpSamples("powerd", {{"a", "3"}}), 0.75, 3 / (16 * 5.0));
  CheckNear(NpSamples("bernoulli", {{"is_logit", "False"}, {"prob", "0.3"}}),
            0.3, 0.21);
  CheckNear(NpSamples("bernoulli", {{"is_logit", "True"}, {"logit", "0"}}), 0.5,
            0.25);
}

TEST_CASE("parameters of mx.np are numbers or inputs, and shape the output") {
  const std::vector<AttrText> inputs = {{"loc", "None"}, {"scale", "None"}};
  CHECK(InferOp("_npi_normal", inputs, {{3, 1}, {4}}).Out() == "(3, 4)");
  CHECK(InferOp("_npi_normal", {{"scale", "1"}}, {{3, 1}}).Out() == "(3, 1)");
  CHECK(InferOp("_npi_normal", {{"loc", "0"}, {"scale", "1"}}, {}).Out() ==
        "()");
  CHECK(InferOp("_npi_normal_n",
                {{"loc", "None"}, {"scale", "1"}, {"size", "(5,)"}}, {{3, 1}})
            .Out() == "(5, 3, 1)");
  CHECK(Refuses("C1", "_npi_normal", inputs, {{3}, {4}}));
  CHECK(Refuses("C1", "_npi_normal", {{"scale", "1"}, {"size", "(2, 4)"}},
                {{3}}));
  // Far apart, so that each row shows its own.
  const auto rows = Evaluate(
      "_npi_uniform", {{"low", "None"}, {"high", "None"}, {"size", "(2, 50)"}},
      {Floats({2, 1}, {0, 100}), Floats({2, 1}, {1, 101})});
  CHECK(std::all_of(rows.begin(), rows.begin() + 50,
                    [](double x) { return 0 <= x && x < 1; }));
  CHECK(std::all_of(rows.begin() + 50, rows.end(),
                    [](double x) { return 100 <= x && x < 101; }));
}

TEST_CASE("distributions have their mean and variance") {
  CheckNear(DrawSamples("uniform", 2, 6), 4, 16 / 12.0);
  CheckNear(DrawSamples("normal", 3, 2), 3, 4);
  CheckNear(DrawSamples("exponential", 4, 4), 0.25, 1 / 16.0);
  CheckNear(DrawSamples("gamma", 3, 2), 6, 12);
  CheckNear(DrawSamples("gamma", 0.5, 1), 0.5, 0.5);
  CheckNear(DrawSamples("poisson", 30, 30), 30, 30);
  CheckNear(DrawSamples("poisson", 2.5, 0), 2.5, 2.5);
  CheckNear(DrawSamples("poisson", 1e6, 0), 1e6, 1e6);
  CheckNear(DrawSamples("negative_binomial", 40, 0.5, 1500), 40, 80);
  CheckNear(DrawSamples("generalized_negative_binomial", 30, 0.1, 1500), 30,
            120);
}

// On both sides of the mean where the way to draw changes, and by each number
// of events: frequencies within four standard deviations.
TEST_CASE("a Poisson distribution is one") {
  constexpr int kDraws = 4000;
  CHECK(DrawSamples("poisson", 0, 0, 50).mean == 0);
  for (const double mean : {0.3, 4.0, 9.9, 10.0}) {
    CAPTURE(mean);
    const auto x = Draws("poisson", mean, 0, kDraws);
    double probability = std::exp(-mean);
    for (int n = 0; n < 25; ++n) {
      CAPTURE(n);
      const auto seen = static_cast<double>(std::ranges::count(x, n));
      const double expected = kDraws * probability;
      CHECK(std::abs(seen - expected) <=
            4 * std::sqrt(expected * (1 - probability)) + 1);
      probability *= mean / (n + 1);
    }
  }
}

TEST_CASE("parameters of a tensor come before the draws of each") {
  const OpRun run =
      InferOp("_sample_gamma", {{"shape", "(5,)"}}, {Shape{2, 3}, Shape{2, 3}});
  CHECK(run.error == "");
  CHECK(run.Out() == "(2, 3, 5)");
  CHECK(InferOp("_random_uniform", {{"shape", "(4, 2)"}}, {}).Out() ==
        "(4, 2)");
  CHECK(InferOp("_random_normal_like", {}, {Shape{7}}).Out() == "(7)");
}

// Philox counts them in 32 bits.
TEST_CASE("fewer than 2^32 numbers are drawn at once, whoever draws them") {
  struct Draw {
    std::string op;
    std::vector<AttrText> attrs;
    int inputs = 0;
    bool training = false;
  };
  const Shape many{1 << 16, 1 << 16}, most{(1 << 16) - 1, 1 << 16};
  const auto refused = [](const Draw& draw, const Shape& shape) {
    auto attrs = draw.attrs;
    if (draw.inputs == 0) attrs.emplace_back("shape", ToString(shape));
    const std::vector<Shape> inputs(draw.inputs, shape);
    return InferOp(draw.op, attrs, inputs, draw.training)
        .error.ends_with(
            "shape (65536, 65536) has 2^32 elements or more to be drawn");
  };
  for (const Draw& draw :
       std::vector<Draw>{{"_random_uniform", {}},
                         {"_random_randint", {{"low", "0"}, {"high", "9"}}},
                         {"_random_normal_like", {}, 1},
                         {"_sample_gamma", {}, 2},
                         {"_shuffle", {}, 1},
                         {"Dropout", {}, 1, true},
                         {"LeakyReLU", {{"act_type", "rrelu"}}, 1, true}}) {
    CAPTURE(draw.op);
    CHECK(refused(draw, many));
    CHECK_FALSE(refused(draw, most));
  }
  CHECK_FALSE(refused({"Dropout", {}, 1, false}, many));
}

TEST_CASE("integers fill their range, a shuffle permutes") {
  const auto x =
      Evaluate("_random_randint",
               {{"low", "-3"}, {"high", "4"}, {"shape", "(900,)"}}, {});
  std::vector<int> seen(7);
  for (const double v : x) ++seen.at(static_cast<size_t>(v + 3));
  for (const int n : seen) CHECK(n > 80);

  std::vector<float> values(50);
  for (int i = 0; i < 50; ++i) values[i] = static_cast<float>(i);
  auto y = Evaluate("_shuffle", {}, {Floats({50}, values)});
  CHECK(!std::ranges::is_sorted(y));
  std::ranges::sort(y);
  for (int i = 0; i < 50; ++i) CHECK(y[i] == i);
}

TEST_CASE("classes are drawn with their probabilities") {
  const auto outputs = EvaluateOp(
      "_sample_multinomial", {{"shape", "(3000,)"}, {"get_prob", "True"}},
      {Floats({2, 3}, {0.5f, 0.25f, 0.25f, 0, 0.1f, 0.9f})});
  int counts[2][3] = {};
  for (int i = 0; i < 6000; ++i) {
    const int c = static_cast<int>(outputs[0].At(i));
    ++counts[i / 3000][c];
    const double p[2][3] = {{0.5, 0.25, 0.25}, {0, 0.1, 0.9}};
    CHECK(outputs[1].At(i) ==
          doctest::Approx(std::log(p[i / 3000][c])).epsilon(1e-5));
  }
  CHECK(counts[0][0] == doctest::Approx(1500).epsilon(0.08));
  CHECK(counts[1][0] == 0);
  CHECK(counts[1][2] == doctest::Approx(2700).epsilon(0.05));
}

TEST_CASE("a class has a number that the output's type has") {
  const auto draw = [](const char* dtype, int64_t classes) {
    const std::string error =
        InferOp("_sample_multinomial", {{"dtype", dtype}}, {{classes}}).error;
    return error.find("more than " + std::string(dtype) + " holds exactly") !=
           error.npos;
  };
  CHECK(!draw("uint8", 256));
  CHECK(draw("uint8", 257));
  CHECK(!draw("float16", 2048));
  CHECK(draw("float16", 2050));
  CHECK(draw("float32", 1 << 25));
  CHECK(!draw("int32", 1 << 25));
}

// d log p[c] / d p[c] = 1 / p[c], once for each time that c was drawn.
TEST_CASE("the probabilities of what was drawn get a gradient") {
  OneNode one = BuildOneNode("_sample_multinomial",
                             {{"shape", "(40,)"}, {"get_prob", "True"}},
                             {{DType::kF32, {1, 3}}}, true);
  const Value data = one.node->inputs[0];
  Node* head = one.graph.AddVariable("head");
  head->types[0] = {DType::kF32, {1, 40}};
  const std::vector<HeadGradient> heads = {{one.node->out(1), head->out()}};
  const std::vector<Value> wrt = {data};
  const auto gradients = Gradients(one.graph, heads, wrt);
  REQUIRE(gradients.ok());
  const std::map<std::string, Tensor> values = {
      {data.node->name, Floats({1, 3}, {0.5f, 0.25f, 0.25f})},
      {"head", Floats({1, 40}, std::vector<float>(40, 2))}};
  const std::vector<Value> asked = {one.node->out(0), (*gradients)[0]};
  const auto found = EvaluateValues(one.graph, asked, values, true);
  double expected[3] = {};
  for (int i = 0; i < 40; ++i) {
    const int c = static_cast<int>(found[0].At(i));
    expected[c] += 2 / (c == 0 ? 0.5 : 0.25);
  }
  for (int c = 0; c < 3; ++c) {
    CHECK(found[1].At(c) == doctest::Approx(expected[c]).epsilon(1e-5));
  }
}

TEST_CASE("gradients reach the parameters of mx.np's distributions") {
  const std::vector<Tensor> parameters = {Floats({1}, {2}), Floats({1}, {3})};
  for (const char* op : {"_npi_normal", "_npi_gumbel", "_npi_logistic"}) {
    CAPTURE(op);
    const std::vector<AttrText> attrs = {
        {"loc", "None"}, {"scale", "None"}, {"size", "(50,)"}};
    // x = loc + scale · z for a z that depends on neither.
    double expected = 0;
    for (const double x : Evaluate(op, attrs, parameters)) {
      expected += (x - 2) / 3;
    }
    const std::vector<double> head(50, 1);
    CHECK(Near(GradientOf(0, op, attrs, parameters, head), {50}, 1e-4));
    CHECK(Near(GradientOf(1, op, attrs, parameters, head), {expected}, 1e-3));
  }
}

TEST_CASE("different classes are drawn, small ones first") {
  const auto drawn =
      EvaluateOp("_sample_unique_zipfian",
                 {{"range_max", "6"}, {"shape", "(300, 6)"}}, {});
  double first = 0, tries = 0;
  for (int64_t row = 0; row < 300; ++row) {
    std::set<double> classes;
    for (int64_t i = 0; i < 6; ++i) classes.insert(drawn[0].At(row * 6 + i));
    CHECK(classes == std::set<double>{0, 1, 2, 3, 4, 5});
    CHECK(drawn[1].At(row) >= 6);
    if (drawn[0].At(row * 6) == 0) first += 1;
    tries += drawn[1].At(row);
  }
  // e^(u·log 6) is below 1.5 with probability log 1.5 / log 6.
  CHECK(std::abs(first / 300 - std::log(1.5) / std::log(6)) < 0.1);
  // Whoever waits for the rarest class, of probability log(6 / 5.5) / log 6,
  // waits for 20.6 draws on the average, and a little longer for all.
  CHECK(tries / 300 > 19);
  CHECK(tries / 300 < 30);
  const auto one = EvaluateOp("_sample_unique_zipfian",
                              {{"range_max", "9"}, {"shape", "(2, 1)"}}, {});
  CHECK(one[1].At(1) == 1);
  CHECK(Refuses("C1", "_sample_unique_zipfian",
                {{"range_max", "5"}, {"shape", "(1, 6)"}}, {}));
  CHECK(Refuses("C1", "_sample_unique_zipfian",
                {{"range_max", "5"}, {"shape", "(5,)"}}, {}));
  CHECK(Refuses("C2", "_sample_unique_zipfian",
                {{"range_max", "2147483648"}, {"shape", "(2, 1)"}}, {}));
}

}  // namespace mxc
