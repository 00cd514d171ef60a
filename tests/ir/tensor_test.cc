// SPDX-License-Identifier: Apache-2.0
#include "ir/graph/tensor.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <iterator>
#include <vector>

#include "ir/support/diagnostic.h"

namespace mxc {
namespace {

TEST_CASE("half precision: every value survives, rounding is to nearest even") {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = HalfToFloat(half);
    if (std::isnan(value)) continue;
    REQUIRE(FloatToHalf(value) == half);
  }
  CHECK(HalfToFloat(0x3c00) == 1.0f);
  CHECK(HalfToFloat(0x0001) == std::ldexp(1.0f, -24));
  CHECK(FloatToHalf(1.0f + std::ldexp(1.0f, -11)) == 0x3c00);  // tie to even
  CHECK(FloatToHalf(1.0f + 3 * std::ldexp(1.0f, -11)) == 0x3c02);
  CHECK(FloatToHalf(65519.0f) == 0x7bff);
  CHECK(FloatToHalf(65520.0f) == 0x7c00);
}

TEST_CASE("stores saturate instead of overflowing") {
  std::byte bytes[8];
  StoreElement(bytes, DType::kU8, 300);
  CHECK(LoadElement(bytes, DType::kU8) == 255);
  StoreElement(bytes, DType::kI8, -1e30);
  CHECK(LoadElement(bytes, DType::kI8) == -128);
  StoreElement(bytes, DType::kI32, -2.9);
  CHECK(LoadElement(bytes, DType::kI32) == -2);
  StoreElement(bytes, DType::kBF16, 1.00390625);  // a tie: to even
  CHECK(LoadElement(bytes, DType::kBF16) == 1.0);
}

TEST_CASE("products that would overflow are refused") {
  CHECK(CheckedProduct({1 << 30, 1 << 30}) == int64_t{1} << 60);
  CHECK_FALSE(CheckedProduct({1 << 30, 1 << 30, 8}).has_value());
  CHECK(CheckedProduct({1 << 30, 0, 1 << 30, 1 << 30}) == 0);
  CHECK_FALSE(CheckedProduct({-1, 4}).has_value());
}

TEST_CASE("what no tensor can be is said") {
  CHECK_FALSE(Unfit({DType::kF32, Shape{}}));
  CHECK_FALSE(Unfit({DType::kF32, Shape{1, Shape::kUnknownDim}}));
  CHECK_FALSE(Unfit({DType::kF32, Shape(Extents(kMaxTensorRank, 1))}));
  CHECK(Unfit({DType::kF32, Shape(Extents(kMaxTensorRank + 1, 1))}) ==
        "a shape of 9 axes; at most 8 are supported");
  CHECK(Unfit({DType::kF32, Shape{Shape::kUnknownDim, 0}}) ==
        "shape (?, 0), which has no elements; expected extents from 1");
  // 2^47 bytes and no more, products beyond 2^63 included
  const int64_t half = int64_t{1} << 23, most = int64_t{1} << 24;
  CHECK_FALSE(Unfit({DType::kU8, Shape{half, most}}));
  CHECK_FALSE(Unfit({DType::kF32, Shape{half / 4, most}}));
  CHECK(Unfit({DType::kF32, Shape{half, most}}).has_value());
  CHECK(Unfit({DType::kUnknown, Shape{most, most}}).has_value());
  CHECK(Unfit({DType::kU8, Shape{INT64_MAX, INT64_MAX}}).has_value());
}

TEST_CASE("elements of a deferred tensor are made when they are asked for") {
  int made = 0;
  const TensorType type{DType::kF32, Shape{2}};
  const Tensor tensor = Tensor::Deferred(type, [&] {
    ++made;
    return Tensor::FromFloats(Shape{2}, std::vector<float>{1, 2});
  });
  const Tensor copy = tensor;
  CHECK(tensor.type() == type);
  CHECK(tensor.size_bytes() == 8);
  CHECK_FALSE(tensor.empty());
  CHECK(made == 0);
  CHECK(copy.At(1) == 2);
  CHECK(tensor.floats()[0] == 1);
  CHECK(made == 1);
}

TEST_CASE("the first errors are kept, all are counted") {
  Diagnostics errors;
  for (int i = 0; i < 51; ++i) {
    errors.push_back({{}, "wrong " + std::to_string(i), {}});
  }
  CHECK(errors.size() == 51);
  CHECK(std::distance(errors.begin(), errors.end()) == 50);
  CHECK(NotShown(errors) == "1 more error is not shown");
  Diagnostics both = errors;
  both.Append(errors);
  CHECK(both.size() == 102);
  CHECK(NotShown(both) == "52 more errors are not shown");
  CHECK(Render(both).ends_with("52 more errors are not shown\n102 errors\n"));
  Diagnostics one = {{{}, std::string(1 << 20, 'x'), {}}};
  CHECK(one[0].message.size() < Diagnostics::kMostBytes + 8);
  CHECK(NotShown(one).empty());
}

TEST_CASE("an error holds no control character but its line feeds") {
  auto file = std::make_shared<SourceFile>();
  file->path = "a\x1b.json";
  file->text = "\"\x1b\"\n";
  const Diagnostic d = {
      {file, 1, 1, 3, "nodes.\x7f"}, "operator 'a\nb\xc2\x9b'", {"\x1b[0m"}};
  CHECK(Render(d) ==
        "a\\u001b.json:1:1: error: operator 'a\\u000ab\\u009b'\n"
        "  1 | \"?\"\n"
        "    | ^~~\n"
        "  at nodes.\\u007f; \\u001b[0m\n");
}

TEST_CASE("an error points into the user's file") {
  auto file = std::make_shared<SourceFile>();
  file->path = "net.json";
  file->text = "{\n  \"kernel\": \"(3, x)\"\n}\n";
  Diagnostic d;
  d.loc.file = file;
  d.loc.line = 2;
  d.loc.column = 13;
  d.loc.length = 8;
  d.loc.path = "nodes[1].attrs.kernel";
  d.message = "kernel is '(3, x)', expected integers";
  d.notes = {"in operator Convolution"};
  CHECK(Render(d) ==
        "net.json:2:13: error: kernel is '(3, x)', expected integers\n"
        "  2 |   \"kernel\": \"(3, x)\"\n"
        "    |             ^~~~~~~~\n"
        "  at nodes[1].attrs.kernel; in operator Convolution\n");
}

}  // namespace
}  // namespace mxc
