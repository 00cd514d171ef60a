// SPDX-License-Identifier: Apache-2.0
#include "runtime/formats/ndarray_list.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "runtime/formats/npy.h"
#include "tests/support/archive.h"
#include "tests/support/shared.h"

namespace mxc::runtime {
namespace {

using Arrays = StatusOr<std::vector<NamedArray>>;

// Bytes as MXNet puts them together.
class FileBytes {
 public:
  template <class T>
  FileBytes& Add(T value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  FileBytes& List(uint64_t count) {
    return Add<uint64_t>(0x112).Add<uint64_t>(0).Add(count);
  }
  FileBytes& Context(int32_t flag) {
    return Add<int32_t>(2).Add<int32_t>(0).Add(flag);
  }
  FileBytes& Name(const std::string& name) {
    Add<uint64_t>(name.size());
    text_ += name;
    return *this;
  }
  Arrays Parse() const {
    return ParseNdarrayList(std::as_bytes(std::span(text_)));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

float FirstFloat(const Array& array) {
  float value = 0;
  std::memcpy(&value, array.bytes().data(), sizeof value);
  return value;
}

TEST_CASE("ndarray list: records of every generation in one file") {
  FileBytes file;
  file.List(4);
  file.Add<uint32_t>(2).Add<uint32_t>(1).Add<uint32_t>(1).Context(0).Add(1.5f);
  file.Add(0xF993fac8u).Add<uint32_t>(1).Add<int64_t>(1).Context(0).Add(2.5f);
  file.Add(0xF993fac9u).Add<int32_t>(0).Add<int32_t>(1).Add<int64_t>(1);
  file.Context(0).Add(3.5f);
  file.Add(0xF993facau).Add<int32_t>(0).Add<int32_t>(0).Context(0).Add(4.5f);
  file.Add<uint64_t>(4);
  for (const char* name : {"arg:a", "aux:b", "c:d:e", ""}) file.Name(name);
  const auto arrays = file.Parse();
  REQUIRE(arrays.ok());
  REQUIRE(arrays->size() == 4);
  for (int i = 0; i < 4; ++i) {
    CHECK(FirstFloat((*arrays)[i].array) == 1.5f + static_cast<float>(i));
  }
  CHECK((*arrays)[0].array.shape == std::vector<int64_t>{1, 1});
  CHECK((*arrays)[3].array.shape.empty());
  CHECK((*arrays)[2].name == "c:d:e");
}

TEST_CASE("ndarray list: what is written is read") {
  const std::string path =
      (std::filesystem::temp_directory_path() / "mxc_list_test.params")
          .string();
  std::vector<NamedArray> written;
  for (int flag = 0; flag <= 12; ++flag) {
    auto array = Array::Allocate(*ElementTypeFromFlag(flag), {3, flag % 2 + 1});
    std::memset(array->storage.get(), flag + 1, array->bytes().size());
    written.push_back({"arg:" + std::to_string(flag), *array});
  }
  written.push_back({"scalar", *Array::Allocate(ElementType::kU8, {})});
  REQUIRE(WriteNdarrayList(path, written).ok());
  const auto read = ReadNdarrayList(path);
  REQUIRE(read.ok());
  REQUIRE(read->size() == written.size());
  for (size_t i = 0; i < written.size(); ++i) {
    const Array &a = written[i].array, &b = (*read)[i].array;
    CHECK(written[i].name == (*read)[i].name);
    CHECK(a.type == b.type);
    CHECK(a.shape == b.shape);
    CHECK(std::memcmp(a.bytes().data(), b.bytes().data(), a.bytes().size()) ==
          0);
  }
  CHECK_FALSE(std::filesystem::exists(path + ".tmp"));
  std::filesystem::remove(path);
  CHECK(WriteNdarrayList("/proc/nowhere/x.params", written).code() ==
        StatusCode::kNotFound);
}

TEST_CASE("ndarray list: elements that lie in a file are written as others") {
  const std::vector<float> values = {1, -2, 3.5F, 0, 7, 8};
  auto made = NamelessFile::Create();
  REQUIRE(made.ok());
  const auto file = std::make_shared<const NamelessFile>(std::move(*made));
  const std::string before = "what is before it";
  REQUIRE(write(file->descriptor(), before.data(), before.size()) ==
          static_cast<ssize_t>(before.size()));
  const auto bytes = std::as_bytes(std::span(values));
  REQUIRE(write(file->descriptor(), bytes.data(), bytes.size()) ==
          static_cast<ssize_t>(bytes.size()));
  Array array{ElementType::kF32, {2, 3}, nullptr};
  array.in_file = std::make_shared<const FilePiece>(
      FilePiece{file, before.size(), bytes.size()});
  const std::string path =
      (std::filesystem::temp_directory_path() / "in_file.params").string();
  const std::vector<NamedArray> named = {{"arg:w", array}};
  REQUIRE(WriteNdarrayList(path, named).ok());
  const auto read = ReadNdarrayList(path);
  std::filesystem::remove(path);
  REQUIRE(read.ok());
  REQUIRE(read->size() == 1);
  CHECK((*read)[0].name == "arg:w");
  CHECK((*read)[0].array.shape == std::vector<int64_t>{2, 3});
  CHECK(std::ranges::equal((*read)[0].array.bytes(), bytes));
}

TEST_CASE("ndarray list: all sparse and empty arrays are named at once") {
  FileBytes file;
  file.List(3);
  file.Add(0xF993fac9u).Add<int32_t>(1);                // row_sparse
  file.Add<int32_t>(1).Add<int64_t>(1);                 // one stored value
  file.Add<int32_t>(1).Add<int64_t>(int64_t{1} << 40);  // of very many
  file.Context(0).Add<int32_t>(6).Add<int32_t>(1).Add<int64_t>(1);
  file.Add(1.0f).Add<int64_t>(7);
  file.Add(0xF993fac9u).Add<int32_t>(-1).Add<int32_t>(0);  // no value
  file.Add(0xF993facau).Add<int32_t>(0).Add<int32_t>(1).Add<int64_t>(-1);
  file.Add<uint64_t>(3).Name("x").Name("y").Name("z");
  const auto arrays = file.Parse();
  REQUIRE_FALSE(arrays.ok());
  CHECK(arrays.status().code() == StatusCode::kUnsupported);
  CHECK(arrays.status().message() ==
        "array 'x' is stored as row_sparse; array 'y' has no value: it was "
        "saved uninitialised; array 'z' has no value: it was saved "
        "uninitialised (dense arrays are read)");
}

TEST_CASE("ndarray list: a file that lies about its sizes is refused") {
  const auto message = [](const FileBytes& file) {
    const auto arrays = file.Parse();
    REQUIRE_FALSE(arrays.ok());
    return arrays.status().message();
  };
  CHECK(message(FileBytes().Add<uint64_t>(0x113)).find("0x112") !=
        std::string::npos);
  CHECK(message(FileBytes().List(uint64_t{1} << 60)) ==
        "array 0 of 1152921504606846976 (from byte 24): the file ends inside "
        "its first word, at byte 24");
  CHECK(message(FileBytes().List(1).Add<uint32_t>(1u << 30)) ==
        "array 0 of 1 (from byte 24): rank 1073741824 is not possible");
  CHECK(message(FileBytes().List(0).Add<uint64_t>(2)) ==
        "0 arrays, but 2 names");
  for (const char* name :
       {"arg:\xff", "\xc3", "\xa9", "\xe2\x82(", "\xc0\xaf"}) {
    FileBytes file;
    file.List(1).Add<uint32_t>(1).Add<uint32_t>(1).Context(0).Add(1.5f);
    CHECK(message(file.Add<uint64_t>(1).Name(name)) == "name 0 is no UTF-8");
  }
}

TEST_CASE("ndarray list: damaged files never crash") {
  FileBytes file;
  file.List(2);
  for (int i = 0; i < 2; ++i) {
    file.Add(0xF993fac9u).Add<int32_t>(0).Add<int32_t>(2);
    file.Add<int64_t>(2).Add<int64_t>(2).Context(0);
    for (int k = 0; k < 4; ++k) file.Add(1.0f);
  }
  file.Add<uint64_t>(2).Name("arg:weight").Name("aux:mean");
  REQUIRE(file.Parse().ok());
  for (size_t size = 0; size < file.text().size(); ++size) {
    const std::string cut = file.text().substr(0, size);
    CHECK_FALSE(ParseNdarrayList(std::as_bytes(std::span(cut))).ok());
  }
  std::mt19937 random(7);
  for (int seed = 0; seed < 5000; ++seed) {
    std::string damaged = file.text();
    for (int i = 0; i < 1 + seed % 4; ++i) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    const auto arrays = ParseNdarrayList(std::as_bytes(std::span(damaged)));
    CHECK((arrays.ok() || !arrays.status().message().empty()));
  }
}

TEST_CASE("ndarray list: MXNet's own files" * doctest::test_suite("shared")) {
  const std::string shared = SharedFolder();
  if (shared.empty()) {
    MESSAGE("skipped: no shared cases");
    return;
  }
  const auto legacy =
      ReadNdarrayList(shared + "/cases/mxnet/_legacy/legacy_ndarray.v0");
  REQUIRE(legacy.ok());
  CHECK(legacy->size() == 6);
  const auto bad = ReadArchive(shared + "/cases/mxnet-bad/files.tar.gz");
  REQUIRE(bad.has_value());
  int refused = 0, accepted = 0;
  for (const auto& [name, text] : *bad) {
    if (!name.ends_with(".params")) continue;
    const bool ok = ParseNdarrayList(std::as_bytes(std::span(text))).ok();
    ++(ok ? accepted : refused);
    const bool old_format = name.ends_with("params-v1.params") ||
                            name.ends_with("params-legacy.params") ||
                            name.ends_with("params-mixed.params") ||
                            name.ends_with("params-good.params");
    if (old_format) CHECK_MESSAGE(ok, name);
  }
  CHECK(refused == 20);
  CHECK(accepted == 10);
}

}  // namespace
}  // namespace mxc::runtime
