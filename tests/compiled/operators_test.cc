// SPDX-License-Identifier: Apache-2.0
// Every public operator, with attributes and shapes drawn from what it declares
// of them, in each element type that it takes: compiled code against the
// interpreter on the network as required passes alone leave it.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph/supported.h"
#include "tests/cases/engine.h"
#include "tests/cases/other_machine.h"
#include "tests/ir/op_draw.h"
#include "tests/ir/op_run.h"

namespace mxc {
namespace {

using Inputs = std::map<std::string, Tensor>;

constexpr uint32_t kDraws = 60;  // until one is legal and small
constexpr int64_t kMostElements = 1000;

bool IsSmall(const Node& node) {
  std::vector<TensorType> types = node.types;
  for (const Value& input : node.inputs) types.push_back(input.type());
  return std::ranges::all_of(types, [](const TensorType& type) {
    const auto count =
        type.known() ? CheckedProduct(type.shape.dims()) : std::nullopt;
    return count && *count >= 1 && *count <= kMostElements;
  });
}

// Small numbers of both signs, which any type holds.
Tensor DrawValues(const TensorType& type, Draw& draw) {
  std::vector<double> values;
  for (int64_t i = 0; i < type.shape.elements(); ++i) {
    const double step = IsFloat(type.dtype) ? 4 : 1;
    values.push_back(static_cast<double>(draw.Number(-6, 6)) / step);
  }
  return TypedTensor(type.dtype, type.shape, values);
}

struct OperatorCase {
  const Operator* op;
  std::vector<AttrText> attrs;
  std::vector<TensorType> types;
  Inputs inputs;
  std::string text;  // to find it again

  OneNode Build() const {
    OneNode one = BuildOneNode(op->name, attrs, types, /*training=*/false);
    for (size_t i = 0; i < one.graph.outputs.size(); ++i) {
      one.graph.output_names.push_back(fmt::format("out{}", i));
    }
    return one;
  }
};

// Nothing where what was drawn is refused.
std::optional<OperatorCase> DrawCase(const Operator& op, DType dtype,
                                     uint32_t seed) {
  Draw draw(seed, Manner::kTame);
  const std::vector<AttrText> attrs = DrawAttrs(op, draw);
  const int count = CountInputs(op, attrs);
  if (count < 0) return std::nullopt;
  std::vector<TensorType> types;
  for (Shape& shape : DrawShapes(draw, count)) {
    types.push_back({types.empty() ? dtype : DType::kUnknown, shape});
  }
  OperatorCase drawn{&op, attrs, types, {}, ""};
  const OneNode one = drawn.Build();
  if (!one.error.empty() || !IsSmall(*one.node)) return std::nullopt;
  if (op.random && op.random(one.node->attrs.get(), false)) return std::nullopt;
  for (const Value& input : one.node->inputs) {
    drawn.inputs[input.node->name] = DrawValues(input.type(), draw);
  }
  drawn.text = fmt::format("{} {} seed {}", op.name, ShortName(dtype), seed);
  return drawn;
}

// The largest difference, of the largest number; NaN and infinities must agree.
double DistanceOf(const Tensor& found, const Tensor& expected) {
  double difference = 0, size = 1;
  for (int64_t i = 0; i < expected.shape().elements(); ++i) {
    const double f = found.At(i), e = expected.At(i);
    if (f == e || (std::isnan(f) && std::isnan(e))) continue;
    if (!std::isfinite(f) || !std::isfinite(e)) return HUGE_VAL;
    difference = std::max(difference, std::abs(f - e));
    size = std::max(size, std::abs(e));
  }
  return difference / size;
}

double ToleranceOf(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return 1e-7;  // some compute positions in f32, as MXNet does
    case DType::kF32:
      return 1e-5;
    case DType::kF16:
      return 2e-3;  // two units of the last place
    case DType::kBF16:
      return 1.6e-2;  // likewise
    default:
      return 0;
  }
}

// An f32 just below an integer or a half, where the interpreter has that number,
// becomes the integer below; and the other way round.
bool CutsFloats(std::string_view op) {
  return op == "erf" || op == "_contrib_requantize" || op == "_image_resize";
}

bool SameBytes(const Tensor& a, const Tensor& b) {
  return std::memcmp(a.bytes(), b.bytes(), a.size_bytes()) == 0;
}

// What another processor has computed, beside this one on vectors of 16 bytes:
// returns whether the bytes are the same.
bool AsHere(const OperatorCase& drawn, const std::vector<Tensor>& found) {
  EngineOptions here;
  here.engine = "compiled";
  here.target = "x86-64-v2";
  here.here = true;
  const auto expected = RunGraph(drawn.Build().graph, drawn.inputs, here);
  REQUIRE_MESSAGE(expected.ok(), Render(expected.errors()));
  return std::ranges::equal(found, *expected, SameBytes);
}

void Compare(const OperatorCase& drawn) {
  CAPTURE(drawn.text);
  EngineOptions plain, compiled;
  plain.level = 0;
  compiled.engine = "compiled";
  const auto expected = RunGraph(drawn.Build().graph, drawn.inputs, plain);
  const auto found = RunGraph(drawn.Build().graph, drawn.inputs, compiled);
  REQUIRE_MESSAGE(expected.ok(), Render(expected.errors()));
  test::OtherMachine* const other = test::OtherMachine::Get();
  if (!found.ok() && other != nullptr && other->LeavesOut()) {
    fmt::print("left out: {}\n", drawn.text);
    return;
  }
  REQUIRE_MESSAGE(found.ok(), Render(found.errors()));
  REQUIRE(found->size() == expected->size());
  for (size_t k = 0; k < found->size(); ++k) {
    CAPTURE(k);
    REQUIRE((*found)[k].type() == (*expected)[k].type());
    const bool cut = CutsFloats(drawn.op->name);
    CHECK(DistanceOf((*found)[k], (*expected)[k]) <=
          (cut ? 1 : ToleranceOf((*found)[k].type().dtype)));
  }
  if (other == nullptr) return;
  if (!AsHere(drawn, *found)) fmt::print("other bytes: {}\n", drawn.text);
}

bool IsPublic(const Operator& op) {
  return !op.internal && !op.call &&
         !op.name.starts_with("_convolution_backward") && CanBeCompiled(op);
}

// How many were compared.
int CompareAll(DType dtype) {
  int compared = 0;
  for (const Operator* op : AllOperators()) {
    if (!IsPublic(*op)) continue;
    for (uint32_t seed = 1; seed <= kDraws; ++seed) {
      const auto drawn = DrawCase(*op, dtype, seed);
      if (!drawn) continue;
      Compare(*drawn);
      ++compared;
      break;
    }
  }
  fmt::print("{} operators in {}\n", compared, MxnetName(dtype));
  return compared;
}

TEST_CASE("operators compiled as interpreted, in float32") {
  CHECK(CompareAll(DType::kF32) >= 250);
}

TEST_CASE("operators compiled as interpreted, in float64") {
  CHECK(CompareAll(DType::kF64) >= 200);
}

TEST_CASE("operators compiled as interpreted, in float16") {
  CHECK(CompareAll(DType::kF16) >= 200);
}

TEST_CASE("operators compiled as interpreted, in bfloat16") {
  CHECK(CompareAll(DType::kBF16) >= 200);
}

TEST_CASE("operators compiled as interpreted, in int32") {
  CHECK(CompareAll(DType::kI32) >= 150);
}

TEST_CASE("operators compiled as interpreted, in int64") {
  CHECK(CompareAll(DType::kI64) >= 150);
}

TEST_CASE("operators compiled as interpreted, in int8") {
  CHECK(CompareAll(DType::kI8) >= 150);
}

TEST_CASE("operators compiled as interpreted, in uint8") {
  CHECK(CompareAll(DType::kU8) >= 150);
}

TEST_CASE("operators compiled as interpreted, in bool") {
  CHECK(CompareAll(DType::kBool) >= 100);
}

}  // namespace
}  // namespace mxc
