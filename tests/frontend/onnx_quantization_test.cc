// SPDX-License-Identifier: Apache-2.0
// Quantized networks, attention and signals of ONNX: the form that sums of
// integers get, types of few bits, and what is refused. Values are compared by
// mxc-cases onnx.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "frontend/network_file.h"
#include "tests/frontend/onnx_model.h"

namespace mxc {
namespace {

using onnx_model::Build;
using onnx_model::GraphParts;
using onnx_model::Input;
using onnx_model::IntAttr;
using onnx_model::IntsAttr;
using onnx_model::kFloat;
using onnx_model::kInt64;
using onnx_model::Message;
using onnx_model::Number;
using onnx_model::RefusalOf;
using onnx_model::TensorOf;
using onnx_model::TextAttr;
using onnx_model::Type;
using Names = std::vector<std::string>;
using Attrs = std::vector<Message>;

constexpr auto kUint8 = static_cast<Type>(2);
constexpr auto kInt8 = static_cast<Type>(3);
constexpr auto kInt4 = static_cast<Type>(22);
constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

Message OnnxOp(const std::string& op, const Names& inputs,
               const Attrs& attributes = {}, const Names& outputs = {"y"}) {
  return onnx_model::Node(op, inputs, outputs, attributes);
}

Message FloatOf(const std::string& name, float value) {
  return TensorOf<float>(name, kFloat, {}, {value});
}

int CountOps(const GraphParts& parts, std::string_view op) {
  const auto model = Build(parts);
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  return static_cast<int>(
      std::ranges::count_if(model->graph.TopologicalOrder(),
                            [&](const Node* node) { return node->Is(op); }));
}

GraphParts IntegerProduct(int64_t length, std::vector<int8_t> weights) {
  GraphParts parts = {.nodes = {OnnxOp("MatMulInteger", {"x", "w"})},
                      .inputs = {Input("x", kUint8, {2, length})},
                      .outputs = {"y"}};
  if (weights.empty()) {
    parts.inputs.push_back(Input("w", kInt8, {length, 1}));
  } else {
    parts.initializers = {TensorOf<int8_t>("w", kInt8, {length, 1}, weights)};
  }
  return parts;
}

TEST_CASE("sums of integers that could pass 2^24 are added up in parts") {
  // 255 · 128 · 514 < 2^24 < 255 · 128 · 515
  CHECK(CountOps(IntegerProduct(514, {}), "dot") == 1);
  CHECK(CountOps(IntegerProduct(515, {}), "dot") == 2);
  CHECK(CountOps(IntegerProduct(4000, {}), "dot") == 8);
  // Known weights are looked at.
  CHECK(CountOps(IntegerProduct(4000, std::vector<int8_t>(4000, 16)), "dot") ==
        1);
  CHECK(CountOps(IntegerProduct(4000, std::vector<int8_t>(4000, -128)), "dot") >
        1);
  // Very long ones are cheaper in f64.
  CHECK(CountOps(IntegerProduct(400000, {}), "dot") == 1);
}

// x in levels of int4, and back where `back`.
GraphParts FewBits(bool back, bool by_zero_point) {
  const Names zero = by_zero_point ? Names{"x", "s", "z"} : Names{"x", "s"};
  GraphParts parts = {
      .nodes = {OnnxOp(
          "QuantizeLinear", zero,
          by_zero_point ? Attrs() : Attrs{IntAttr("output_dtype", kInt4)},
          {"q"})},
      .inputs = {Input("x", kFloat, {3})},
      .outputs = {back ? "y" : "q"},
      .initializers = {FloatOf("s", 0.5F),
                       TensorOf<char>("z", kInt4, {}, {'\1'})}};
  if (back) {
    // Its type stays through what moves elements.
    parts.nodes.push_back(OnnxOp("Unsqueeze", {"q", "a"}, {}, {"u"}));
    parts.nodes.push_back(OnnxOp("DequantizeLinear", {"u", "s"}));
    parts.initializers.push_back(TensorOf<int64_t>("a", kInt64, {1}, {0}));
  }
  return parts;
}

TEST_CASE("types of few bits are within a network, and wider at its borders") {
  for (const bool by_zero_point : {false, true}) {
    CHECK(Build(FewBits(true, by_zero_point)).ok());
    const auto levels = Build(FewBits(false, by_zero_point));
    REQUIRE_MESSAGE(levels.ok(), Render(levels.errors()));
    CHECK(levels->graph.outputs[0].type().dtype == DType::kI8);
    REQUIRE(levels->notes.size() == 1);
    CHECK(levels->notes.front().message ==
          "output 'q' has elements of INT4; the program gives int8");
  }
}

std::string QuantizationRefusal(Attrs attributes,
                                std::vector<int64_t> scale_shape) {
  int64_t count = 1;
  for (const int64_t dim : scale_shape) count *= dim;
  const std::vector<float> ones(static_cast<size_t>(count), 1);
  return RefusalOf(
      {.nodes = {OnnxOp("QuantizeLinear", {"x", "s"}, attributes)},
       .inputs = {Input("x", kFloat, {2, 6})},
       .outputs = {"y"},
       .initializers = {TensorOf<float>("s", kFloat, scale_shape, ones)}});
}

TEST_CASE("scales that fit no axis and no block are refused") {
  CHECK(QuantizationRefusal({}, {6}).empty());
  CHECK(QuantizationRefusal({IntAttr("block_size", 3)}, {2, 2}).empty());
  for (const int64_t block : {int64_t{-1}, int64_t{2}, kHuge}) {
    CHECK(!QuantizationRefusal({IntAttr("block_size", block)}, {2, 2}).empty());
  }
  CHECK(!QuantizationRefusal({IntAttr("axis", 0)}, {6}).empty());
  CHECK(!QuantizationRefusal({IntAttr("axis", kHuge)}, {6}).empty());
  CHECK(!QuantizationRefusal({IntAttr("output_dtype", 99)}, {6}).empty());
  CHECK(!QuantizationRefusal({IntAttr("output_dtype", kHuge)}, {6}).empty());
}

std::string AttentionRefusal(Attrs attributes, std::vector<int64_t> mask,
                             int64_t opset = 25) {
  return RefusalOf(
      {.nodes = {OnnxOp("Attention", {"q", "k", "k", "m"}, attributes)},
       .inputs = {Input("q", kFloat, {1, 5, 12}), Input("k", kFloat, {1, 7, 6}),
                  Input("m", kFloat, mask)},
       .outputs = {"y"}},
      {}, opset);
}

TEST_CASE("attention refuses heads, masks and windows that do not fit") {
  const auto heads = [](int64_t q, int64_t kv) {
    return Attrs{IntAttr("q_num_heads", q), IntAttr("kv_num_heads", kv)};
  };
  CHECK(AttentionRefusal(heads(4, 2), {5, 7}) == "");
  for (const int64_t count : {int64_t{0}, int64_t{-4}, int64_t{5}, kHuge}) {
    CHECK(!AttentionRefusal(heads(count, 2), {5, 7}).empty());
    CHECK(!AttentionRefusal(heads(4, count), {5, 7}).empty());
  }
  CHECK(!AttentionRefusal(heads(4, 2), {4, 7}).empty());
  Attrs windowed = heads(4, 2);
  windowed.push_back(IntAttr("left_window_size", 1));
  CHECK(AttentionRefusal(windowed, {5, 7}) == "");
  CHECK(!AttentionRefusal(windowed, {5, 7}, 24).empty());
  windowed.back() = IntAttr("left_window_size", -kHuge);
  CHECK(!AttentionRefusal(windowed, {5, 7}).empty());
}

TEST_CASE("lengths of signals that cannot be are refused") {
  const auto stft = [](int64_t step, int64_t length) {
    return RefusalOf(
        {.nodes = {OnnxOp("STFT", {"x", "s", "", "l"})},
         .inputs = {Input("x", kFloat, {1, 64, 1})},
         .outputs = {"y"},
         .initializers = {Number("s", step), Number("l", length)}});
  };
  CHECK(stft(8, 16) == "");
  for (const int64_t bad : {int64_t{0}, int64_t{-1}, kHuge}) {
    CHECK(!stft(bad, 16).empty());
    CHECK(!stft(8, bad).empty());
    const std::string dft =
        RefusalOf({.nodes = {OnnxOp("DFT", {"x", "l"})},
                   .inputs = {Input("x", kFloat, {1, 64, 1})},
                   .outputs = {"y"},
                   .initializers = {Number("l", bad)}});
    CHECK(!dft.empty());
  }
  CHECK(!RefusalOf({.nodes = {OnnxOp("HannWindow", {"n"})},
                    .inputs = {},
                    .outputs = {"y"},
                    .initializers = {Number("n", kHuge)}})
             .empty());
}

TEST_CASE("n-grams whose numbers do not fit are refused") {
  const auto refusal = [](std::vector<int64_t> starts,
                          std::vector<int64_t> places, int64_t longest) {
    return RefusalOf(
        {.nodes = {OnnxOp(
             "TfIdfVectorizer", {"x"},
             {TextAttr("mode", "TF"), IntAttr("min_gram_length", 1),
              IntAttr("max_gram_length", longest), IntAttr("max_skip_count", 0),
              IntsAttr("ngram_counts", starts),
              IntsAttr("ngram_indexes", places),
              IntsAttr("pool_int64s", {1, 2, 3, 4})})},
         .inputs = {Input("x", kInt64, {9})},
         .outputs = {"y"}});
  };
  CHECK(refusal({0, 2}, {0, 1, 2}, 2) == "");
  CHECK(!refusal({0, 3}, {0, 1, 2}, 2).empty());
  CHECK(!refusal({-1, 2}, {0, 1, 2}, 2).empty());
  CHECK(!refusal({0, kHuge}, {0, 1, 2}, 2).empty());
  CHECK(!refusal({0, 2}, {0, 1, kHuge}, 2).empty());
  CHECK(!refusal({0, 2}, {0, 1, 1}, 2).empty());
  CHECK(!refusal({0, 2}, {0, 1, 2}, kHuge).empty());
}

}  // namespace
}  // namespace mxc
