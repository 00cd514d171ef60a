// SPDX-License-Identifier: Apache-2.0
// Damaged files of every kind: an error or bad records, never a crash, a hang
// or memory without limit. MXC_FUZZ_ROUNDS asks for more than the few rounds of
// an ordinary run (under ASan and UBSan, for instance).
#include <cstdlib>
#include <random>

#include "runtime/formats/npz.h"
#include "runtime/formats/recordio.h"
#include "tests/data/batches.h"
#include "tests/support/shared.h"

namespace mxc::data {
namespace {

int Rounds() {
  const char* rounds = std::getenv("MXC_FUZZ_ROUNDS");
  return rounds != nullptr ? std::atoi(rounds) : 60;
}

std::string Damaged(std::string file, std::mt19937& random) {
  if (file.empty()) return file;
  const auto place = [&] { return random() % file.size(); };
  switch (random() % 4) {
    case 0:
      return file.substr(0, place());
    case 1:  // a stretch twice
      return file.insert(place(), file.substr(place(), random() % 64));
    case 2:  // numbers that mean a lot
      for (size_t at = place(), k = 0; k < 4 && at + k < file.size(); ++k) {
        file[at + k] = static_cast<char>(random() % 2 == 0 ? 0xff : 0);
      }
      return file;
    default:
      for (int k = 0; k < 6; ++k) file[place()] = static_cast<char>(random());
      return file;
  }
}

// Reads two epochs of whatever can be read.
void ReadSome(const std::string& spec, const Settings& settings) {
  for (const OnBadRecord bad : {OnBadRecord::kSkip, OnBadRecord::kStop}) {
    IteratorOptions options = Options(3, settings);
    options.threads = bad == OnBadRecord::kSkip ? 0 : 2;
    options.on_bad_record = bad;
    auto opened = Open(spec, options);
    if (!opened.ok()) {
      CHECK_FALSE(opened.status().message().empty());
      continue;
    }
    Batch batch;
    for (int batches = 0; batches < 12; ++batches) {
      const auto more = (*opened)->Next(batch);
      if (!more.ok()) break;
    }
  }
}

struct Target {
  std::string name, content, spec;
  Settings settings;
};

std::string Records() {
  const TestFolder folder;
  runtime::RecordWriter writer(folder.path("a.rec"));
  for (int i = 0; i < 4; ++i) {
    const std::string png = PngOf(9, 9, 3, i);
    REQUIRE(writer
                .Append(runtime::PackImageRecord(
                    {{1}, 2, 0, std::as_bytes(std::span(png))}))
                .ok());
  }
  REQUIRE(writer.Commit().ok());
  return ReadText(folder.path("a.rec"));
}

std::string Npz() {
  const TestFolder folder;
  auto x = Array::Allocate(ElementType::kF32, {4, 3});
  auto y = Array::Allocate(ElementType::kU8, {4});
  for (std::byte& b : x->bytes()) b = std::byte{0};
  for (std::byte& b : y->bytes()) b = std::byte{1};
  const NamedArray both[] = {{"x", *x}, {"y", *y}};
  REQUIRE(runtime::WriteNpz(folder.path("a.npz"), both).ok());
  return ReadText(folder.path("a.npz"));
}

std::string Idx(bool images) {
  std::string bytes = images ? std::string(
                                   "\0\0\x08\x03\0\0\0\x04\0\0\0\x02"
                                   "\0\0\0\x02",
                                   16)
                             : std::string("\0\0\x08\x01\0\0\0\x04", 8);
  return bytes + std::string(images ? 16 : 4, '\x07');
}

TEST_CASE("damaged files of every kind") {
  const TestFolder folder;
  const Settings picture = {{"data_shape", "3,8,8"}};
  folder.Write("mnist/train-labels-idx1-ubyte", Idx(false));
  folder.Write("gz/train-labels-idx1-ubyte", Idx(false));
  const std::vector<Target> targets = {
      {"a.rec", Records(), "rec:", picture},
      {"b.rec",
       Records(),
       "rec:",
       {{"data_shape", "1,4,4"}, {"num_parts", "2"}, {"resize", "6"}}},
      {"class/a.png", PngOf(20, 20, 3, 1), "folder:", picture},
      {"a.npz", Npz(), "npy:", {}},
      {"mnist/train-images-idx3-ubyte", Idx(true), "mnist:", {}},
      {"gz/train-images-idx3-ubyte.gz", GzipOf(Idx(true)), "mnist:", {}},
      {"a.csv", "1,2,3\n4,5,6\n7,8,9\n", "csv:", {{"label_column", "1"}}},
      {"a.libsvm", "1 0:1 5:2\n0 3:1\n1 2:2 4:1\n", "libsvm:", {}},
      {"a.txt",
       "some text\nof a few lines\nto be\nread\n",
       "text:",
       {{"length", "3"}}},
      {"b.txt",
       "some text\nof a few lines\nto be\nread\n",
       "text:",
       {{"buckets", "4,9,20"}}},
  };
  std::mt19937 random(7);
  for (const Target& target : targets) {
    std::string path = folder.path(target.name);
    if (target.spec == "mnist:") {
      path = std::filesystem::path(path).parent_path().string();
    } else if (target.spec == "folder:") {
      path = folder.path();
    }
    CAPTURE(target.name);
    for (int round = 0; round < Rounds(); ++round) {
      folder.Write(target.name, Damaged(target.content, random));
      ReadSome(target.spec + path, target.settings);
    }
  }
}

}  // namespace
}  // namespace mxc::data
