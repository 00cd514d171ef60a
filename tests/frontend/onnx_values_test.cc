// SPDX-License-Identifier: Apache-2.0
// Values where ONNX's own node tests do not look: at infinity, beyond 2^24, of
// halves, of operands that do not fit.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "frontend/frontend.h"
#include "tests/frontend/onnx_model.h"
#include "tests/ir/op_run.h"

namespace mxc {
namespace {

using namespace onnx_model;  // NOLINT
using Attributes = std::vector<Message>;
using Names = std::vector<std::string>;
using Numbers = std::vector<double>;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr auto kHalf = static_cast<Type>(10);
constexpr auto kUint8 = static_cast<Type>(2);
constexpr auto kInt4 = static_cast<Type>(22);

// An input, by its name, and what it is given.
struct Given {
  std::string name;
  Type type = kFloat;
  std::vector<int64_t> dims = {};
  Numbers values = {};
};

DType DTypeOfGiven(Type type) {
  if (type == kInt64) return DType::kI64;
  return type == kHalf ? DType::kF16 : DType::kF32;
}

struct OneNode {
  std::string op;
  std::vector<Given> inputs;
  Attributes attributes = {};
  std::vector<Message> initializers = {};
  Names reads = {};  // empty: the inputs
  int64_t opset = 21;
};

GraphParts PartsOf(const OneNode& one) {
  Names reads = one.reads;
  GraphParts parts = {.nodes = {}, .inputs = {}, .outputs = {"y"}};
  for (const Given& given : one.inputs) {
    parts.inputs.push_back(Input(given.name, given.type, given.dims));
    if (one.reads.empty()) reads.push_back(given.name);
  }
  parts.nodes = {onnx_model::Node(one.op, reads, {"y"}, one.attributes)};
  parts.initializers = one.initializers;
  return parts;
}

// The elements of the one output, by the interpreter.
Numbers Computed(const OneNode& one, const GraphParts& parts) {
  CAPTURE(one.op);
  auto model = Build(parts, {}, one.opset);
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  REQUIRE(InferTypes(model->graph, /*complete=*/true).ok());
  std::map<std::string, Tensor> values;
  for (const Given& given : one.inputs) {
    std::byte* to = nullptr;
    const DType dtype = DTypeOfGiven(given.type);
    Tensor tensor = Tensor::Allocate({dtype, Shape(given.dims)}, &to);
    for (size_t i = 0; i < given.values.size(); ++i) {
      StoreElement(to + static_cast<int64_t>(i) * SizeOf(dtype), dtype,
                   static_cast<Element>(given.values[i]));
    }
    values.emplace(given.name, tensor);
  }
  const std::vector<Value> outputs = model->graph.outputs;
  return ValuesOf(
      EvaluateValues(model->graph, outputs, values, /*all_double=*/false)[0]);
}

void CheckFound(const OneNode& one, const Numbers& found,
                const Numbers& expected) {
  CAPTURE(one.op);
  REQUIRE(found.size() == expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    if (std::isnan(expected[i])) {
      CHECK(std::isnan(found[i]));
    } else if (std::isinf(expected[i]) || expected[i] == 0) {
      CHECK(found[i] == expected[i]);
    } else {
      CHECK(found[i] == doctest::Approx(expected[i]).epsilon(1e-6));
    }
  }
}

void CheckValues(const OneNode& one, const Numbers& expected) {
  CheckFound(one, Computed(one, PartsOf(one)), expected);
}

void CheckNoValues(const OneNode& one, std::string_view words) {
  const std::string message = RefusalOf(PartsOf(one), {}, one.opset);
  CAPTURE(message);
  CHECK(message.find(words) != std::string::npos);
}

TEST_CASE("onnx values: infinity in what is not chosen, and as the greatest") {
  const Given x = {.name = "x", .dims = {3}, .values = {-kInf, 0.25, kInf}};
  CheckValues({.op = "ThresholdedRelu", .inputs = {x}}, {0, 0, kInf});
  CheckValues({.op = "Shrink", .inputs = {x}}, {-kInf, 0, kInf});
  const auto sum_of = [](Numbers values, double expected) {
    const auto count = static_cast<int64_t>(values.size());
    CheckValues({.op = "ReduceLogSumExp",
                 .inputs = {{.name = "x", .dims = {count}, .values = values}},
                 .attributes = {IntAttr("keepdims", 0)}},
                {expected});
  };
  sum_of({-kInf, -kInf}, -kInf);
  sum_of({kInf, 1}, kInf);
  sum_of({-kInf, 1}, 1);
  sum_of({1000, 1000}, 1000 + std::log(2.0));
}

// ReLU6 as PyTorch's exporter writes it is the operator that layers are fused with.
TEST_CASE("onnx values: bounds that are known make one operator") {
  const auto clip = [](float low, float high) {
    return OneNode{
        .op = "Clip",
        .inputs = {{.name = "x", .dims = {4}, .values = {-1, 0.5, 7, kInf}}},
        .initializers = {TensorOf<float>("low", kFloat, {}, {low}),
                         TensorOf<float>("high", kFloat, {}, {high})},
        .reads = {"x", "low", "high"}};
  };
  CheckValues(clip(0, 6), {0, 0.5, 6, 6});
  CheckValues(clip(6, 0), {0, 0, 0, 0});
  for (const float low : {0.0f, 7.0f}) {
    const auto model = Build(PartsOf(clip(low, 6)), {}, 21);
    REQUIRE(model.ok());
    CHECK(model->graph.outputs[0].node->Is("clip") == (low < 6));
  }
}

TEST_CASE("onnx values: a pool of what is below all numbers") {
  const Attributes pads = {IntsAttr("kernel_shape", {2}),
                           IntsAttr("pads", {1, 0})};
  const Attributes odd = {IntsAttr("kernel_shape", {2}),
                          IntsAttr("dilations", {2}), IntsAttr("pads", {1, 1})};
  for (const Attributes& attributes : {pads, odd}) {
    CheckValues({.op = "MaxPool",
                 .inputs = {{.name = "x",
                             .dims = {1, 1, 3},
                             .values = {-kInf, -kInf, -kInf}}},
                 .attributes = attributes},
                {-kInf, -kInf, -kInf});
  }
}

TEST_CASE("onnx values: averages of halves whose sum is no half") {
  CheckValues(
      {.op = "AveragePool",
       .inputs = {{.name = "x",
                   .type = kHalf,
                   .dims = {1, 1, 3},
                   .values = {60000, 60000, 20000}}},
       .attributes = {IntsAttr("kernel_shape", {2}), IntsAttr("pads", {1, 0})}},
      {60000, 60000, 40000});
  // Cells that are pads count where that is asked for.
  CheckValues(
      {.op = "AveragePool",
       .inputs = {{.name = "x", .dims = {1, 1, 3}, .values = {2, 4, 6}}},
       .attributes = {IntsAttr("kernel_shape", {2}), IntsAttr("pads", {1, 0}),
                      IntAttr("count_include_pad", 1)}},
      {1, 3, 5});
}

TEST_CASE("onnx values: C's fmod of what it leaves undefined") {
  CheckValues({.op = "Mod",
               .inputs = {{.name = "a",
                           .dims = {6},
                           .values = {5.5, -5.5, kInf, 5, -5, kNan}},
                          {.name = "b",
                           .dims = {6},
                           .values = {0, 2, 2, kInf, -kInf, 1}}},
               .attributes = {IntAttr("fmod", 1)}},
              {kNan, -1.5, kNan, 5, -5, kNan});
}

TEST_CASE("onnx values: powers of two of eight bits") {
  constexpr int kPowers = 24;
  const double least = std::ldexp(1, -127), greatest = std::ldexp(1, 127);
  const Numbers x = {0, 1, 1.1, 1.5, 1.75, 3, kInf, kNan};
  const auto rounded = [&](const char* mode, bool saturates,
                           const Numbers& expected) {
    const OneNode one = {
        .op = "Cast",
        .inputs = {{.name = "x", .dims = {8}, .values = x}},
        .attributes = {IntAttr("to", kPowers), TextAttr("round_mode", mode),
                       IntAttr("saturate", saturates ? 1 : 0)},
        .opset = 24};
    GraphParts parts = PartsOf(one);
    parts.nodes.push_back(
        onnx_model::Node("Cast", {"y"}, {"z"}, {IntAttr("to", kFloat)}));
    parts.outputs = {"z"};
    CheckFound(one, Computed(one, parts), expected);
  };
  rounded("up", true, {least, 1, 2, 2, 2, 4, greatest, kNan});
  rounded("down", true, {least, 1, 1, 1, 1, 2, greatest, kNan});
  rounded("nearest", false, {kNan, 1, 1, 2, 2, 4, kNan, kNan});
}

TEST_CASE("onnx values: one place of the greatest, also beyond 2^11 halves") {
  Numbers values(3000, 1), expected(3000, 0);
  values[2051] = values[2053] = 2;
  expected[2051] = 1;
  CheckValues(
      {.op = "Hardmax",
       .inputs =
           {{.name = "x", .type = kHalf, .dims = {1, 3000}, .values = values}}},
      expected);
}

TEST_CASE("onnx values: whole numbers beyond 2^53 fill a large tensor") {
  const int64_t number = (int64_t{1} << 53) + 1;
  const OneNode one = {
      .op = "ConstantOfShape",
      .inputs = {},
      .attributes = {TensorAttr("value",
                                TensorOf<int64_t>("", kInt64, {1}, {number}))},
      .initializers = {TensorOf<int64_t>("k", kInt64, {1}, {100'000})},
      .reads = {"k"}};
  auto model = Build(PartsOf(one));
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  const std::vector<Value> outputs = model->graph.outputs;
  const auto all =
      EvaluateValues(model->graph, outputs, {}, /*all_double=*/false);
  CHECK(static_cast<int64_t>(all[0].ExactAt(99'999)) == number);
}

TEST_CASE("onnx values: a batch of halves is normalized in float32") {
  // Its mean is 30000, the squares are no halves.
  CheckValues({.op = "BatchNormalization",
               .inputs = {{.name = "x",
                           .type = kHalf,
                           .dims = {2, 1},
                           .values = {20000, 40000}},
                          {.name = "s", .dims = {1}, .values = {1}},
                          {.name = "b", .dims = {1}, .values = {0.5}},
                          {.name = "m", .dims = {1}, .values = {0}},
                          {.name = "v", .dims = {1}, .values = {1}}},
               .attributes = {IntAttr("training_mode", 1)}},
              {-0.5, 1.5});
}

TEST_CASE("onnx values: operands that do not fit are refused") {
  const Given image = {.name = "x", .dims = {1, 1, 3}};
  CheckNoValues({.op = "ConvTranspose",
                 .inputs = {image,
                            {.name = "w", .dims = {1, 2, 2}},
                            {.name = "b", .dims = {1}}},
                 .attributes = {IntsAttr("pads", {1, 2})}},
                "expected one entry for each of 2 channels");
  CheckNoValues({.op = "LayerNormalization",
                 .inputs = {{.name = "x", .dims = {1, 3}},
                            {.name = "s", .dims = {2, 3}}}},
                "its scale has shape (2, 3)");
  CheckNoValues({.op = "Clip", .inputs = {image, {.name = "low", .dims = {3}}}},
                "expected one element");
  CheckNoValues(
      {.op = "GatherND", .inputs = {image, {.name = "i", .dims = {1, 1}}}},
      "indices are floats");
  CheckNoValues({.op = "Cast",
                 .inputs = {image},
                 .attributes = {IntAttr("to", (int64_t{1} << 32) + 1)}},
                "no type of elements");
  CheckNoValues({.op = "EyeLike",
                 .inputs = {{.name = "x", .dims = {2, 2}}},
                 .attributes = {IntAttr("dtype", kInt4)}},
                "which is not supported");
  CheckNoValues({.op = "BitCast",
                 .inputs = {},
                 .attributes = {IntAttr("to", kUint8)},
                 .initializers = {TensorOf<char>("k", kInt4, {2}, {0x12})},
                 .reads = {"k"},
                 .opset = 26},
                "types of one size");
}

}  // namespace
}  // namespace mxc
