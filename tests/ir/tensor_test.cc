// SPDX-License-Identifier: Apache-2.0
#include "ir/graph/tensor.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <vector>

#include "ir/support/diagnostic.h"

namespace mxc {
namespace {

TEST_CASE("half precision: every value survives, rounding is to nearest even") {
  std::byte bytes[2], again[2];
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    std::memcpy(bytes, &half, sizeof half);
    const double value = LoadElement(bytes, DType::kF16);
    if (std::isnan(value)) continue;
    StoreElement(again, DType::kF16, value);
    REQUIRE(std::memcmp(bytes, again, sizeof bytes) == 0);
  }
  const auto rounded = [](double x) { return Rounded(x, DType::kF16); };
  CHECK(rounded(0x1p-24) == 0x1p-24);
  CHECK(rounded(1 + 0x1p-11) == 1);  // tie to even
  CHECK(rounded(1 + 0x3p-11) == 1 + 0x1p-9);
  CHECK(rounded(65519) == 65504);
  CHECK(rounded(65520) == HUGE_VAL);
  CHECK(Rounded(1.00390625, DType::kBF16) == 1.0);  // a tie
}

TEST_CASE("stores cut floats to integers as x86 does") {
  CHECK(Rounded(300, DType::kU8) == 44);
  CHECK(Rounded(-1e30, DType::kI8) == 0);
  CHECK(Rounded(-1e30, DType::kI32) == -0x1p31);
  CHECK(Rounded(-2.9, DType::kI32) == -2);
}

TEST_CASE("halves are accumulated in f32, everything else in itself") {
  CHECK(AccumulateType(DType::kF16) == DType::kF32);
  CHECK(AccumulateType(DType::kBF16) == DType::kF32);
  CHECK(AccumulateType(DType::kF64) == DType::kF64);
  CHECK(AccumulateType(DType::kI8) == DType::kI8);
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
