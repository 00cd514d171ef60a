// SPDX-License-Identifier: Apache-2.0
#include "runtime/formats/recordio.h"

#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <random>

#include "tests/support/archive.h"
#include "tests/support/shared.h"

namespace mxc::runtime {
namespace {

const std::string kMagic("\x0a\x23\xd7\xce", 4);

std::string Written(const std::vector<std::string>& payloads) {
  const std::string path =
      (std::filesystem::temp_directory_path() / "mxc_recordio_test.rec")
          .string();
  RecordWriter writer(path);
  for (const std::string& payload : payloads) {
    REQUIRE(writer.Append(std::as_bytes(std::span(payload))).ok());
  }
  REQUIRE(writer.Commit().ok());
  std::string file = ReadText(path);
  std::filesystem::remove(path);
  return file;
}

std::vector<std::string> ReadAll(const std::string& file, RecordIndex* index) {
  const Bytes bytes = std::as_bytes(std::span(file));
  *index = IndexRecords(bytes);
  std::vector<std::string> payloads;
  for (const uint64_t offset : index->offsets) {
    std::vector<std::byte> joined;
    const auto payload = ReadRecord(bytes, offset, &joined);
    REQUIRE(payload.ok());
    payloads.emplace_back(reinterpret_cast<const char*>(payload->data()),
                          payload->size());
  }
  return payloads;
}

const std::vector<std::string> kPayloads = {"abc",
                                            kMagic,
                                            kMagic + kMagic + kMagic,
                                            "abcd" + kMagic + "efgh",
                                            "abc" + kMagic + "de",
                                            "1234" + kMagic,
                                            kMagic + "xyz",
                                            "",
                                            "xxxxxxxxx"};

TEST_CASE("recordio: what is written is read back, magic numbers too") {
  const std::string file = Written(kPayloads);
  RecordIndex index;
  CHECK(ReadAll(file, &index) == kPayloads);
  CHECK(index.damage.empty());
  CHECK(file.size() % 4 == 0);
  CHECK(ReadAll("", &index).empty());
}

TEST_CASE("recordio: MXNet's file, byte for byte" *
          doctest::test_suite("shared")) {
  const std::string shared = SharedFolder();
  if (shared.empty()) {
    MESSAGE("skipped: no shared cases");
    return;
  }
  const auto archive =
      ReadArchive(shared + "/cases/mxnet-training/iterators.tar.gz");
  REQUIRE(archive);
  CHECK(archive->at("iterators/magic.rec") == Written(kPayloads));
}

TEST_CASE("recordio: reading goes on behind damage") {
  const std::vector<std::string> payloads = {
      "first", "second one", "third", "4", kMagic + "fifth", "sixth"};
  const std::string file = Written(payloads);
  RecordIndex index;
  ReadAll(file, &index);
  const auto offsets = index.offsets;
  std::string damaged = file;
  damaged[offsets[1] + 4] ^= 0x40;  // longer than it is
  auto read = ReadAll(damaged, &index);
  CHECK(read == std::vector<std::string>{"first", "third", "4",
                                         kMagic + "fifth", "sixth"});
  REQUIRE(index.damage.size() == 1);
  CHECK(index.damage[0].begin == offsets[1]);
  CHECK(index.damage[0].end == offsets[2]);
  damaged = file;
  damaged[offsets[4] + 8] ^= 1;  // the magic number of the second part
  read = ReadAll(damaged, &index);
  CHECK(read.back() == "sixth");
  CHECK(read.size() == 5);
  read = ReadAll(file.substr(0, file.size() - 3), &index);
  CHECK(read.size() == 5);
  CHECK(index.damage.size() == 1);
  std::vector<std::byte> joined;
  CHECK_FALSE(
      ReadRecord(std::as_bytes(std::span(file)), offsets[1] + 4, &joined).ok());
}

TEST_CASE("recordio: no damage leads out of the file") {
  const std::string file = Written(kPayloads);
  std::mt19937 random(1);
  for (int i = 0; i < 5000; ++i) {
    std::string damaged = file.substr(0, random() % (file.size() + 1));
    for (int k = 0; k < 3 && !damaged.empty(); ++k) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    RecordIndex index;
    for (const std::string& payload : ReadAll(damaged, &index)) {
      const auto record = ParseImageRecord(std::as_bytes(std::span(payload)));
      CHECK((record.ok() || !record.status().message().empty()));
    }
    uint64_t at = 0;
    for (const DamagedBytes& bytes : index.damage) {
      REQUIRE(at <= bytes.begin);
      REQUIRE(bytes.begin < bytes.end);
      at = bytes.end;
    }
    REQUIRE(at <= damaged.size());
  }
}

TEST_CASE("recordio: a picture's header, one label and several") {
  const std::string content = "picture";
  for (const std::vector<float>& labels :
       {std::vector<float>{4}, std::vector<float>{1, 2.5, -3}}) {
    const ImageRecord record{labels, 17, 3, std::as_bytes(std::span(content))};
    const auto payload = PackImageRecord(record);
    const auto read = ParseImageRecord(payload);
    REQUIRE(read.ok());
    CHECK(read->labels == labels);
    CHECK(read->id == 17);
    CHECK(read->second_id == 3);
    CHECK(std::memcmp(read->content.data(), "picture", 7) == 0);
    CHECK(payload.size() == 24 + 7 + (labels.size() > 1 ? 12 : 0));
    CHECK_FALSE(ParseImageRecord(Bytes(payload).subspan(0, 20)).ok());
  }
  std::string lies(24, '\xff');
  CHECK(ParseImageRecord(std::as_bytes(std::span(lies)))
            .status()
            .message()
            .find("4294967295 labels announced") == 0);
}

}  // namespace
}  // namespace mxc::runtime
