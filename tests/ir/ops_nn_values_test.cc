// SPDX-License-Identifier: Apache-2.0
// Values of the nn operators at their edges, by hand or by mathematics.
#include <doctest/doctest.h>

#include <cfloat>
#include <cmath>
#include <limits>

#include "tests/ir/op_run.h"

namespace mxc {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNanF32 = std::nanf("");

TEST_CASE("activations at zero, far out and without a number") {
  const auto act = [](const char* type, std::vector<float> x) {
    const auto n = static_cast<int64_t>(x.size());
    return Evaluate("Activation", {{"act_type", type}}, {Floats({n}, x)});
  };
  CHECK(Near(act("relu", {-1, 0, 2, kNanF32, -kInf}), {0, 0, 2, kNanF32, 0}));
  CHECK(Near(act("sigmoid", {0, 200, -200}), {0.5, 1, 0}));
  CHECK(Near(act("tanh", {0, 50, -50}), {0, 1, -1}));
  CHECK(Near(act("softrelu", {0, 30, 200, -200}), {std::log(2.0), 30, 200, 0}));
  CHECK(Near(act("softsign", {0, 1, -3, kInf}), {0, 0.5, -0.75, kNanF32}));
}

TEST_CASE("LeakyReLU's functions") {
  const Tensor x = Floats({1, 2, 2}, {-2, 0, 1, -1});
  const auto leaky = [&](std::vector<AttrText> attrs,
                         std::vector<Tensor> more = {}) {
    more.insert(more.begin(), x);
    return Evaluate("LeakyReLU", attrs, more);
  };
  CHECK(Near(leaky({}), {-0.5, 0, 1, -0.25}));
  CHECK(Near(leaky({{"act_type", "elu"}, {"slope", "2"}}),
             {2 * std::expm1(-2.0), 0, 1, 2 * std::expm1(-1.0)}));
  CHECK(Near(leaky({{"act_type", "rrelu"}}), {-2 * 0.2295, 0, 1, -0.2295}));
  CHECK(Near(leaky({{"act_type", "prelu"}}, {Floats({2}, {0.5, 3})}),
             {-1, 0, 1, -3}));
  CHECK(Near(leaky({{"act_type", "prelu"}}, {Floats({1}, {0.5})}),
             {-1, 0, 1, -0.5}));
  CHECK(Near(
      leaky({{"act_type", "gelu"}}),
      {-1 + std::erf(std::sqrt(2.0)), 0, 0.5 * (1 + std::erf(std::sqrt(0.5))),
       -0.5 * (1 - std::erf(std::sqrt(0.5)))}));
  const auto by_tanh = [](double v) {
    return v / 2 *
           (1 +
            std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * std::pow(v, 3))));
  };
  CHECK(Near(leaky({{"act_type", "gelu_tanh"}}),
             {by_tanh(-2), 0, by_tanh(1), by_tanh(-1)}));
  const double scale = 1.0507009873554805, alpha = 1.6732632423543772;
  CHECK(Near(leaky({{"act_type", "selu"}}),
             {scale * alpha * std::expm1(-2.0), 0, scale,
              scale * alpha * std::expm1(-1.0)}));
}

TEST_CASE("a convolution is a correlation: the kernel is not flipped") {
  CHECK(Evaluate("Convolution",
                 {{"kernel", "(2,)"}, {"num_filter", "1"}, {"pad", "(1,)"}},
                 {Floats({1, 1, 3}, {1, 2, 3}), Floats({1, 1, 2}, {10, 1}),
                  Floats({1}, {100})}) ==
        std::vector<double>{101, 112, 123, 130});
}

TEST_CASE("groups see their own channels only") {
  CHECK(
      Evaluate("Convolution",
               {{"kernel", "(1,)"},
                {"num_filter", "4"},
                {"num_group", "2"},
                {"no_bias", "1"}},
               {Floats({1, 2, 1}, {3, 5}), Floats({4, 1, 1}, {1, 2, 1, 2})}) ==
      std::vector<double>{3, 6, 5, 10});
}

TEST_CASE("channels last is the same convolution") {
  CHECK(Evaluate("Convolution",
                 {{"kernel", "(1, 2)"},
                  {"num_filter", "1"},
                  {"layout", "NHWC"},
                  {"no_bias", "1"}},
                 {Floats({1, 1, 2, 2}, {1, 2, 3, 4}),
                  Floats({1, 1, 2, 2}, {1, 10, 100, 1000})}) ==
        std::vector<double>{1 + 20 + 300 + 4000});
}

std::vector<float> Pattern(int64_t n, int step, int modulus) {
  std::vector<float> values;
  for (int64_t i = 0; i < n; ++i) {
    values.push_back(static_cast<float>(i * step % modulus - modulus / 2));
  }
  return values;
}

double Dot(const Tensor& a, const Tensor& b) {
  double sum = 0;
  for (int64_t i = 0; i < a.shape().elements(); ++i) sum += a.At(i) * b.At(i);
  return sum;
}

// ⟨convolution(x), y⟩ = ⟨x, deconvolution(y)⟩ where the windows fill x.
TEST_CASE("a deconvolution is the transpose of the convolution") {
  for (const int64_t stride : {1, 2, 3}) {
    for (const int64_t dilate : {1, 2}) {
      const int64_t n = 3 * stride + 2 * dilate + 1 - 2;
      CAPTURE(stride);
      CAPTURE(dilate);
      const std::vector<AttrText> attrs = {{"kernel", "(3,)"},
                                           {"stride", std::to_string(stride)},
                                           {"dilate", std::to_string(dilate)},
                                           {"pad", "(1,)"},
                                           {"num_filter", "2"},
                                           {"no_bias", "1"}};
      const Tensor x = Floats({1, 2, n}, Pattern(2 * n, 7, 5));
      const Tensor weight = Floats({2, 2, 3}, Pattern(12, 5, 7));
      const Tensor forward = EvaluateOp("Convolution", attrs, {x, weight})[0];
      REQUIRE(forward.shape() == Shape{1, 2, 4});
      const Tensor y = Floats({1, 2, 4}, Pattern(8, 3, 4));
      const Tensor back = EvaluateOp("Deconvolution", attrs, {y, weight})[0];
      REQUIRE(back.shape() == x.shape());
      CHECK(Dot(forward, y) == doctest::Approx(Dot(x, back)));
    }
  }
}

TEST_CASE("FullyConnected over rows and over flattened images") {
  const Tensor weight = Floats({2, 2}, {1, 10, 100, 1000});
  const Tensor bias = Floats({2}, {0.5, -0.5});
  CHECK(Evaluate("FullyConnected", {{"num_hidden", "2"}, {"flatten", "0"}},
                 {Floats({1, 2, 2}, {1, 2, 3, 4}), weight, bias}) ==
        std::vector<double>{21.5, 2099.5, 43.5, 4299.5});
  CHECK(Evaluate("FullyConnected", {{"num_hidden", "2"}},
                 {Floats({2, 1, 2}, {1, 2, 3, 4}), weight,
                  Floats({2, 1}, {0.5, -0.5})}) ==
        std::vector<double>{21.5, 2099.5, 43.5, 4299.5});
}

TEST_CASE("averages count the padding, or only the image") {
  const Tensor x = Floats({1, 1, 2}, {2, 4});
  const auto pool = [&](std::vector<AttrText> attrs) {
    attrs.insert(attrs.end(), {{"kernel", "(2,)"}, {"pad", "(1,)"}});
    return Evaluate("Pooling", attrs, {x});
  };
  CHECK(pool({{"pool_type", "avg"}}) == std::vector<double>{1, 3, 2});
  CHECK(pool({{"pool_type", "avg"}, {"count_include_pad", "0"}}) ==
        std::vector<double>{2, 3, 4});
  CHECK(pool({{"pool_type", "sum"}}) == std::vector<double>{2, 6, 4});
  CHECK(Near(pool({{"pool_type", "lp"}, {"p_value", "2"}}),
             {2, std::sqrt(20.0), 4}));
}

TEST_CASE("maxima never see the padding; old pooling does") {
  const Tensor x = Floats({1, 1, 1, 2}, {-2, -4});
  const std::vector<AttrText> attrs = {{"kernel", "(1, 2)"}, {"pad", "(0, 1)"}};
  CHECK(Evaluate("Pooling", attrs, {x}) == std::vector<double>{-2, -2, -4});
  CHECK(Evaluate("Pooling_v1", attrs, {x}) == std::vector<double>{0, -2, 0});
}

TEST_CASE("a window outside the image is the lowest float, or 0") {
  const Tensor x = Floats({1, 1, 2}, {-2, -4});
  const std::vector<AttrText> attrs = {
      {"kernel", "(1,)"}, {"stride", "(2,)"}, {"pooling_convention", "full"}};
  CHECK(Evaluate("Pooling", attrs, {x}) == std::vector<double>{-2, -FLT_MAX});
  std::vector<AttrText> average = attrs;
  average.emplace_back("pool_type", "avg");
  CHECK(Evaluate("Pooling", average, {x}) == std::vector<double>{-2, 0});
}

TEST_CASE("softmax bears large values, a length and a temperature") {
  const Tensor x = Floats({1, 3}, {1000, 1000, -1000});
  CHECK(Near(Evaluate("softmax", {}, {x}), {0.5, 0.5, 0}));
  CHECK(Near(Evaluate("log_softmax", {}, {x}),
             {-std::log(2.0), -std::log(2.0), -2000 - std::log(2.0)}, 1e-4));
  CHECK(Near(Evaluate("softmin", {}, {x}), {0, 0, 1}));
  CHECK(Near(Evaluate("softmax", {{"use_length", "1"}}, {x, Floats({1}, {1})}),
             {1, 0, 0}));
  CHECK(Near(Evaluate("softmax", {{"temperature", "2"}}, {Floats({2}, {0, 2})}),
             {1 / (1 + std::exp(1.0)), std::exp(1.0) / (1 + std::exp(1.0))}));
}

TEST_CASE("fix_gamma counts gamma as 1") {
  const std::vector<Tensor> inputs = {
      Floats({1, 2, 1}, {3, 5}), Floats({2}, {10, 10}), Floats({2}, {1, 2}),
      Floats({2}, {1, 1}), Floats({2}, {4, 16})};
  CHECK(Near(Evaluate("BatchNorm", {{"eps", "0"}}, inputs), {2, 3}));
  CHECK(Near(Evaluate("BatchNorm", {{"eps", "0"}, {"fix_gamma", "0"}}, inputs),
             {11, 12}));
}

TEST_CASE("training normalises by the batch, unless told otherwise") {
  const std::vector<Tensor> inputs = {Floats({2, 1}, {1, 3}), Floats({1}, {1}),
                                      Floats({1}, {0}), Floats({1}, {1}),
                                      Floats({1}, {4})};
  CHECK(Near(Evaluate("BatchNorm", {{"eps", "0"}}, inputs, true), {-1, 1}));
  CHECK(Near(Evaluate("BatchNorm", {{"eps", "0"}, {"use_global_stats", "1"}},
                      inputs, true),
             {0, 1}));
  const auto statistics = EvaluateOp("BatchNorm", {{"eps", "3"}}, inputs, true);
  CHECK(statistics[1].At(0) == 2);
  CHECK(statistics[2].At(0) == doctest::Approx(0.5));
}

TEST_CASE(
    "one group of GroupNorm is the whole image, all groups InstanceNorm") {
  const Tensor x = Floats({1, 2, 2}, {1, 3, 10, 30});
  const Tensor one = Floats({2}, {1, 1}), zero = Floats({2}, {0, 0});
  CHECK(Near(Evaluate("GroupNorm", {{"num_groups", "2"}, {"eps", "0"}},
                      {x, one, zero}),
             Evaluate("InstanceNorm", {{"eps", "0"}}, {x, one, zero})));
  CHECK(Near(Evaluate("InstanceNorm", {{"eps", "0"}}, {x, one, zero}),
             {-1, 1, -1, 1}));
}

TEST_CASE("LRN's window ends with the channels") {
  const std::vector<AttrText> attrs = {
      {"nsize", "3"}, {"alpha", "3"}, {"beta", "1"}, {"knorm", "0"}};
  CHECK(Near(Evaluate("LRN", attrs, {Floats({1, 3, 1, 1}, {1, 2, 3})}),
             {1 / 5.0, 2 / 14.0, 3 / 13.0}));
}

TEST_CASE("rows of a table are clipped to it") {
  CHECK(Evaluate("Embedding", {{"input_dim", "2"}, {"output_dim", "1"}},
                 {Floats({4}, {-3, 0.9f, 1, 7}), Floats({2, 1}, {5, 6})}) ==
        std::vector<double>{5, 5, 6, 6});
}

TEST_CASE("nearest cells are repeated; inputs are joined") {
  const std::vector<AttrText> attrs = {
      {"scale", "2"}, {"sample_type", "nearest"}, {"num_args", "2"}};
  const std::vector<Tensor> inputs = {Floats({1, 1, 1, 1}, {7}),
                                      Floats({1, 1, 2, 2}, {1, 2, 3, 4})};
  CHECK(Evaluate("UpSampling", attrs, inputs) ==
        std::vector<double>{7, 7, 7, 7, 1, 2, 3, 4});
  std::vector<AttrText> sum = attrs;
  sum.emplace_back("multi_input_mode", "sum");
  CHECK(Evaluate("UpSampling", sum, inputs) ==
        std::vector<double>{8, 9, 10, 11});
}

TEST_CASE("a crop is in the middle, or where it is told") {
  const Tensor x = Floats({1, 1, 1, 4}, {1, 2, 3, 4});
  CHECK(Evaluate("Crop",
                 {{"num_args", "1"}, {"h_w", "(1,2)"}, {"center_crop", "1"}},
                 {x}) == std::vector<double>{2, 3});
  CHECK(Evaluate("Crop", {{"num_args", "2"}, {"offset", "(0,2)"}},
                 {x, Floats({1, 1, 1, 2}, {0, 0})}) ==
        std::vector<double>{3, 4});
}

TEST_CASE("sequences end where their length says") {
  const Tensor x = Floats({3, 2}, {1, 10, 2, 20, 3, 30});
  const Tensor length = Floats({2}, {0, 2});
  const std::vector<AttrText> attrs = {{"use_sequence_length", "1"}};
  CHECK(Evaluate("SequenceMask", attrs, {x, length}) ==
        std::vector<double>{0, 10, 0, 20, 0, 0});
  CHECK(Evaluate("SequenceLast", attrs, {x, length}) ==
        std::vector<double>{1, 20});
  CHECK(Evaluate("SequenceReverse", attrs, {x, length}) ==
        std::vector<double>{1, 20, 2, 10, 3, 30});
  CHECK(Evaluate("SequenceLast", {}, {x}) == std::vector<double>{3, 30});
}

TEST_CASE("resized corners stay, or cells keep their proportion") {
  const Tensor x = Floats({1, 1, 1, 3}, {0, 4, 8});
  CHECK(Near(Evaluate("_contrib_BilinearResize2D",
                      {{"height", "1"}, {"width", "5"}}, {x}),
             {0, 2, 4, 6, 8}));
  CHECK(Near(
      Evaluate("_contrib_BilinearResize2D",
               {{"height", "1"}, {"width", "6"}, {"align_corners", "0"}}, {x}),
      {0, 1, 3, 5, 7, 8}));
}

TEST_CASE("adaptive windows overlap where the size does not divide") {
  CHECK(Near(
      Evaluate("_contrib_AdaptiveAvgPooling2D", {{"output_size", "(1, 2)"}},
               {Floats({1, 1, 1, 3}, {1, 3, 8})}),
      {2, 5.5}));
}

TEST_CASE("an identity grid gives the image back, and fades out beyond it") {
  const Tensor x = Floats({1, 1, 2, 2}, {1, 2, 3, 4});
  const Tensor grid =
      EvaluateOp("GridGenerator",
                 {{"transform_type", "affine"}, {"target_shape", "(2, 2)"}},
                 {Floats({1, 6}, {1, 0, 0, 0, 1, 0})})[0];
  CHECK(Near(Evaluate("BilinearSampler", {}, {x, grid}), {1, 2, 3, 4}));
  const Tensor outside = Floats({1, 2, 1, 2}, {2, 9, -1, -1});
  CHECK(Near(Evaluate("BilinearSampler", {}, {x, outside}), {1, 0}));
}

TEST_CASE("a region's parts: maxima, and 0 where there are no cells") {
  const Tensor x = Floats({1, 1, 2, 2}, {1, 2, 3, 4});
  CHECK(Evaluate("ROIPooling",
                 {{"pooled_size", "(1, 2)"}, {"spatial_scale", "1"}},
                 {x, Floats({2, 5}, {0, 0, 0, 1, 1, 0, 5, 5, 9, 9})}) ==
        std::vector<double>{3, 4, 0, 0});
}

TEST_CASE("anchors of a wide map") {
  CHECK(Near(Evaluate("_contrib_MultiBoxPrior", {{"sizes", "(0.5,)"}},
                      {Floats({1, 1, 1, 2}, {0, 0})}),
             {0.125, 0.25, 0.375, 0.75, 0.625, 0.25, 0.875, 0.75}));
}

TEST_CASE("a patch correlates with its neighbours") {
  CHECK(Near(
      Evaluate("Correlation", {{"max_displacement", "1"}, {"pad_size", "1"}},
               {Floats({1, 1, 1, 1}, {2}), Floats({1, 1, 1, 1}, {3})}),
      {0, 0, 0, 0, 6, 0, 0, 0, 0}));
}

TEST_CASE("attention of one head is a scaled product") {
  const Tensor qkv = Floats({2, 1, 3}, {1, 2, 10, 3, 4, 20});
  CHECK(Evaluate("_contrib_interleaved_matmul_selfatt_qk", {{"heads", "1"}},
                 {qkv}) == std::vector<double>{2, 4, 6, 12});
  CHECK(Evaluate("_contrib_interleaved_matmul_selfatt_valatt", {{"heads", "1"}},
                 {qkv, Floats({1, 2, 2}, {1, 0, 0.5, 0.5})}) ==
        std::vector<double>{10, 15});
}

TEST_CASE("without offsets a deformable convolution is a convolution") {
  const Tensor x = Floats({1, 1, 1, 3}, {1, 2, 3});
  const Tensor weight = Floats({1, 1, 1, 2}, {10, 1});
  const std::vector<AttrText> attrs = {
      {"kernel", "(1, 2)"}, {"num_filter", "1"}, {"no_bias", "1"}};
  const std::vector<double> expected = {12, 23};
  CHECK(Evaluate("Convolution", attrs, {x, weight}) == expected);
  CHECK(Evaluate("_contrib_DeformableConvolution", attrs,
                 {x, Floats({1, 4, 1, 2}, std::vector<float>(8)), weight}) ==
        expected);
}

TEST_CASE("the cross entropy of a batch is one number") {
  CHECK(Near(Evaluate("softmax_cross_entropy", {},
                      {Floats({2, 2}, {0, 0, 5, 5}), Floats({2}, {0, 1})}),
             {2 * std::log(2.0)}));
}

std::vector<double> Values(const Tensor& tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.shape().elements(); ++i) {
    values.push_back(tensor.At(i));
  }
  return values;
}

TEST_CASE("a deconvolution's contraction computes what it means") {
  const std::vector<std::vector<AttrText>> variants = {
      {{"stride", "(2, 2)"}, {"pad", "(1, 2)"}, {"adj", "(1, 0)"}},
      {{"stride", "(1, 1)"}, {"dilate", "(2, 1)"}},
      {{"stride", "(2, 1)"}, {"num_group", "2"}},
      {{"stride", "(2, 2)"}, {"target_shape", "(6, 7)"}},
  };
  for (std::vector<AttrText> attrs : variants) {
    const int64_t groups = attrs.back().first == "num_group" ? 2 : 1;
    attrs.insert(attrs.end(), {{"kernel", "(3, 4)"}, {"num_filter", "8"}});
    const int64_t filters = 8 / groups;
    const std::vector<Tensor> inputs = {
        Floats({2, 8, 3, 4}, Pattern(2 * 8 * 12, 7, 11)),
        Floats({8, filters, 3, 4}, Pattern(8 * filters * 12, 5, 13))};
    const Tensor sums = EvaluateContraction("Deconvolution", attrs, inputs);
    const Tensor meant = EvaluateUndivided("Deconvolution", attrs, inputs)[0];
    CHECK(sums.type() == meant.type());
    CHECK(Near(Values(sums), Values(meant)));
  }
}

TEST_CASE("FullyConnected over images is a product of their rows") {
  const std::vector<Tensor> inputs = {Floats({2, 3, 2}, Pattern(12, 5, 7)),
                                      Floats({4, 2}, Pattern(8, 3, 5)),
                                      Floats({4}, Pattern(4, 1, 4))};
  const std::vector<AttrText> attrs = {{"num_hidden", "4"}, {"flatten", "0"}};
  CHECK(Near(Values(EvaluateUndivided("FullyConnected", attrs, inputs)[0]),
             Evaluate("FullyConnected", attrs, inputs)));
}

TEST_CASE("one step of a gated unit, by hand") {
  // One unit; weights r, z, n for data and for the state, then the biases.
  const Tensor parameters = Floats({12}, {0, 0, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0});
  const auto outputs = EvaluateOp(
      "RNN",
      {{"state_size", "1"},
       {"num_layers", "1"},
       {"mode", "gru"},
       {"state_outputs", "1"}},
      {Floats({1, 1, 1}, {3}), parameters, Floats({1, 1, 1}, {0.5})});
  // Both gates are σ(0) = ½: n = tanh(3 + ½·2·½), h = ½·n + ½·½.
  const double expected = 0.5 * std::tanh(3.5) + 0.25;
  REQUIRE(outputs.size() == 2);
  CHECK(outputs[0].At(0) == doctest::Approx(expected));
  CHECK(outputs[1].At(0) == doctest::Approx(expected));
}

}  // namespace
}  // namespace mxc
