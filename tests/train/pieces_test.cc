// SPDX-License-Identifier: Apache-2.0
// Checkpoints of which each process has written its piece.
#include "runtime/train/pieces.h"

#include <doctest/doctest.h>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "runtime/formats/safetensors.h"
#include "runtime/train/read_parameters.h"
#include "tests/support/temporary_folder.h"

namespace mxc::train {
namespace {

using runtime::Array;
using runtime::ElementType;
using runtime::NamedArray;

NamedArray FloatsFrom(float first, int64_t count) {
  auto array = Array::Allocate(ElementType::kF32, {count});
  REQUIRE(array.ok());
  std::vector<float> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), first);
  std::memcpy(array->bytes().data(), values.data(), array->bytes().size());
  return {"arg:w", std::move(*array)};
}

// A matrix 0, 1, … 11 of which one process has the first five elements, and
// another the rest.
PieceIndex WriteTwo(const test::TemporaryFolder& folder) {
  PieceIndex index;
  PiecedArray& array = index.arrays.emplace_back();
  array.name = "arg:w";
  array.shape = {3, 4};
  for (uint32_t process = 0; process < 2; ++process) {
    const uint64_t begin = process * 5, count = process == 0 ? 5 : 7;
    const std::string name = "net-0001." + PieceExtension(process);
    const auto written = runtime::SaveSafetensors(
        folder.File(name),
        std::vector{
            FloatsFrom(static_cast<float>(begin), static_cast<int64_t>(count))},
        runtime::FileWriter::Sync::kNo);
    REQUIRE(written.ok());
    index.files.push_back({name, written->checksum});
    array.pieces.push_back({process, written->begin, begin, count});
  }
  return index;
}

std::string Write(const test::TemporaryFolder& folder,
                  const PieceIndex& index) {
  const std::string path = folder.File("net-0001.pieces.json");
  REQUIRE(WritePieceIndex(path, index, runtime::FileWriter::Sync::kNo).ok());
  return path;
}

TEST_CASE("pieces: arrays are read whole, and any part of them") {
  const test::TemporaryFolder folder("pieces");
  const std::string path = Write(folder, WriteTwo(folder));
  CHECK(CheckPieces(path).ok());
  const auto arrays = ReadParameters(path);
  REQUIRE(arrays.ok());
  REQUIRE(arrays->size() == 1);
  CHECK(arrays->front().name == "arg:w");
  CHECK(arrays->front().array.shape == std::vector<int64_t>{3, 4});
  const auto* values =
      reinterpret_cast<const float*>(arrays->front().array.bytes().data());
  for (int i = 0; i < 12; ++i) CHECK(values[i] == static_cast<float>(i));

  const auto pieces = OpenPieces::Open(path);
  REQUIRE(pieces.ok());
  for (uint64_t begin = 0; begin < 12; ++begin) {
    for (uint64_t count = 0; begin + count <= 12; ++count) {
      std::vector<float> part(count);
      pieces->Copy(pieces->arrays().front(), begin * sizeof(float),
                   std::as_writable_bytes(std::span(part)));
      for (uint64_t i = 0; i < count; ++i) {
        CHECK(part[i] == static_cast<float>(begin + i));
      }
    }
  }
}

TEST_CASE("pieces: an index that does not tell of its files is refused") {
  const test::TemporaryFolder folder("pieces");
  const PieceIndex good = WriteTwo(folder);
  const auto refuses = [&](auto change, const char* why) {
    PieceIndex index = good;
    change(index);
    const auto opened = OpenPieces::Open(Write(folder, index));
    REQUIRE_MESSAGE(!opened.ok(), why);
    CHECK_MESSAGE(opened.status().message().find(why) != std::string::npos,
                  opened.status().message());
  };
  refuses([](PieceIndex& index) { index.files[1].name = "../x"; },
          "beside the index");
  refuses([](PieceIndex& index) { index.files[1].name = "none"; }, "none");
  refuses([](PieceIndex& index) { index.arrays[0].pieces.pop_back(); },
          "leave elements out");
  refuses([](PieceIndex& index) { index.arrays[0].pieces[1].begin = 4; },
          "one behind the other");
  refuses([](PieceIndex& index) { index.arrays[0].pieces[1].count = 8; },
          "one behind the other");
  refuses([](PieceIndex& index) { index.arrays[0].pieces[1].file = 2; },
          "one behind the other");
  refuses([](PieceIndex& index) { index.arrays[0].pieces[1].at += 1; },
          "no such piece of 'arg:w'");
  refuses([](PieceIndex& index) { index.arrays[0].shape = {1, INT64_MAX}; },
          "huge");
  refuses(
      [](PieceIndex& index) { index.arrays.push_back(index.arrays.front()); },
      "appears twice");
  // Elements that stand in several arrays would take memory without limit.
  refuses(
      [](PieceIndex& index) {
        for (int i = 0; i < 100; ++i) {
          index.arrays.push_back(index.arrays.front());
          index.arrays.back().name += std::to_string(i);
        }
      },
      "no such piece");
}

TEST_CASE("pieces: a file that is another one is told") {
  const test::TemporaryFolder folder("pieces");
  const std::string path = Write(folder, WriteTwo(folder));
  const auto other = runtime::SaveSafetensors(
      folder.File("net-0001." + PieceExtension(1)),
      std::vector{FloatsFrom(6, 7)}, runtime::FileWriter::Sync::kNo);
  REQUIRE(other.ok());
  const Status status = CheckPieces(path);
  CHECK(status.code() == StatusCode::kCorrupt);
  CHECK(status.message().find("piece-1.safetensors is damaged") !=
        std::string::npos);
}

}  // namespace
}  // namespace mxc::train
