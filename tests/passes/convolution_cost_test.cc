// SPDX-License-Identifier: Apache-2.0
// What the gradients of convolutions cost, whatever their geometry, and that
// they are the transposes that they should be.
#include <doctest/doctest.h>

#include "tests/passes/random_convolution.h"

namespace mxc {
namespace {

constexpr double kMostOfForward = 2.5;

double Operations(const Program& program) {
  double sum = 0;
  for (const Step& step : program.steps) {
    sum += static_cast<double>(step.flops(program));
  }
  return sum;
}

double Dot(const Tensor& a, const Tensor& b) {
  REQUIRE(a.shape() == b.shape());
  double sum = 0;
  for (int64_t i = 0; i < a.shape().elements(); ++i) sum += a.At(i) * b.At(i);
  return sum;
}

TEST_CASE("gradients of any convolution multiply 2.5 times as often at most") {
  for (uint32_t seed = 0; seed < 250; ++seed) {
    const RandomConvolution c(seed);
    CAPTURE(seed);
    CAPTURE(c.text());
    Network forward = c.Forward(), data = c.DataGradient(),
            weight = c.WeightGradient();
    // ⟨conv(x, w), y⟩ = ⟨x, data(y, w)⟩ = ⟨w, weight(x, y)⟩
    const Tensor x = forward.inputs["a"], w = forward.inputs["b"];
    Network dealt("y");
    dealt.Input("unused", {static_cast<int64_t>(seed % 7) + 1});
    dealt.Input("y", c.output);
    const Tensor y = dealt.inputs["y"];
    data.inputs = {{"a", y}, {"b", w}};
    weight.inputs = {{"a", x}, {"b", y}};
    const Program z = Compile(forward, {});
    const Program dx = Compile(data, {}), dw = Compile(weight, {});
    const double least = Operations(z);
    CHECK(Operations(dx) <= kMostOfForward * least);
    CHECK(Operations(dw) <= kMostOfForward * least);
    const double expected = Dot(Run(z, forward.inputs)[0], y);
    CHECK(Dot(Run(dx, data.inputs)[0], x) ==
          doctest::Approx(expected).epsilon(1e-4));
    CHECK(Dot(Run(dw, weight.inputs)[0], w) ==
          doctest::Approx(expected).epsilon(1e-4));
  }
}

struct Transposed {
  int64_t in, kernel, stride, dilate, pad, adj;
};

// Against the convolution of its output by the same kernel.
TEST_CASE("Deconvolution multiplies as often as what it transposes") {
  const Transposed kCases[] = {{1, 4, 1, 1, 0, 0},  {1, 7, 3, 2, 1, 2},
                               {2, 9, 1, 1, 0, 0},  {4, 4, 2, 1, 1, 0},
                               {3, 5, 1, 4, 2, 0},  {8, 3, 1, 1, 1, 0},
                               {2, 11, 2, 1, 3, 1}, {1, 1, 4, 1, 0, 3}};
  for (const Transposed& t : kCases) {
    const int64_t out = t.stride * (t.in - 1) + t.dilate * (t.kernel - 1) + 1 -
                        2 * t.pad + t.adj;
    CAPTURE(out);
    const auto square = [](int64_t n) { return fmt::format("({0}, {0})", n); };
    std::vector<AttrText> attrs = {
        {"kernel", square(t.kernel)}, {"stride", square(t.stride)},
        {"dilate", square(t.dilate)}, {"pad", square(t.pad)},
        {"num_group", "2"},           {"no_bias", "True"}};
    const Shape inner = {2, 6, t.in, t.in}, outer = {2, 4, out, out};
    const Shape weight = {6, 2, t.kernel, t.kernel};
    Network forward("forward"), back("back");
    auto of_forward = attrs, of_back = attrs;
    of_back.emplace_back("num_filter", "6");
    of_forward.emplace_back("num_filter", "4");
    of_forward.emplace_back("adj", square(t.adj));
    forward.Output(forward.Op(
        "Deconvolution", "up",
        {forward.Input("a", inner), forward.Input("b", weight)}, of_forward));
    back.Output(back.Op("Convolution", "down",
                        {back.Input("a", outer), back.Input("b", weight)},
                        of_back));
    back.inputs["b"] = forward.inputs["b"];
    const Program up = Compile(forward, {}), down = Compile(back, {});
    CHECK(Operations(up) <= kMostOfForward * Operations(down));
    const double expected = Dot(Run(up, forward.inputs)[0], back.inputs["a"]);
    CHECK(Dot(Run(down, back.inputs)[0], forward.inputs["a"]) ==
          doctest::Approx(expected).epsilon(1e-4));
  }
}

}  // namespace
}  // namespace mxc
