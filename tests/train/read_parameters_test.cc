// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/read_parameters.h"

#include <doctest/doctest.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "runtime/formats/ndarray_list.h"
#include "runtime/formats/npz.h"
#include "runtime/formats/safetensors.h"
#include "runtime/train/safetensors.h"
#include "tests/support/temporary_folder.h"

namespace mxc::train {
namespace {

using runtime::Array;
using runtime::ElementType;
using runtime::NamedArray;

runtime::Bytes BytesOf(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// A file as the format's description has it: length, header, elements.
std::string FileOf(const std::string& header, const std::string& elements) {
  std::string file(8, '\0');
  const uint64_t length = header.size();
  std::memcpy(file.data(), &length, sizeof length);
  return file + header + elements;
}

constexpr const char* kTwo =
    R"({"__metadata__":{"format":"pt"},)"
    R"("b":{"dtype":"U8","shape":[2],"data_offsets":[4,6]},)"
    R"("a":{"shape":[],"data_offsets":[0,4],"dtype":"F32"}} )";

std::string TwoArrays() {
  const float value = 1.5f;
  std::string elements(reinterpret_cast<const char*>(&value), sizeof value);
  return FileOf(kTwo, elements + "xy");
}

TEST_CASE("safetensors: arrays in the order of the header") {
  const auto arrays = ParseSafetensors(BytesOf(TwoArrays()));
  REQUIRE(arrays.ok());
  REQUIRE(arrays->size() == 2);
  const NamedArray &b = (*arrays)[0], &a = (*arrays)[1];
  CHECK(b.name == "b");
  CHECK(b.array.type == ElementType::kU8);
  CHECK(b.array.shape == std::vector<int64_t>{2});
  CHECK(std::memcmp(b.array.bytes().data(), "xy", 2) == 0);
  CHECK(a.name == "a");
  CHECK(a.array.shape.empty());
  float value = 0;
  std::memcpy(&value, a.array.bytes().data(), sizeof value);
  CHECK(value == 1.5f);
}

TEST_CASE("safetensors: a file that was cut is refused, wherever") {
  const std::string file = TwoArrays();
  for (size_t size = 0; size < file.size(); ++size) {
    CAPTURE(size);
    CHECK_FALSE(ParseSafetensors(BytesOf(file.substr(0, size))).ok());
  }
}

TEST_CASE("safetensors: what is wrong with a header is said") {
  const struct {
    std::string header;
    const char* says;
  } kRows[] = {
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,5]}})", "0 to 5"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})", "4 to 8"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[4,0]}})", "4 to 0"},
      {R"({"a":{"dtype":"F8_E8M0","shape":[4],"data_offsets":[0,4]}})",
       "'F8_E8M0'"},
      {R"({"a":{"dtype":"U8","shape":[4294967296,4294967296],)"
       R"("data_offsets":[0,0]}})",
       "0 to 0"},
      {R"({"a":{"dtype":"U8","shape":[18446744073709551615],)"
       R"("data_offsets":[0,0]}})",
       "huge"},
      {R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,0]}})", "negative"},
      {R"({"a":{"dtype":"U8","data_offsets":[0,1]}})", "lacks"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
       R"("a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})",
       "'a' appears twice"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
       R"("b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})",
       "overlap"},
      {R"({"a":{"dtype":{}}})", "object"},
      {R"({"a":[]})", "list"},
      {R"([])", "damaged"},
      {std::string(1'000'000, '['), "damaged"},
      {R"({"a":)" + std::string(1'000'000, '['), "list"},
      {R"({"a":{"dtype":"U8")", "not JSON at byte"},
  };
  for (const auto& row : kRows) {
    const auto arrays = ParseSafetensors(BytesOf(FileOf(row.header, "1234")));
    CAPTURE(row.header.substr(0, 80));
    REQUIRE_FALSE(arrays.ok());
    CAPTURE(arrays.status().message());
    CHECK(arrays.status().message().find(row.says) != std::string::npos);
  }
}

TEST_CASE("safetensors: floats of 8 bits, unaligned, blanks around") {
  const auto arrays = ParseSafetensors(BytesOf(
      FileOf(R"( {"odd":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
             R"("a":{"dtype":"F8_E4M3","shape":[6],"data_offsets":[1,7]},)"
             R"("b":{"dtype":"F8_E5M2","shape":[2,3],"data_offsets":[7,13]},)"
             R"("c":{"dtype":"BF16","shape":[1],"data_offsets":[13,15]}}  )",
             "x\x38\x7e\x01\x88\xbf\x7f\x3c\x7b\x01\xfc\x84\x7d\x80\x3f")));
  REQUIRE(arrays.ok());
  REQUIRE(arrays->size() == 4);
  const auto floats = [&](size_t i) {
    const Array& array = (*arrays)[i].array;
    REQUIRE(array.type == ElementType::kF32);
    std::vector<float> values(array.bytes().size() / sizeof(float));
    std::memcpy(values.data(), array.bytes().data(), array.bytes().size());
    return values;
  };
  const auto a = floats(1), b = floats(2);
  CHECK(std::vector(a.begin(), a.end() - 1) ==
        std::vector<float>{1, 448, 0x1p-9f, -0x1p-6f, -1.875f});
  CHECK(std::isnan(a[5]));
  CHECK(std::vector(b.begin(), b.end() - 1) ==
        std::vector<float>{1, 57344, 0x1p-16f, -INFINITY, -0x1p-14f});
  CHECK(std::isnan(b[5]));
  CHECK((*arrays)[2].array.shape == std::vector<int64_t>{2, 3});
  CHECK((*arrays)[3].array.type == ElementType::kBF16);
}

std::vector<NamedArray> OneOfEachType(bool bfloat16) {
  std::vector<NamedArray> arrays;
  for (int flag = 0; flag <= (bfloat16 ? 12 : 11); ++flag) {
    auto array = Array::Allocate(*runtime::ElementTypeFromFlag(flag), {3, 2});
    std::memset(array->bytes().data(), 0, array->bytes().size());
    array->bytes()[1] = std::byte{1};
    arrays.push_back({"arg:a/b%\"" + std::to_string(flag), *array});
  }
  return arrays;
}

TEST_CASE("what is written as .params, .npz or .safetensors is read back") {
  const test::TemporaryFolder folder("read-parameters");
  const struct {
    const char* name;
    Status (*write)(const std::string&, std::span<const NamedArray>);
    bool bfloat16;
  } kFormats[] = {{"x.params", &runtime::WriteNdarrayList, true},
                  {"x.npz", &runtime::WriteNpz, false},
                  {"x.safetensors", &runtime::WriteSafetensors, true}};
  for (const auto& format : kFormats) {
    CAPTURE(format.name);
    const auto arrays = OneOfEachType(format.bfloat16);
    const std::string path = folder.File(format.name);
    REQUIRE(format.write(path, arrays).ok());
    const auto read = ReadParameters(path);
    REQUIRE(read.ok());
    REQUIRE(read->size() == arrays.size());
    for (size_t i = 0; i < arrays.size(); ++i) {
      const Array &a = arrays[i].array, &b = (*read)[i].array;
      CHECK((*read)[i].name == arrays[i].name);
      CHECK(b.type == a.type);
      CHECK(b.shape == a.shape);
      REQUIRE(b.bytes().size() == a.bytes().size());
      CHECK(std::memcmp(b.bytes().data(), a.bytes().data(), a.bytes().size()) ==
            0);
    }
  }
}

// Two files with an array each, and an index that says what it is told.
std::string WriteShards(const test::TemporaryFolder& folder,
                        const std::string& map) {
  const auto arrays = OneOfEachType(/*bfloat16=*/true);
  REQUIRE(runtime::WriteSafetensors(folder.File("1.safetensors"),
                                    std::span(arrays).first(1))
              .ok());
  REQUIRE(runtime::WriteSafetensors(folder.File("2.safetensors"),
                                    std::span(arrays).subspan(1, 1))
              .ok());
  const std::string path = folder.File("m.safetensors.index.json");
  test::WriteText(path, map);
  return path;
}

std::string MapOf(const std::string& first, const std::string& second) {
  const auto arrays = OneOfEachType(/*bfloat16=*/true);
  return nlohmann::json{
      {"metadata", {{"total_size", 2}}},
      {"weight_map", {{arrays[0].name, first}, {arrays[1].name, second}}}}
      .dump();
}

TEST_CASE("an index of safetensors: the arrays of all its files") {
  const test::TemporaryFolder folder("read-shards");
  const auto read = ReadParameters(
      WriteShards(folder, MapOf("1.safetensors", "2.safetensors")));
  REQUIRE(read.ok());
  const auto arrays = OneOfEachType(/*bfloat16=*/true);
  REQUIRE(read->size() == 2);
  for (size_t i = 0; i < 2; ++i) CHECK((*read)[i].name == arrays[i].name);
}

TEST_CASE("an index that lies is refused with its path and its mistake") {
  const test::TemporaryFolder folder("read-shards-wrong");
  const auto problem = [&](const std::string& map) {
    const auto read = ReadParameters(WriteShards(folder, map));
    REQUIRE_FALSE(read.ok());
    CHECK(read.status().message().find(folder.path().string()) !=
          std::string::npos);
    return read.status().message();
  };
  const auto says = [&](const std::string& map, const std::string& what) {
    return problem(map).find(what) != std::string::npos;
  };
  CHECK(says("[", "expected an object with \"weight_map\""));
  CHECK(says("{\"weight_map\": 1}", "expected an object"));
  CHECK(says(MapOf("1.safetensors", "../2.safetensors"),
             "expected one beside the index"));
  CHECK(says(MapOf("1.safetensors", "1.safetensors"),
             "which its index promises"));
  CHECK(says(MapOf("1.safetensors", "3.safetensors"), "3.safetensors"));
  CHECK(says("{\"weight_map\": {\"a\": [[[[1]]]]}}",
             "expected one beside the index"));
}

TEST_CASE("a file of another format is refused with its path") {
  const test::TemporaryFolder folder("read-parameters-wrong");
  for (const char* name : {"x.params", "x.npz", "x.safetensors"}) {
    const std::string path = folder.File(name);
    std::ofstream(path) << "no such file";
    const auto read = ReadParameters(path);
    REQUIRE_FALSE(read.ok());
    CHECK(read.status().message().find(path) != std::string::npos);
  }
}

}  // namespace
}  // namespace mxc::train
