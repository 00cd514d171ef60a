// SPDX-License-Identifier: Apache-2.0
// The formats that are only written: .npz and .safetensors.
#include <doctest/doctest.h>
#include <zlib.h>

#include <cstring>
#include <filesystem>

#include "runtime/formats/npy.h"
#include "runtime/formats/npz.h"
#include "runtime/formats/safetensors.h"
#include "tests/support/shared.h"
#include "tests/support/temporary_folder.h"

namespace mxc::runtime {
namespace {

using test::TemporaryPath;

std::vector<NamedArray> TwoArrays() {
  auto a = Array::Allocate(ElementType::kF32, {2});
  auto b = Array::Allocate(ElementType::kU8, {3, 1});
  const float values[] = {1.5f, -2.0f};
  std::memcpy(a->storage.get(), values, sizeof values);
  std::memcpy(b->storage.get(), "xyz", 3);
  return {{"weight", *a}, {"a\"b", *b}};
}

template <class T>
T At(const std::string& text, size_t offset) {
  T value;
  REQUIRE(offset + sizeof value <= text.size());
  std::memcpy(&value, text.data() + offset, sizeof value);
  return value;
}

TEST_CASE("npz: no name of a member leads out of the folder") {
  const std::string path = TemporaryPath("mxc_names_test.npz");
  std::vector<NamedArray> arrays = TwoArrays();
  arrays[0].name = "../../tmp/x";
  arrays[1].name = "/a\\\x1b%";
  REQUIRE(WriteNpz(path, arrays).ok());
  const std::string file = ReadText(path);
  std::filesystem::remove(path);
  CHECK(file.find("..%2F..%2Ftmp%2Fx.npy") != file.npos);
  CHECK(file.find("%2Fa%5C%5Cu001b%25.npy") != file.npos);
  CHECK(file.find("../") == file.npos);
}

TEST_CASE("npz: a zip directory of members that are npy files") {
  const std::string path = TemporaryPath("mxc_archives_test.npz");
  const auto arrays = TwoArrays();
  REQUIRE(WriteNpz(path, arrays).ok());
  const std::string file = ReadText(path);
  std::filesystem::remove(path);
  const size_t end = file.size() - 22;
  REQUIRE(At<uint32_t>(file, end) == 0x06054b50);
  CHECK(At<uint16_t>(file, end + 10) == 2);
  size_t entry = At<uint32_t>(file, end + 16);
  for (const NamedArray& array : arrays) {
    REQUIRE(At<uint32_t>(file, entry) == 0x02014b50);
    const auto crc = At<uint32_t>(file, entry + 16);
    const auto size = At<uint32_t>(file, entry + 24);
    const auto name_size = At<uint16_t>(file, entry + 28);
    const auto local = At<uint32_t>(file, entry + 42);
    CHECK(file.substr(entry + 46, name_size) == array.name + ".npy");
    REQUIRE(At<uint32_t>(file, local) == 0x04034b50);
    const std::string member = file.substr(local + 30 + name_size, size);
    CHECK(crc == crc32(0, reinterpret_cast<const Bytef*>(member.data()), size));
    const auto read = ParseNpy(std::as_bytes(std::span(member)));
    REQUIRE(read.ok());
    CHECK(read->shape == array.array.shape);
    CHECK(std::memcmp(read->bytes().data(), array.array.bytes().data(),
                      read->bytes().size()) == 0);
    entry += 46 + name_size;
  }
  CHECK(entry == end);
}

TEST_CASE("npz: names must differ, bfloat16 is unknown to NumPy") {
  auto arrays = TwoArrays();
  arrays[1].name = "weight";
  CHECK_FALSE(WriteNpz("/proc/nowhere/x.npz", arrays).ok());
  arrays[1] = {"b", *Array::Allocate(ElementType::kBF16, {1})};
  CHECK(WriteNpz("/proc/nowhere/x.npz", arrays).message().find("bfloat16") !=
        std::string::npos);
}

TEST_CASE("safetensors: header and bytes") {
  const std::string path = TemporaryPath("mxc_archives_test.safetensors");
  REQUIRE(WriteSafetensors(path, TwoArrays()).ok());
  const std::string file = ReadText(path);
  std::filesystem::remove(path);
  const auto size = At<uint64_t>(file, 0);
  CHECK(size % 8 == 0);
  const std::string header = file.substr(8, size);
  CHECK(header.substr(0, header.find_last_not_of(' ') + 1) ==
        R"({"weight":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
        R"("a\"b":{"dtype":"U8","shape":[3,1],"data_offsets":[8,11]}})");
  CHECK(At<float>(file, 8 + size) == 1.5f);
  CHECK(file.substr(8 + size + 8) == "xyz");
}

}  // namespace
}  // namespace mxc::runtime
