// SPDX-License-Identifier: Apache-2.0
// Operators of 8-bit numbers, with the values that MXNet 1.9.1 gives where the
// test does not say otherwise.
#include <doctest/doctest.h>

#include <vector>

#include "tests/ir/op_run.h"

namespace mxc {
namespace {

using List = std::vector<double>;

Tensor Int8(const Shape& shape, const List& values) {
  return TypedTensor(DType::kI8, shape, values);
}
Tensor Uint8(const Shape& shape, const List& values) {
  return TypedTensor(DType::kU8, shape, values);
}
Tensor End(float value) { return Floats({1}, {value}); }

const List kSmall = {100, -50, 3, 127};
const List kLarge = {10, -60, 100, 127};
const List kBright = {200, 5, 255, 60};
const List kDark = {30, 250, 7, 100};

struct Ranges {
  float low = -1, high = 1.5F, other_low = -3, other_high = 2;
};

std::vector<Tensor> OfPair(std::string_view op,
                           const std::vector<AttrText>& attrs, const Tensor& a,
                           const Tensor& b, const Ranges& r) {
  return EvaluateOp(
      op, attrs,
      {a, b, End(r.low), End(r.high), End(r.other_low), End(r.other_high)});
}

TEST_CASE("sums of 8-bit numbers") {
  constexpr const char* kAdd = "_contrib_quantized_elemwise_add";
  const Tensor a = Int8({4}, kSmall), b = Int8({4}, kLarge);
  auto sum = OfPair(kAdd, {}, a, b, {});
  CHECK(sum[0].type().dtype == DType::kI32);
  // MXNet's sums are in double, ours in f32: 2^-24 of 2^31.
  CHECK(Near(ValuesOf(sum[0]), {673720384, -954437248, 1139710336, 2139062272},
             256));
  CHECK(ValuesOf(sum[1]) == List{-4.5});
  CHECK(ValuesOf(sum[2]) == List{4.5});
  sum = OfPair(kAdd, {{"min_calib_range", "-2"}, {"max_calib_range", "2.5"}}, a,
               b, {});
  CHECK(sum[0].type().dtype == DType::kI8);
  CHECK(ValuesOf(sum[0]) == List{72, -102, 122, 127});
  sum = OfPair(kAdd, {{"min_calib_range", "0"}, {"max_calib_range", "2.5"}},
               Uint8({4}, kBright), Uint8({4}, kDark), {0, 1.5F, 0, 2});
  CHECK(sum[0].type().dtype == DType::kU8);
  CHECK(ValuesOf(sum[0]) == List{144, 203, 159, 116});
}

TEST_CASE("products of 8-bit numbers") {
  constexpr const char* kMul = "_contrib_quantized_elemwise_mul";
  const Tensor a = Int8({4}, kSmall), b = Int8({4}, kLarge);
  auto product = OfPair(kMul, {}, a, b, {});
  CHECK(ValuesOf(product[0]) == List{1000, 3000, 300, 16129});
  CHECK(product[2].At(0) == doctest::Approx(599149.1));
  product =
      OfPair(kMul, {{"min_calib_range", "-2"}, {"max_calib_range", "2.5"}}, a,
             b, {-1, 1, -1, 1});
  CHECK(ValuesOf(product[0]) == List{3, 9, 0, 50});
  // Limited, where MXNet's 227 wraps around to -29.
  product = OfPair(
      kMul, {{"min_calib_range", "-2"}, {"max_calib_range", "2.5"}}, a, b, {});
  CHECK(ValuesOf(product[0]) == List{14, 42, 4, 127});
  product = OfPair(kMul, {{"enable_float_output", "True"}}, a, b, {});
  CHECK(product.size() == 1);
  CHECK(Near(ValuesOf(product[0]), {0.2768166, 0.8304498, 0.083045, 4.464775},
             1e-6));
}

TEST_CASE("8-bit numbers joined: the widest range is that of all") {
  constexpr const char* kConcat = "_contrib_quantized_concat";
  const std::vector<AttrText> two = {{"num_args", "2"}, {"dim", "1"}};
  auto joined = EvaluateOp(kConcat, two,
                           {Int8({1, 4}, kSmall), Uint8({1, 4}, kBright),
                            End(-1), End(1.5F), End(0), End(2)});
  CHECK(joined[0].type().dtype == DType::kI8);
  CHECK(ValuesOf(joined[0]) == List{75, -38, 2, 95, 100, 2, 127, 30});
  CHECK(ValuesOf(joined[1]) == List{-1});
  CHECK(ValuesOf(joined[2]) == List{2});
  joined = EvaluateOp(kConcat, two,
                      {Uint8({1, 4}, kBright), Uint8({1, 4}, kDark), End(0),
                       End(1.5F), End(0), End(2)});
  CHECK(joined[0].type().dtype == DType::kU8);
  CHECK(ValuesOf(joined[0]) == List{150, 4, 191, 45, 30, 250, 7, 100});
}

TEST_CASE("windows of 8-bit numbers: means are rounded") {
  const Tensor data =
      Uint8({1, 1, 5, 5},
            {106, 152, 249, 131, 184, 200, 0,   21,  253, 147, 202, 107, 249,
             169, 138, 149, 119, 166, 224, 148, 172, 93,  167, 142, 248});
  const auto pooled = [&](const char* type, const char* convention) {
    return EvaluateOp("_contrib_quantized_pooling",
                      {{"kernel", "(2, 2)"},
                       {"stride", "(2, 2)"},
                       {"pool_type", type},
                       {"pooling_convention", convention}},
                      {data, End(-1.5F), End(2)});
  };
  CHECK(ValuesOf(pooled("avg", "full")[0]) ==
        List{114, 164, 83, 144, 202, 72, 66, 77, 62});
  CHECK(ValuesOf(pooled("max", "valid")[0]) == List{200, 253, 202, 249});
  CHECK(ValuesOf(pooled("max", "valid")[1]) == List{-1.5});
  CHECK(Refuses("C2", "_contrib_quantized_pooling",
                {{"kernel", "(2, 2)"}, {"pool_type", "sum"}},
                {{1, 1, 5, 5}, {1}, {1}}));
}

TEST_CASE("relu, Flatten, rows and norms of 8-bit numbers") {
  const Tensor data = Int8({1, 2, 2}, kSmall);
  auto result = EvaluateOp("_contrib_quantized_act", {{"act_type", "relu"}},
                           {data, End(-1), End(2)});
  CHECK(ValuesOf(result[0]) == List{100, 0, 3, 127});
  CHECK(Refuses("C2", "_contrib_quantized_act", {{"act_type", "tanh"}},
                {{4}, {1}, {1}}));
  result =
      EvaluateOp("_contrib_quantized_flatten", {}, {data, End(-1), End(2)});
  CHECK(result[0].shape() == Shape{1, 4});
  CHECK(ValuesOf(result[0]) == kSmall);
  result = EvaluateOp("_contrib_quantized_embedding",
                      {{"input_dim", "2"}, {"output_dim", "3"}},
                      {Floats({2}, {1, 0}), Int8({2, 3}, {1, 2, 3, 4, -5, 6}),
                       End(-1), End(2)});
  CHECK(ValuesOf(result[0]) == List{4, -5, 6, 1, 2, 3});
  result = EvaluateOp(
      "_contrib_quantized_batch_norm",
      {{"fix_gamma", "False"},
       {"min_calib_range", "-3"},
       {"max_calib_range", "2.5"}},
      {Int8({1, 2, 2, 2}, {100, -50, 3, 127, -128, 7, 64, -9}),
       Floats({2}, {1.5F, 0.5F}), Floats({2}, {0.1F, 0.2F}),
       Floats({2}, {0.25F, -0.5F}), Floats({2}, {1, 0.25F}), End(-2), End(1)});
  CHECK(Near(ValuesOf(result[0]), {88, -62, -9, 115, -55, 34, 72, 24}, 1));
}

TEST_CASE("a product of 8-bit matrices, as i32") {
  const auto y =
      EvaluateOp("_contrib_quantized_fully_connected", {{"num_hidden", "2"}},
                 {Uint8({1, 3}, {10, 20, 30}),
                  Int8({2, 3}, {1, 2, 3, 4, -5, 6}), Int8({2}, {85, 4}), End(0),
                  End(2), End(-1), End(0.5F), End(-0.7F), End(0.3F)});
  CHECK(ValuesOf(y[0]) == List{7741, 477});
  CHECK(y[1].At(0) == doctest::Approx(-132622.12));
  CHECK(y[2].At(0) == doctest::Approx(132622.12));
}

std::vector<Tensor> FilterInputs() {
  return {Floats({2, 1, 2, 2}, {1, -2, 3, 0.5F, -1, 2, 0.25F, -0.75F}),
          Floats({2}, {1.5F, -0.5F}), Floats({2}, {1e9F, 20})};
}

TEST_CASE("a fused convolution with a norm and relu") {
  // Inputs 0 to 1 as levels of 255.5.
  const std::vector<Tensor> inputs = {
      Uint8({1, 1, 3, 3}, {26, 51, 77, 102, 89, 64, 38, 13, 115}),
      FilterInputs()[0],
      Floats({2}, {0.5F, -0.25F}),
      Floats({2}, {1.5F, 0.5F}),
      Floats({2}, {0.1F, 0.2F}),
      Floats({2}, {0.25F, -0.5F}),
      Floats({2}, {1, 0.25F}),
      End(0),
      End(1)};
  const std::vector<AttrText> attrs = {
      {"layer", "Convolution"},
      {"settings", "kernel=(2, 2)\nnum_filter=2\n"},
      {"with_norm", "True"},
      {"fix_gamma", "False"},
      {"eps", "0.001"},
      {"activation", "Activation"},
      {"activation_settings", "act_type=relu\n"},
      {"positive", "True"},
      {"min_calib_range", "0"},
      {"max_calib_range", "2.086507"}};
  const auto y = EvaluateOp("_quantized_layer", attrs, inputs);
  CHECK(y[0].type().dtype == DType::kU8);
  CHECK(ValuesOf(y[0]) == List{254, 198, 89, 98, 71, 92, 91, 33});
  CHECK(y[2].At(0) == doctest::Approx(2.086507));
}

// relu or nothing of a 1x1 convolution, plus other numbers of 8 bits.
std::vector<Tensor> SumWith(const Tensor& summand, const char* low,
                            const char* high, bool relu) {
  std::vector<AttrText> attrs = {
      {"layer", "Convolution"},
      {"settings", "kernel=(1, 1)\nnum_filter=2\nno_bias=True\n"},
      {"with_sum", "True"},
      {"positive", relu ? "True" : "False"},
      {"min_calib_range", low},
      {"max_calib_range", high}};
  if (relu) {
    attrs.insert(attrs.end(), {{"sum_activation", "Activation"},
                               {"sum_activation_settings", "act_type=relu\n"}});
  }
  const bool is_signed = summand.type().dtype == DType::kI8;
  return EvaluateOp("_quantized_layer", attrs,
                    {Uint8({1, 1, 2, 2}, {26, 51, 102, 255}),
                     Floats({2, 1, 1, 1}, {1.5F, -0.75F}), summand, End(0),
                     End(1), End(is_signed ? -1.0F : 0), End(1)});
}

TEST_CASE("a fused sum has the levels of its summand's type") {
  const Tensor small =
      Int8({1, 2, 2, 2}, {100, -50, 3, 127, 10, -60, 100, 127});
  const Tensor bright = Uint8({1, 2, 2, 2}, {200, 5, 255, 60, 30, 250, 7, 100});
  const auto limited = SumWith(small, "0", "2", true);
  CHECK(limited[0].type().dtype == DType::kU8);
  CHECK(ValuesOf(limited[0]) == List{120, 0, 79, 127, 0, 0, 62, 31});
  CHECK(ValuesOf(SumWith(small, "-1", "1", false)[0]) ==
        List{119, -12, 79, 127, 0, -79, 62, 31});
  CHECK(ValuesOf(SumWith(bright, "0", "2", true)[0]) ==
        List{119, 41, 204, 220, 5, 106, 0, 0});
  const auto wrapped = SumWith(bright, "-1", "1", false);
  CHECK(wrapped[0].type().dtype == DType::kI8);
  CHECK(ValuesOf(wrapped[0]) == List{119, 41, -53, -36, 5, 106, 0, 0});
}

TEST_CASE("filters are computed as their meaning says") {
  for (const char* alike : {"False", "True"}) {
    const std::vector<AttrText> attrs = {{"alike", alike}};
    const std::vector<Tensor> inputs = FilterInputs();
    const auto meant = EvaluateUndivided("_quantize_filters", attrs, inputs);
    const Operator* op = FindOperator("_quantize_filters");
    std::vector<AttrError> errors;
    const auto computed = op->compute(op->parse(attrs, errors).get(), inputs);
    for (size_t i = 0; i < 3; ++i) {
      CHECK(ValuesOf(meant[i]) == ValuesOf(computed[i]));
    }
  }
  // Filter 0: 127.5 / 4.5, filter 1: at most 20.
  const auto parts = EvaluateUndivided("_quantize_filters", {}, FilterInputs());
  CHECK(Near(ValuesOf(parts[1]), {28.33333, 20}, 1e-4));
  CHECK(ValuesOf(parts[0]) == List{42, -85, 127, 21, 10, -20, -2, 8});
}

TEST_CASE("floats, missing ranges and channels elsewhere are refused") {
  const std::vector<Shape> ranged = {{1, 2, 4}, {1}, {1}};
  CHECK(
      Refuses("C1", "_contrib_quantized_act", {{"act_type", "relu"}}, ranged));
  CHECK(Refuses("C1", "_contrib_quantized_flatten", {}, ranged));
  CHECK(Refuses("C1", "_contrib_quantized_pooling", {{"kernel", "(2,)"}},
                ranged));
  CHECK(
      Refuses("C1", "_contrib_quantized_concat", {{"num_args", "1"}}, ranged));
  for (const char* op :
       {"_contrib_quantized_elemwise_add", "_contrib_quantized_elemwise_mul"}) {
    CHECK(Refuses("C1", op, {}, {{4}, {4}, {1}, {1}, {1}, {1}}));
  }
  CHECK(Refuses(
      "C3", "_contrib_quantized_batch_norm",
      {{"axis", "2"}, {"min_calib_range", "0"}, {"max_calib_range", "1"}},
      {{1, 2, 2}, {2}, {2}, {2}, {2}, {1}, {1}}));
  CHECK(Refuses("C2", "_contrib_quantized_batch_norm", {},
                {{1, 2, 2}, {2}, {2}, {2}, {2}, {1}, {1}}));
}

TEST_CASE("unsigned bytes from the least to the greatest number") {
  const Tensor data = Floats({1, 2, 2}, {-1, 0, 2, 0.31f});
  const auto found = EvaluateOp("_contrib_quantize_asym", {}, {data});
  CHECK(found[0].type().dtype == DType::kU8);
  CHECK(ValuesOf(found[0]) == std::vector<double>{0, 85, 255, 111});
  CHECK(found[1].At(0) == 85);
  CHECK(found[2].At(0) == 85);
  // What is beyond a stated range is limited to it.
  CHECK(Evaluate("_contrib_quantize_asym",
                 {{"min_calib_range", "-0.5"}, {"max_calib_range", "1"}},
                 {data}) == std::vector<double>{0, 85, 255, 138});
}

}  // namespace
}  // namespace mxc
