// SPDX-License-Identifier: Apache-2.0
#include "runtime/formats/npy.h"

#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>

#include "tests/support/temporary_folder.h"

namespace mxc::runtime {
namespace {

using test::TemporaryPath;

Array Ramp(ElementType type, std::vector<int64_t> shape) {
  auto array = Array::Allocate(type, std::move(shape));
  REQUIRE(array.ok());
  uint8_t next = 1;
  for (std::byte& b : array->bytes()) b = std::byte{next++};
  return *array;
}

std::string File(const std::string& dictionary, const std::string& elements) {
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(dictionary.size() & 0xff);
  file += static_cast<char>(dictionary.size() >> 8);
  return file + dictionary + elements;
}

StatusOr<Array> Parse(const std::string& file) {
  return ParseNpy(std::as_bytes(std::span(file)));
}

TEST_CASE("npy: every element type comes back from a file") {
  const std::string path = TemporaryPath("mxc_npy_test.npy");
  for (int flag = 0; flag <= 11; ++flag) {
    const Array array = Ramp(*ElementTypeFromFlag(flag), {2, 3});
    REQUIRE(WriteNpy(path, array).ok());
    const auto read = ReadNpy(path);
    REQUIRE(read.ok());
    CHECK(read->type == array.type);
    CHECK(read->shape == array.shape);
    CHECK(std::memcmp(read->bytes().data(), array.bytes().data(),
                      array.bytes().size()) == 0);
  }
  CHECK_FALSE(WriteNpy(path, Ramp(ElementType::kBF16, {2})).ok());
  std::filesystem::remove(path);
}

TEST_CASE("npy: headers are NumPy's, byte for byte") {
  const std::string expected =
      std::string("\x93NUMPY\x01\x00\x76\x00", 10) +
      "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }" +
      std::string(60, ' ') + "\n";
  CHECK(*NpyHeader(Ramp(ElementType::kF32, {3})) == expected);
  CHECK(NpyHeader(Ramp(ElementType::kF32, {}))->find("'shape': ()") !=
        std::string::npos);
}

TEST_CASE("npy: scalars, empty arrays, old and new headers") {
  CHECK(Parse(File("{'descr': '<f4', 'fortran_order': False, 'shape': (), }",
                   "abcd"))
            ->shape.empty());
  CHECK(Parse(File("{'shape': (0, 7L), 'fortran_order': True, 'descr': '<i8'}",
                   ""))
            ->shape == std::vector<int64_t>{0, 7});
  CHECK(Parse(File("{\"shape\": (0L,), \"fortran_order\": True,"
                   " \"descr\": \"=i8\"}",
                   ""))
            ->shape == std::vector<int64_t>{0});
}

TEST_CASE("npy: what lies behind the array is told") {
  const std::string one =
      File("{'descr': '|u1', 'fortran_order': False, 'shape': (2,)}", "ab");
  CHECK(Parse(one).ok());
  CHECK(Parse(one + one).status().message() ==
        "npy: " + std::to_string(one.size()) +
            " bytes lie behind the array, which nobody would read");
}

std::string TextOf(const Array& array) {
  const auto bytes = array.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST_CASE("npy: big-endian and column by column become what the rest is") {
  const std::string by_columns = "'fortran_order': True, ";
  // Element (i, j, k) is i·12 + j·4 + k + 'A', the first axis fastest.
  std::string elements, rows;
  for (int k = 0; k < 4; ++k) {
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 2; ++i) {
        elements += static_cast<char>('A' + i * 12 + j * 4 + k);
      }
    }
  }
  for (int n = 0; n < 24; ++n) rows += static_cast<char>('A' + n);
  const auto bytes = Parse(
      File("{'descr': '|u1', " + by_columns + "'shape': (2, 3, 4)}", elements));
  REQUIRE(bytes.ok());
  CHECK(TextOf(*bytes) == rows);
  CHECK(bytes->shape == std::vector<int64_t>{2, 3, 4});
  const auto big = Parse(
      File("{'descr': '>i2', 'fortran_order': False, 'shape': (2,)}", "abcd"));
  REQUIRE(big.ok());
  CHECK(TextOf(*big) == "badc");
  const auto both =
      Parse(File("{'descr': '>f8', " + by_columns + "'shape': (1, 2)}",
                 "abcdefghABCDEFGH"));
  REQUIRE(both.ok());
  CHECK(TextOf(*both) == "hgfedcbaHGFEDCBA");
  CHECK(both->type == ElementType::kF64);
}

TEST_CASE("npy: wrong files get a sentence") {
  const std::string order = "'fortran_order': False, ";
  for (const auto& [file, expected] :
       std::vector<std::pair<std::string, std::string>>{
           {"", "does not start with"},
           {std::string("\x93NUMPY\x09\x00", 8), "version 9"},
           {std::string("\x93NUMPY\x01\x00\xff", 9), "inside the header"},
           {File("{'descr': '<c8', " + order + "'shape': (1,)}", "abcdefgh"),
            "'<c8' is not supported; real numbers are"},
           {File("{'descr': [('a', '<f4')], " + order + "'shape': (1,)}", ""),
            "records with fields"},
           {File("{'descr': '<f4', " + order + "'shape': (2,)}", "abcd"),
            "8 bytes announced, 4 there"},
           {File("{'descr': '<f4', " + order + "'shape': (-2,)}", "abcd"),
            "a value of 'shape'"},
           {File("{'descr': '<f8', " + order +
                     "'shape': (9223372036854775807, 3)}",
                 "abcd"),
            "too many bytes announced"},
           {File("{'descr': '<f4', " + order + "}", "abcd"), "lacks"},
           {File("{'descr': '<f4'", ""), "',' or '}'"}}) {
    const auto array = Parse(file);
    REQUIRE_FALSE(array.ok());
    CAPTURE(array.status().message());
    CHECK(array.status().message().find(expected) != std::string::npos);
  }
  const auto missing = ReadNpy("/nowhere/x.npy");
  CHECK(missing.status().code() == StatusCode::kNotFound);
}

}  // namespace
}  // namespace mxc::runtime
