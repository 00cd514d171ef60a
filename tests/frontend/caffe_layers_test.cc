// SPDX-License-Identifier: Apache-2.0
// Every type of a Caffe layer: values that mathematics gives, by hand or by
// NumPy.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/frontend/caffe_run.h"
#include "tests/ir/op_run.h"

namespace mxc {
namespace {

using Numbers = std::vector<double>;

// 1, 2, 3 … of a shape.
Tensor Counting(const Shape& shape, float first = 1) {
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = first + static_cast<float>(i);
  }
  return Floats(shape, values);
}

void Gives(const CaffeRun& run, const std::string& shape,
           const Numbers& expected, double tolerance = 1e-6) {
  REQUIRE_MESSAGE(run.error.empty(), run.error);
  CHECK(run.ShapeOf() == shape);
  CHECK_MESSAGE(Near(run.Values(), expected, tolerance),
                fmt::format("{}", run.Values()[0]));
}

const Tensor kSigned = Floats({1, 4}, {-2, -0.5, 0, 3});

Numbers Each(double (*f)(double)) {
  Numbers values;
  for (const double x : {-2.0, -0.5, 0.0, 3.0}) values.push_back(f(x));
  return values;
}

TEST_CASE("caffe: functions of each element") {
  const auto each = [](const char* type, const char* more,
                       double (*f)(double)) {
    CAPTURE(type);
    Gives(RunLayer(type, more, kSigned), "(1, 4)", Each(f), 1e-5);
  };
  each("ReLU", "", [](double x) { return std::max(x, 0.0); });
  each("ReLU", "relu_param { negative_slope: 0.5 }",
       [](double x) { return x > 0 ? x : 0.5 * x; });
  each("ReLU6", "", [](double x) { return std::clamp(x, 0.0, 6.0); });
  each("Sigmoid", "", [](double x) { return 1 / (1 + std::exp(-x)); });
  each("TanH", "", [](double x) { return std::tanh(x); });
  each("BNLL", "", [](double x) { return std::log1p(std::exp(x)); });
  each("ELU", "elu_param { alpha: 2 }",
       [](double x) { return x > 0 ? x : 2 * std::expm1(x); });
  each("AbsVal", "", [](double x) { return std::abs(x); });
  each("Power", "power_param { power: 3 scale: 2 shift: 1 }",
       [](double x) { return std::pow(2 * x + 1, 3); });
  each("Power", "power_param { power: 0 }", [](double) { return 1.0; });
  each("Exp", "", [](double x) { return std::exp(x); });
  each("Exp", "exp_param { base: 2 scale: 3 shift: 1 }",
       [](double x) { return std::pow(2, 3 * x + 1); });
  each("Log", "log_param { base: 10 scale: 0.5 shift: 4 }",
       [](double x) { return std::log10(0.5 * x + 4); });
  each("Threshold", "threshold_param { threshold: -1 }",
       [](double x) { return x > -1 ? 1.0 : 0.0; });
  each("Dropout", "dropout_param { dropout_ratio: 0.9 }",
       [](double x) { return x; });
  each("Clip", "clip_param { min: -1 max: 2 }",
       [](double x) { return std::clamp(x, -1.0, 2.0); });
  each("Swish", "swish_param { beta: 2 }",
       [](double x) { return x / (1 + std::exp(-2 * x)); });
}

TEST_CASE("caffe: PReLU has a slope for each channel, or one for all") {
  const Tensor x = Floats({1, 2, 1, 2}, {-1, 2, -3, 4});
  Gives(RunLayer("PReLU", "", x, {{"y_gamma", Floats({2}, {0.5, 0.1})}}),
        "(1, 2, 1, 2)", {-0.5, 2, -0.3, 4});
  Gives(RunLayer("PReLU", "prelu_param { channel_shared: true }", x,
                 {{"y_gamma", Floats({1}, {0.5})}}),
        "(1, 2, 1, 2)", {-0.5, 2, -1.5, 4});
}

TEST_CASE("caffe: filters slide over every axis as settings say") {
  const Tensor x = Counting({1, 1, 3, 3});
  Gives(RunLayer("Convolution",
                 "convolution_param { num_output: 1 kernel_size: 2 }", x,
                 {{"y_weight", Counting({1, 1, 2, 2})},
                  {"y_bias", Floats({1}, {0.5})}}),
        "(1, 1, 2, 2)", {37.5, 47.5, 67.5, 77.5});
  // Of 3 × 3 with rows of padding: 0 1 2 3, 4 5 6, 7 8 9, by a row of two.
  Gives(RunLayer("Convolution",
                 "convolution_param { num_output: 1 kernel_h: 1 kernel_w: 2 "
                 "pad_w: 1 stride_h: 2 stride_w: 1 bias_term: false }",
                 x, {{"y_weight", Floats({1, 1, 1, 2}, {1, 10})}}),
        "(1, 1, 2, 4)", {10, 21, 32, 3, 70, 87, 98, 9});
  Gives(RunLayer("Convolution",
                 "convolution_param { num_output: 2 group: 2 kernel_size: 1 "
                 "bias_term: false }",
                 Floats({1, 2, 1, 1}, {3, 4}),
                 {{"y_weight", Floats({2, 1, 1, 1}, {2, 5})}}),
        "(1, 2, 1, 1)", {6, 20});
  Gives(RunLayer("ConvolutionDepthwise",
                 "convolution_param { num_output: 2 kernel_size: 1 "
                 "bias_term: false }",
                 Floats({1, 2, 1, 1}, {3, 4}),
                 {{"y_weight", Floats({2, 1, 1, 1}, {2, 5})}}),
        "(1, 2, 1, 1)", {6, 20});
  Gives(RunLayer("Convolution",
                 "convolution_param { num_output: 1 kernel_size: 2 "
                 "dilation: 2 bias_term: false }",
                 x, {{"y_weight", Counting({1, 1, 2, 2})}}),
        "(1, 1, 1, 1)", {1 * 1 + 2 * 3 + 3 * 7 + 4 * 9});
}

TEST_CASE("caffe: Deconvolution is the transpose, in groups as well") {
  Gives(RunLayer("Deconvolution",
                 "convolution_param { num_output: 2 group: 2 kernel_size: 2 "
                 "stride: 2 }",
                 Floats({1, 2, 1, 1}, {3, 4}),
                 {{"y_weight", Floats({2, 1, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})},
                  {"y_bias", Floats({2}, {0, 1})}}),
        "(1, 2, 2, 2)", {3, 6, 9, 12, 21, 25, 29, 33});
}

TEST_CASE("caffe: pooling rounds up, and no window begins in the padding") {
  const Tensor x = Counting({1, 1, 4, 4});
  Gives(RunLayer("Pooling", "pooling_param { kernel_size: 3 stride: 2 }", x),
        "(1, 1, 2, 2)", {11, 12, 15, 16});
  Gives(RunLayer("Pooling",
                 "pooling_param { kernel_size: 3 stride: 2 round_mode: FLOOR }",
                 x),
        "(1, 1, 1, 1)", {11});
  Gives(RunLayer("Pooling",
                 "pooling_param { kernel_size: 3 stride: 2 ceil_mode: false }",
                 x),
        "(1, 1, 1, 1)", {11});
  // MXNet would have a third window, of the padding alone.
  Gives(RunLayer("Pooling", "pooling_param { kernel_size: 2 stride: 2 pad: 1 }",
                 Counting({1, 1, 3, 3})),
        "(1, 1, 2, 2)", {1, 3, 7, 9});
  Gives(RunLayer("Pooling", "pooling_param { global_pooling: true pool: AVE }",
                 x),
        "(1, 1, 1, 1)", {8.5});
}

TEST_CASE("caffe: padding along one axis drops windows along both") {
  CHECK(RunLayer("Pooling",
                 "pooling_param { kernel_h: 1 kernel_w: 2 stride: 4 pad_w: 1 }",
                 Counting({1, 1, 4, 4}))
            .ShapeOf() == "(1, 1, 1, 2)");
}

TEST_CASE("caffe: one window may be larger than the picture") {
  Gives(RunLayer("Pooling", "pooling_param { kernel_size: 3 stride: 2 }",
                 Counting({1, 1, 2, 2})),
        "(1, 1, 1, 1)", {4});
}

TEST_CASE("caffe: an average is over the window within the padded picture") {
  // Two of padding on either side would be 7; the last window ends at 3 + 1.
  Gives(RunLayer("Pooling",
                 "pooling_param { pool: AVE kernel_size: 3 stride: 2 pad: 1 }",
                 Counting({1, 1, 4, 4})),
        "(1, 1, 3, 3)",
        {(1 + 2 + 5 + 6) / 9.0, (2 + 3 + 4 + 6 + 7 + 8) / 9.0, (4 + 8) / 6.0,
         (5 + 6 + 9 + 10 + 13 + 14) / 9.0,
         (6 + 7 + 8 + 10 + 11 + 12 + 14 + 15 + 16) / 9.0, (8 + 12 + 16) / 6.0,
         (13 + 14) / 6.0, (14 + 15 + 16) / 6.0, 16 / 4.0});
}

TEST_CASE("caffe: SPP is a pyramid of poolings") {
  Gives(RunLayer("SPP", "spp_param { pyramid_height: 2 }",
                 Counting({1, 1, 4, 4})),
        "(1, 5)", {16, 6, 8, 14, 16});
}

TEST_CASE("caffe: SPP of one level stays a picture") {
  Gives(RunLayer("SPP", "spp_param { pyramid_height: 1 }",
                 Counting({1, 2, 2, 2})),
        "(1, 2, 1, 1)", {4, 8});
}

TEST_CASE("caffe: Im2col gives a column for each place") {
  Gives(RunLayer("Im2col", "convolution_param { kernel_size: 2 }",
                 Counting({1, 1, 2, 3})),
        "(1, 4, 1, 2)", {1, 2, 2, 3, 4, 5, 5, 6});
}

TEST_CASE("caffe: InnerProduct takes the axes behind `axis` together") {
  const Tensor x = Counting({2, 1, 2});
  const Tensor weight = Floats({3, 2}, {1, 0, 0, 1, 1, 1});
  const std::string three = "inner_product_param { num_output: 3 ";
  Gives(RunLayer("InnerProduct", three + "}", x,
                 {{"y_weight", weight}, {"y_bias", Floats({3}, {0, 0, 10})}}),
        "(2, 3)", {1, 2, 13, 3, 4, 17});
  Gives(RunLayer("InnerProduct", three + "axis: -1 bias_term: false }", x,
                 {{"y_weight", weight}}),
        "(2, 1, 3)", {1, 2, 3, 3, 4, 7});
  Gives(RunLayer("InnerProduct", three + "transpose: true bias_term: false }",
                 x, {{"y_weight", Floats({2, 3}, {1, 0, 1, 0, 1, 1})}}),
        "(2, 3)", {1, 2, 3, 3, 4, 7});
  Gives(RunLayer("InnerProduct",
                 "inner_product_param { num_output: 1 axis: 0 "
                 "bias_term: false }",
                 x, {{"y_weight", Floats({1, 4}, {1, 1, 1, 1})}}),
        "(1)", {10});
}

TEST_CASE("caffe: Embed gives rows") {
  Gives(RunLayer("Embed", "embed_param { input_dim: 3 num_output: 2 }",
                 Floats({3}, {2, 0, 1}),
                 {{"y_weight", Counting({3, 2})},
                  {"y_bias", Floats({2}, {10, 20})}}),
        "(3, 2)", {15, 26, 11, 22, 13, 24});
}

TEST_CASE("caffe: LRN across channels and within one") {
  const Tensor x = Counting({1, 3, 1, 1});
  const auto of = [](double v, double sum) {
    return v / std::pow(2 + 0.5 / 3 * sum, 0.75);
  };
  Gives(RunLayer("LRN", "lrn_param { local_size: 3 alpha: 0.5 k: 2 }", x),
        "(1, 3, 1, 1)", {of(1, 5), of(2, 14), of(3, 13)});
  // A square of 3 × 3 around each element, nine elements with the padding.
  const auto within = [](double v, double sum) {
    return v / std::pow(1 + 0.5 * sum / 9, 0.75);
  };
  Gives(RunLayer("LRN",
                 "lrn_param { local_size: 3 alpha: 0.5 k: 7 "
                 "norm_region: WITHIN_CHANNEL }",
                 Counting({1, 1, 2, 2})),
        "(1, 1, 2, 2)",
        {within(1, 30), within(2, 30), within(3, 30), within(4, 30)});
}

TEST_CASE("caffe: BatchNorm by its moments; factors are a Scale's") {
  const Tensor x = Floats({1, 2, 1, 1}, {3, 5});
  Gives(RunLayer("BatchNorm", "batch_norm_param { eps: 0.0625 }", x,
                 {{"y_moving_mean", Floats({2}, {1, 2})},
                  {"y_moving_var", Floats({2}, {0.1875, 3.9375})}}),
        "(1, 2, 1, 1)", {4, 1.5});
  // Of its own batch, where it is told so.
  Gives(RunLayer("BatchNorm",
                 "batch_norm_param { use_global_stats: false eps: 0 }",
                 Floats({2, 1, 1, 1}, {3, 5})),
        "(2, 1, 1, 1)", {-1, 1});
}

TEST_CASE("caffe: Scale and Bias cover axes of their bottom") {
  const Tensor x = Counting({1, 2, 1, 2});
  Gives(RunLayer("Scale", "scale_param { bias_term: true }", x,
                 {{"y_weight", Floats({2}, {10, 100})},
                  {"y_bias", Floats({2}, {0.5, 0})}}),
        "(1, 2, 1, 2)", {10.5, 20.5, 300, 400});
  Gives(RunLayer("Scale", "scale_param { axis: 1 num_axes: -1 }", x,
                 {{"y_weight", Floats({2, 1, 2}, {1, 10, 100, 1000})}}),
        "(1, 2, 1, 2)", {1, 20, 300, 4000});
  Gives(RunLayer("Bias", "bias_param { num_axes: 0 }", x,
                 {{"y_bias", Floats({1}, {5})}}),
        "(1, 2, 1, 2)", {6, 7, 8, 9});
  const std::map<std::string, Tensor> two = {{"a", x},
                                             {"b", Floats({1, 2}, {1, 10})}};
  Gives(RunCaffe(CaffeInputs(two) + "layer { name: 'y' type: 'Scale' bottom: "
                                    "'a' bottom: 'b' top: 'y' "
                                    "scale_param { axis: 0 } }",
                 two),
        "(1, 2, 1, 2)", {1, 2, 30, 40});
}

TEST_CASE("caffe: MVN and Normalize") {
  const Tensor x = Floats({1, 2, 1, 2}, {1, 3, 2, 8});
  Gives(RunLayer("MVN", "", x), "(1, 2, 1, 2)", {-1, 1, -1, 1});
  Gives(RunLayer("MVN", "mvn_param { normalize_variance: false }", x),
        "(1, 2, 1, 2)", {-1, 1, -3, 3});
  const double deviation = std::sqrt((6.25 + 0.25 + 2.25 + 20.25) / 4);
  Gives(
      RunLayer("MVN", "mvn_param { across_channels: true }", x), "(1, 2, 1, 2)",
      {-2.5 / deviation, -0.5 / deviation, -1.5 / deviation, 4.5 / deviation});
  Gives(RunLayer("Normalize",
                 "norm_param { across_spatial: false channel_shared: false }",
                 Floats({1, 2, 1, 2}, {3, 0, 4, 5}),
                 {{"y_weight", Floats({2}, {10, 100})}}),
        "(1, 2, 1, 2)", {6, 0, 80, 100});
}

TEST_CASE("caffe: Softmax along an axis") {
  const Tensor x = Floats({1, 2, 2}, {0, std::log(3.0F), 0, 0});
  Gives(RunLayer("Softmax", "", x), "(1, 2, 2)", {0.5, 0.75, 0.5, 0.25});
  Gives(RunLayer("Softmax", "softmax_param { axis: 2 }", x), "(1, 2, 2)",
        {0.25, 0.75, 0.5, 0.5});
}

TEST_CASE("caffe: blobs are turned and cut") {
  const Tensor x = Counting({1, 2, 3});
  const auto shape = [&](const char* type, const char* more) {
    return RunLayer(type, more, x).ShapeOf();
  };
  CHECK(shape("Flatten", "") == "(1, 6)");
  CHECK(shape("Flatten", "flatten_param { axis: 0 end_axis: 1 }") == "(2, 3)");
  CHECK(shape("Reshape", "reshape_param { shape { dim: 0 dim: -1 } }") ==
        "(1, 6)");
  CHECK(
      shape("Reshape",
            "reshape_param { axis: 1 num_axes: 1 shape { dim: 2 dim: 1 } }") ==
      "(1, 2, 1, 3)");
  CHECK(shape("Reshape", "reshape_param { axis: -1 shape { dim: 1 } }") ==
        "(1, 2, 3, 1)");
  CHECK(
      shape("Reshape", "reshape_param { axis: -2 shape { dim: 3 dim: 1 } }") ==
      "(1, 2, 3, 1)");
  CHECK(shape("Reshape", "reshape_param { num_axes: 0 shape { dim: 1 } }") ==
        "(1, 1, 2, 3)");
  Gives(RunLayer("Permute", "permute_param { order: 0 order: 2 }", x),
        "(1, 3, 2)", {1, 4, 2, 5, 3, 6});
  Gives(
      RunLayer("Tile", "tile_param { axis: 1 tiles: 2 }", Counting({1, 2, 1})),
      "(1, 4, 1)", {1, 2, 1, 2});
  Gives(RunLayer("ShuffleChannel", "shuffle_channel_param { group: 2 }",
                 Counting({1, 4, 1, 1})),
        "(1, 4, 1, 1)", {1, 3, 2, 4});
}

TEST_CASE("caffe: Slice cuts at points, or into equal parts") {
  const Tensor x = Counting({1, 4});
  const std::string input = CaffeInputs({{"x", x}});
  const auto sliced = [&](const std::string& more) {
    return RunCaffe(input +
                        "layer { name: 's' type: 'Slice' bottom: 'x' top: "
                        "'a' top: 'b' " +
                        more + " }",
                    {{"x", x}});
  };
  const CaffeRun equal = sliced("");
  CHECK(equal.Values(0) == Numbers{1, 2});
  CHECK(equal.Values(1) == Numbers{3, 4});
  const CaffeRun at = sliced("slice_param { slice_point: 1 }");
  CHECK(at.Values(0) == Numbers{1});
  CHECK(at.Values(1) == Numbers{2, 3, 4});
}

// A layer of several bottoms a, b, c …
CaffeRun RunMany(const std::string& type, const std::string& more,
                 const std::map<std::string, Tensor>& bottoms,
                 const std::map<std::string, Tensor>& parameters = {}) {
  std::string layer = "layer { name: 'y' type: '" + type + "' top: 'y' " + more;
  for (const auto& [name, tensor] : bottoms) layer += " bottom: '" + name + "'";
  std::map<std::string, Tensor> values = parameters;
  values.insert(bottoms.begin(), bottoms.end());
  return RunCaffe(CaffeInputs(bottoms) + layer + " }", values);
}

TEST_CASE("caffe: layers of several bottoms") {
  const std::map<std::string, Tensor> two = {{"a", Floats({1, 2}, {1, 5})},
                                             {"b", Floats({1, 2}, {3, 4})}};
  Gives(RunMany("Concat", "", two), "(1, 4)", {1, 5, 3, 4});
  Gives(RunMany("Concat", "concat_param { axis: 0 }", two), "(2, 2)",
        {1, 5, 3, 4});
  Gives(RunMany("Eltwise", "", two), "(1, 2)", {4, 9});
  Gives(RunMany("Eltwise", "eltwise_param { coeff: 2 coeff: -1 }", two),
        "(1, 2)", {-1, 6});
  Gives(RunMany("Eltwise", "eltwise_param { operation: PROD }", two), "(1, 2)",
        {3, 20});
  Gives(RunMany("Eltwise", "eltwise_param { operation: MAX }", two), "(1, 2)",
        {3, 5});
  Gives(RunMany("BatchReindex", "",
                {{"a", Counting({3, 2})}, {"b", Floats({2}, {2, 0})}}),
        "(2, 2)", {5, 6, 1, 2});
  Gives(RunMany("Crop", "crop_param { axis: 2 offset: 1 offset: 0 }",
                {{"a", Counting({1, 1, 3, 3})}, {"b", Counting({1, 1, 2, 2})}}),
        "(1, 1, 2, 2)", {4, 5, 7, 8});
  Gives(RunMany("Axpy", "",
                {{"a", Floats({1, 2, 1, 1}, {2, 3})},
                 {"b", Counting({1, 2, 1, 2})},
                 {"c", Floats({1, 2, 1, 2}, {1, 1, 1, 1})}}),
        "(1, 2, 1, 2)", {3, 5, 10, 13});
}

TEST_CASE("caffe: Reduction and ArgMax") {
  const Tensor x = Floats({2, 3}, {1, -2, 4, 3, 3.5, -1});
  const auto reduced = [&](const char* more) {
    return RunLayer("Reduction", more, x);
  };
  Gives(reduced(""), "(1)", {8.5});
  Gives(reduced("reduction_param { operation: ASUM axis: 1 coeff: 2 }"), "(2)",
        {14, 15});
  Gives(reduced("reduction_param { operation: SUMSQ axis: 1 }"), "(2)",
        {21, 22.25});
  Gives(reduced("reduction_param { operation: MEAN axis: 1 }"), "(2)",
        {1, 5.5 / 3});
  Gives(RunLayer("ArgMax", "argmax_param { top_k: 2 }", x), "(2, 1, 2)",
        {2, 0, 1, 0});
  CHECK(RunLayer("ArgMax", "", Counting({1, 3, 2, 1})).ShapeOf() ==
        "(1, 1, 1, 1)");
  Gives(RunLayer("ArgMax", "argmax_param { out_max_val: true }", x),
        "(2, 2, 1)", {2, 4, 1, 3.5});
  Gives(RunLayer("ArgMax", "argmax_param { axis: 1 out_max_val: true }", x),
        "(2, 1)", {4, 3.5});
}

TEST_CASE("caffe: LSTMUnit is one turn") {
  const std::map<std::string, Tensor> values = {
      {"c", Floats({1, 1, 1}, {2})},
      {"g", Floats({1, 1, 4}, {0, 0, 0, 1})},
      {"t", Floats({1, 1}, {1})}};
  const CaffeRun run =
      RunCaffe(CaffeInputs(values) +
                   "layer { name: 'u' type: 'LSTMUnit' bottom: 'c' bottom: 'g' "
                   "bottom: 't' top: 'x' top: 'y' }",
               values);
  const double c = 1 + 0.5 * std::tanh(1.0);
  CHECK(Near(run.Values(0), {c}, 1e-6));
  CHECK(Near(run.Values(1), {0.5 * std::tanh(c)}, 1e-6));
  const CaffeRun scalar = RunCaffe(
      "input: 'c' input_shape { } input: 'g' input_shape { dim: 4 } "
      "input: 't' input_shape { } "
      "layer { name: 'u' type: 'LSTMUnit' bottom: 'c' bottom: 'g' "
      "bottom: 't' top: 'x' }",
      {{"c", Floats({1}, {2})},
       {"g", Floats({4}, {0, 0, 0, 1})},
       {"t", Floats({1}, {1})}});
  CHECK(Near(scalar.Values(), {c}, 1e-6));
}

TEST_CASE("caffe: sources without an outside, and ends") {
  const CaffeRun run = RunCaffe(
      "layer { name: 'd' type: 'DummyData' top: 'a' top: 'b' dummy_data_param {"
      " shape { dim: 2 } data_filler { value: 3 } } }"
      "layer { name: 'p' type: 'Parameter' top: 'w' "
      "parameter_param { shape { dim: 2 } } }"
      "layer { name: 'y' type: 'Eltwise' bottom: 'a' bottom: 'w' top: 'y' }"
      "layer { name: 's' type: 'Silence' bottom: 'b' }",
      {{"p_weight", Floats({2}, {1, 2})}});
  REQUIRE_MESSAGE(run.error.empty(), run.error);
  CHECK(run.names == std::vector<std::string>{"y_output"});
  CHECK(run.Values() == Numbers{4, 5});
}

}  // namespace
}  // namespace mxc
