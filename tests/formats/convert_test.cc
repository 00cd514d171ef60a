// SPDX-License-Identifier: Apache-2.0
// Expected values follow from IEEE 754's rounding to even and from what x86's
// cvttss2si yields.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "runtime/formats/convert.h"

namespace mxc::runtime {
namespace {

template <class From, class To>
std::vector<To> Converted(ElementType from, const std::vector<From>& values,
                          ElementType to) {
  std::vector<To> result(values.size());
  ConvertElements(from, std::as_bytes(std::span(values)), to,
                  std::as_writable_bytes(std::span(result)));
  return result;
}

using Bits = std::vector<uint16_t>;

TEST_CASE("convert: doubles round to halves once, to even") {
  const std::vector<double> values = {1, -2, 65504, 65520, 65519.9, 0x1p-24,
                                      0x1p-25, 0x1.8p-25, 1e-30, 0.1, -0.0,
                                      INFINITY,
                                      // A tie of halves that float rounding
                                      // would make of what is just above one.
                                      0x1.002p0, 0x1.0020000001p0, 0x1.ffcp-15};
  CHECK(Converted<double, uint16_t>(ElementType::kF64, values,
                                    ElementType::kF16) ==
        Bits{0x3c00, 0xc000, 0x7bff, 0x7c00, 0x7bff, 0x0001, 0x0000, 0x0001,
             0x0000, 0x2e66, 0x8000, 0x7c00, 0x3c00, 0x3c01, 0x0400});
  const auto nan =
      Converted<double, uint16_t>(ElementType::kF64, {NAN}, ElementType::kF16);
  CHECK((nan[0] & 0x7fff) > 0x7c00);
}

TEST_CASE("convert: floats round to bfloat16") {
  const std::vector<float> values = {1,     0x1.01p0f, 0x1.03p0f, 0x1.010002p0f,
                                     -3.5f, INFINITY,  3.4e38f,   0.1f};
  CHECK(Converted<float, uint16_t>(ElementType::kF32, values,
                                   ElementType::kBF16) ==
        Bits{0x3f80, 0x3f80, 0x3f82, 0x3f81, 0xc060, 0x7f80, 0x7f80, 0x3dcd});
}

TEST_CASE("convert: every half and bfloat16 is the float of its value") {
  Bits bits(0x10000);
  for (size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<uint16_t>(i);
  for (const ElementType type : {ElementType::kF16, ElementType::kBF16}) {
    const auto floats =
        Converted<uint16_t, float>(type, bits, ElementType::kF32);
    const auto back =
        Converted<float, uint16_t>(ElementType::kF32, floats, type);
    int wrong = 0;
    for (size_t i = 0; i < bits.size(); ++i) {
      wrong += !std::isnan(floats[i]) && back[i] != bits[i];
    }
    CHECK(wrong == 0);
  }
  CHECK(Converted<uint16_t, float>(ElementType::kF16,
                                   {0x3555, 0x0001, 0x0400, 0xfc00},
                                   ElementType::kF32) ==
        std::vector<float>{0x1.554p-2f, 0x1p-24f, 0x1p-14f, -INFINITY});
}

TEST_CASE("convert: what is no integer is cut, what is out of range wraps") {
  const std::vector<float> values = {-2.93f, 2.93f, 300, -1, NAN, 1e10f, -0.5f};
  CHECK(
      Converted<float, uint8_t>(ElementType::kF32, values, ElementType::kU8) ==
      std::vector<uint8_t>{254, 2, 44, 255, 0, 0, 0});
  CHECK(Converted<float, int8_t>(ElementType::kF32, values, ElementType::kI8) ==
        std::vector<int8_t>{-2, 2, 44, -1, 0, 0, 0});
  constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();
  CHECK(
      Converted<float, int32_t>(ElementType::kF32, values, ElementType::kI32) ==
      std::vector<int32_t>{-2, 2, 300, -1, kLeast, kLeast, 0});
  CHECK(Converted<double, int64_t>(ElementType::kF64, {1e15, -1e15, NAN},
                                   ElementType::kI64) ==
        std::vector<int64_t>{1000000000000000, -1000000000000000,
                             std::numeric_limits<int64_t>::min()});
  CHECK(Converted<double, uint64_t>(ElementType::kF64, {0x1p63, 3.5},
                                    ElementType::kU64) ==
        std::vector<uint64_t>{uint64_t{1} << 63, 3});
  CHECK(Converted<float, uint8_t>(ElementType::kF32, {0, 0.25f, -1, NAN},
                                  ElementType::kBool) ==
        std::vector<uint8_t>{0, 1, 1, 1});
}

TEST_CASE("convert: integers keep their low bits, int64 all of them") {
  const int64_t large = (int64_t{1} << 53) + 1;
  CHECK(Converted<int64_t, uint64_t>(ElementType::kI64, {large, -1},
                                     ElementType::kU64) ==
        std::vector<uint64_t>{9007199254740993u,
                              std::numeric_limits<uint64_t>::max()});
  CHECK(Converted<int64_t, uint8_t>(ElementType::kI64, {257, -1},
                                    ElementType::kU8) ==
        std::vector<uint8_t>{1, 255});
  CHECK(Converted<uint8_t, double>(ElementType::kBool, {0, 1, 7},
                                   ElementType::kF64) ==
        std::vector<double>{0, 1, 1});
}

}  // namespace
}  // namespace mxc::runtime
