// SPDX-License-Identifier: Apache-2.0
// Caffe's databases and lists as sources.
#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include "runtime/formats/caffe_messages.h"
#include "runtime/formats/lmdb.h"
#include "tests/data/batches.h"
#include "tests/data/png_file.h"
#include "tests/support/lmdb_file.h"

namespace mxc::data {
namespace {

// 2 rows of 3 pixels in as many channels; each byte says where it stands.
std::string Bytes(int channels, int sample) {
  std::string bytes;
  for (int i = 0; i < channels * 6; ++i) {
    bytes += static_cast<char>(sample * 40 + i);
  }
  return bytes;
}

std::string Database(int channels, int samples) {
  std::vector<std::string> values;
  for (int i = 0; i < samples; ++i) {
    values.push_back(DatumMessage(channels, 2, 3, Bytes(channels, i), i % 3));
  }
  return LmdbFile(values);
}

std::vector<float> First(const std::string& spec, Settings settings) {
  const auto iterator = MustOpen(spec, Options(1, std::move(settings)));
  return Drain(*iterator)[0].data[0];
}

TEST_CASE("lmdb: samples in the order of their keys, channel by channel") {
  const TestFolder folder;
  folder.Write("db/data.mdb", Database(3, 500));  // several leaves
  const auto iterator = MustOpen("lmdb:" + folder.path("db"), Options(1));
  CHECK(iterator->samples() == 500);
  CHECK(iterator->provides().data[0].shape == std::vector<int64_t>{1, 3, 2, 3});
  const auto batches = Drain(*iterator);
  for (const size_t i : {0u, 1u, 5u, 499u}) {
    CAPTURE(i);
    CHECK(batches[i].labels[0] ==
          std::vector<float>{static_cast<float>(i % 3)});
    const std::string bytes = Bytes(3, static_cast<int>(i));
    for (size_t k = 0; k < bytes.size(); ++k) {
      CHECK(batches[i].data[0][k] == static_cast<uint8_t>(bytes[k]));
    }
  }
  CHECK(MustOpen("lmdb:" + folder.path("db/data.mdb"),
                 Options(1, {{"first", "7"}}))
            ->samples() == 7);
}

TEST_CASE("lmdb: means, in Caffe's order of colours, scale and a crop") {
  const TestFolder folder;
  folder.Write("db/data.mdb", Database(3, 1));
  const std::string spec = "lmdb:" + folder.path("db");
  const auto values = First(
      spec,
      {{"mean_b", "1"}, {"mean_g", "2"}, {"mean_r", "3"}, {"scale", "0.5"}});
  CHECK(values[0] == (0 - 1) * 0.5f);
  CHECK(values[6] == (6 - 2) * 0.5f);
  CHECK(values[12] == (12 - 3) * 0.5f);
  // Of 2 rows and 3 columns the middle ones.
  CHECK(First(spec, {{"data_shape", "3,2,1"}}) ==
        std::vector<float>{1, 4, 7, 10, 13, 16});
  CHECK(First(spec, {{"crop_size", "2"}})[2] == 3);
}

TEST_CASE("lmdb: a mean picture is cut where the picture is") {
  const TestFolder folder;
  folder.Write("db/data.mdb", Database(3, 1));
  std::vector<float> mean;
  for (int i = 0; i < 18; ++i) mean.push_back(static_cast<float>(i) - 1);
  folder.Write("mean.binaryproto", BlobMessage({1, 3, 2, 3}, mean));
  const std::string spec = "lmdb:" + folder.path("db");
  for (const Settings& cut : {Settings{}, Settings{{"crop_size", "2"}},
                              Settings{{"crop_size", "2"}, {"mirror", "1"}}}) {
    Settings settings = cut;
    settings.emplace_back("mean_img", folder.path("mean.binaryproto"));
    for (const float value : First(spec, settings)) CHECK(value == 1);
  }
  CHECK(Says(Refusal(spec, Options(1, {{"data_shape", "3,4,4"},
                                       {"mean_img",
                                        folder.path("mean.binaryproto")}})),
             "is not cut out of"));
}

TEST_CASE("lmdb: other channels and floats, which are no pictures") {
  const TestFolder folder;
  folder.Write("two/data.mdb", Database(2, 1));
  const auto two = First("lmdb:" + folder.path("two"), {{"scale", "2"}});
  REQUIRE(two.size() == 12);
  CHECK(two[7] == 14);
  folder.Write("floats/data.mdb",
               LmdbFile({FloatDatumMessage(1, 1, 3, {0.5f, -2, 7}, 4)}));
  CHECK(First("lmdb:" + folder.path("floats"), {}) ==
        std::vector<float>{0.5f, -2, 7});
  CHECK(
      Says(Refusal("lmdb:" + folder.path("two"), Options(1, {{"mean_r", "1"}})),
           "take crop_size, rand_crop, rand_mirror and scale alone"));
}

TEST_CASE("lmdb: encoded pictures, blue first; large values") {
  const TestFolder folder;
  PngFile file{.width = 40, .height = 30};
  for (int i = 0; i < 40 * 30 * 3; ++i) {
    file.samples.push_back(static_cast<uint8_t>(i * 37 + i * i % 11));
  }
  const std::vector<uint8_t> pixels = file.Pixels8();
  const std::string png = file.Bytes();
  folder.Write("db/data.mdb",
               LmdbFile({DatumMessage(0, 0, 0, png, 2, /*encoded=*/true)}));
  const auto values = First("lmdb:" + folder.path("db"), {});
  REQUIRE(values.size() == pixels.size());
  CHECK(values[5] == pixels[5 * 3 + 2]);
  CHECK(values[1200 + 5] == pixels[5 * 3 + 1]);
  CHECK(values[2400 + 5] == pixels[5 * 3]);
  folder.Write("list.txt", "p.png 3\nsub/q.png  1\n");
  folder.Write("p.png", png);
  folder.Write("sub/q.png", png);
  const auto list =
      MustOpen("list:" + folder.path("list.txt"),
               Options(1, {{"root", folder.path()}, {"stretch", "30,40"}}));
  const auto batches = Drain(*list);
  CHECK(batches[0].data[0] == values);
  CHECK(batches[1].labels[0] == std::vector<float>{1});
}

TEST_CASE("lmdb: damage is said and crashes nothing") {
  const std::string file = Database(3, 200);
  const auto read = [](const std::string& bytes) {
    return runtime::ReadLmdb(std::as_bytes(std::span(bytes)));
  };
  REQUIRE(read(file).ok());
  CHECK(Says(read("no database at all").status().message(), "no LMDB"));
  for (size_t size = 0; size < file.size(); size += 97) {
    CHECK_FALSE(read(file.substr(0, size)).ok());
  }
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = file;
    for (int k = 0; k < 3; ++k) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    const auto entries = read(damaged);
    if (!entries.ok()) continue;
    for (const runtime::LmdbEntry& entry : *entries) {
      (void)runtime::ParseCaffeDatum(entry.value);
    }
  }
  // A branch whose child is itself, and one behind the end.
  for (const uint64_t child :
       {uint64_t{2 + file.size() / 4096 - 3}, uint64_t{1} << 40}) {
    std::string circle = file;
    const size_t root = circle.size() - 4096;
    uint16_t node = 0;
    std::memcpy(&node, circle.data() + root + 16, sizeof node);
    std::memcpy(circle.data() + root + node, &child, 6);
    CHECK(Says(read(circle).status().message(), "a damaged LMDB"));
  }
}

TEST_CASE("lmdb: a record that is no Datum of the shape is skipped") {
  const TestFolder folder;
  folder.Write("db/data.mdb",
               LmdbFile({DatumMessage(1, 2, 3, Bytes(1, 0), 1), "\x0a\x7f",
                         DatumMessage(1, 2, 3, "short", 1),
                         DatumMessage(3, 2, 3, Bytes(3, 0), 2)}));
  const auto iterator = MustOpen("lmdb:" + folder.path("db"), Options(1));
  for (const Seen& batch : Drain(*iterator)) {
    CHECK(batch.data[0].size() == 6);
    CHECK(batch.labels[0] == std::vector<float>{1});
  }
  CHECK(iterator->bad_records().count >= 3);
  CHECK(Says(iterator->bad_records().sentences[0], "key '00000001'"));
}

}  // namespace
}  // namespace mxc::data
