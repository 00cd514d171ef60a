// SPDX-License-Identifier: Apache-2.0
// Sources without pictures: digits, idx, CIFAR-10, arrays, numbers as text.
#include <zlib.h>

#include <cstring>
#include <filesystem>

#include "runtime/data/digits/drawing.h"
#include "runtime/data/settings.h"
#include "runtime/formats/npy.h"
#include "runtime/formats/npz.h"
#include "tests/data/batches.h"
#include "tests/support/shared.h"

namespace mxc::data {
namespace {

template <class T>
Array MakeArray(ElementType type, std::vector<int64_t> shape,
                const std::vector<T>& values) {
  auto array = Array::Allocate(type, std::move(shape));
  REQUIRE(array->bytes().size() == values.size() * sizeof(T));
  std::memcpy(array->storage.get(), values.data(), values.size() * sizeof(T));
  return *array;
}

// Half the squared distance to each class's mean decides; a linear model.
double NearestMean(Iterator& training, Iterator& validation) {
  std::vector<std::vector<double>> means(10, std::vector<double>(784));
  std::vector<double> counts(10);
  for (const Seen& batch : Drain(training)) {
    for (size_t i = 0; i < batch.index.size(); ++i) {
      const auto label = static_cast<size_t>(batch.labels[0][i]);
      ++counts[label];
      for (size_t k = 0; k < 784; ++k) {
        means[label][k] += batch.data[0][i * 784 + k];
      }
    }
  }
  double right = 0, all = 0;
  for (const Seen& batch : Drain(validation)) {
    for (size_t i = 0; i < batch.index.size(); ++i) {
      double best = 1e9;
      size_t chosen = 0;
      for (size_t label = 0; label < 10; ++label) {
        double distance = 0;
        for (size_t k = 0; k < 784; ++k) {
          const double d =
              batch.data[0][i * 784 + k] - means[label][k] / counts[label];
          distance += d * d;
        }
        if (distance < best) chosen = label;
        best = std::min(best, distance);
      }
      right += chosen == static_cast<size_t>(batch.labels[0][i]) ? 1 : 0;
      ++all;
    }
  }
  return right / all;
}

TEST_CASE("digits: the same on every machine, different by seed and set") {
  uint64_t sum = 0;
  for (int digit = 0; digit < 10; ++digit) {
    for (uint64_t key = 0; key < 20; ++key) {
      uint64_t place = 1;
      for (const uint8_t pixel : DrawDigit(digit, key)) sum += pixel * place++;
    }
  }
  CHECK(sum == 2146870587);
  const auto first = Drain(*MustOpen("digits", Options(50, {{"size", "50"}})));
  CHECK(first == Drain(*MustOpen("digits", Options(50, {{"size", "50"}}))));
  CHECK(first != Drain(*MustOpen(
                     "digits", Options(50, {{"size", "50"}, {"seed", "1"}}))));
  IteratorOptions held_out = Options(50, {{"size", "50"}});
  held_out.held_out = true;
  CHECK(first != Drain(*MustOpen("digits", held_out)));
  for (const float value : first[0].data[0]) {
    REQUIRE((value >= 0 && value <= 1));
  }
}

TEST_CASE("digits: a problem to learn, and not for means alone") {
  const auto training =
      MustOpen("digits", Options(100, {{"size", "2000"}, {"flat", "1"}}));
  IteratorOptions options = Options(100, {{"size", "500"}, {"flat", "1"}});
  options.held_out = true;
  const auto validation = MustOpen("digits", options);
  CHECK(training->provides().data[0].shape == Extents{100, 784});
  CHECK(training->label_names().size() == 10);
  const double right = NearestMean(*training, *validation);
  MESSAGE("nearest mean: ", right);
  CHECK(right > 0.4);
  CHECK(right < 0.8);
}

TEST_CASE("numbers get the axes that the network takes them with") {
  const TestFolder folder;
  const std::string csv = folder.Write("x.csv", "1,2,3,4,7\n5,6,7,8,9\n");
  const std::string svm = folder.Write("x.svm", "1 0:1 2:3\n0 1:2\n");
  const auto shape_of = [](const std::string& spec, Extents taken,
                           Settings settings) {
    IteratorOptions options = Options(2, std::move(settings));
    options.takes = {{"data", ElementType::kF32, std::move(taken)}};
    return MustOpen(spec, options)->provides().data[0].shape;
  };
  const Settings labelled = {{"label_column", "4"}};
  CHECK(shape_of("csv:" + csv, {2, 1, 2, 2}, labelled) == Extents{2, 1, 2, 2});
  CHECK(shape_of("csv:" + csv, {2, 1, 3, 3}, labelled) == Extents{2, 4});
  CHECK(shape_of("csv:" + csv, {}, {}) == Extents{2, 5});
  CHECK(shape_of("libsvm:" + svm, {2, 9}, {}) == Extents{2, 9});
  CHECK(shape_of("libsvm:" + svm, {2, 2}, {}) == Extents{2, 3});
  CHECK(shape_of("digits", {2, 784}, {}) == Extents{2, 784});
  CHECK(shape_of("digits", {2, 784}, {{"flat", "0"}}) == Extents{2, 1, 28, 28});
  CHECK(shape_of("digits", {2, 1, 28, 28}, {}) == Extents{2, 1, 28, 28});
}

TEST_CASE("csv: what spreadsheets write, and what is no CSV") {
  const TestFolder folder;
  const Settings labelled = {{"label_column", "1"}};
  const auto opened = [&](const std::string& text) {
    return MustOpen("csv:" + folder.Write("x.csv", text), Options(1, labelled));
  };
  const auto plain = Drain(*opened("1,2\n3,4\n"));
  CHECK(Drain(*opened("\xef\xbb\xbf"
                      "1,2\r\n3,4\r\n")) == plain);
  const auto headed = opened("width,kind\n1,2\n3,4\n");
  Drain(*headed);
  CHECK(Says(headed->bad_records().sentences[0],
             "line 1: column 1: 'width' is no number; skip_lines=1 leaves "
             "headings out"));
  const auto refusal = [&](const std::string& text) {
    return Refusal("csv:" + folder.Write("x.csv", text), Options(1, labelled));
  };
  CHECK(Says(refusal("1;2\n3;4\n"),
             "the first line has 1 column, expected numbers with commas "
             "between, and label_column=1"));
  CHECK(Says(refusal(std::string("\xff\xfe"
                                 "1\0,\0",
                                 6)),
             "is UTF-16, expected UTF-8 or ASCII"));
}

std::string Images(int count, int side) {
  std::string bytes =
      BigEndian({0x803, static_cast<uint32_t>(count),
                 static_cast<uint32_t>(side), static_cast<uint32_t>(side)});
  for (int i = 0; i < count * side * side; ++i) {
    bytes += static_cast<char>(i);
  }
  return bytes;
}

std::string Labels(int count) {
  std::string bytes = BigEndian({0x801, static_cast<uint32_t>(count)});
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(i % 3);
  return bytes;
}

TEST_CASE("mnist: plain and compressed, by either name") {
  const TestFolder folder;
  folder.Write("train-images-idx3-ubyte", Images(7, 4));
  folder.Write("train-labels.idx1-ubyte.gz", GzipOf(Labels(7)));
  folder.Write("t10k-images.idx3-ubyte.gz", GzipOf(Images(3, 4)));
  folder.Write("t10k-labels-idx1-ubyte", Labels(3));
  const std::string spec = "mnist:" + folder.path();
  const auto iterator = MustOpen(spec, Options(7));
  CHECK(iterator->summary() == spec + ": 7 samples, data 1x4x4, 3 classes");
  CHECK(iterator->has_held_out());
  const auto batches = Drain(*iterator);
  CHECK(batches[0].data[0][17] == 17.0f / 256);
  CHECK(batches[0].labels[0] == std::vector<float>{0, 1, 2, 0, 1, 2, 0});
  IteratorOptions held_out = Options(3);
  held_out.held_out = true;
  CHECK(MustOpen(spec, held_out)->samples() == 3);
}

TEST_CASE("mnist: wrong files get a sentence") {
  const TestFolder folder;
  const std::string spec = "mnist:" + folder.path();
  CHECK(Says(Refusal(spec, Options(1)), "train-images.idx3-ubyte.gz"));
  folder.Write("train-labels-idx1-ubyte", Labels(7));
  for (const auto& [content, expected] :
       std::vector<std::pair<std::string, std::string>>{
           {"", "begins with 00000000 instead of 00000803"},
           {Labels(7), "begins with 00000801"},
           {Images(7, 4).substr(0, 100), "112 bytes announced, 84 there"},
           {Images(6, 4), "6 pictures but 7 labels"},
           {BigEndian({0x803, 0xffffffff, 0xffffffff, 0xffffffff}),
            "too many bytes announced"},
           {BigEndian({0x803, 7, 0, 4}), "no pixels"},
           {GzipOf(Images(7, 4)).substr(0, 60), "compressed data"}}) {
    folder.Write("train-images-idx3-ubyte", content);
    const std::string message = Refusal(spec, Options(1));
    CAPTURE(message);
    CHECK(Says(message, expected));
  }
  folder.Write("train-images-idx3-ubyte",
               BigEndian({0x803, 0, 0xb0169104, 0xfe7f0000}));
  folder.Write("train-labels-idx1-ubyte", Labels(0));
  CHECK(Says(Refusal(spec, Options(1)), "no pictures"));
}

TEST_CASE("mnist: the real files" * doctest::test_suite("shared")) {
  const std::string shared = SharedFolder();
  if (shared.empty()) {
    MESSAGE("skipped: no shared cases");
    return;
  }
  const auto iterator =
      MustOpen("mnist:" + shared + "/cases/data/mnist", Options(100));
  CHECK(iterator->samples() == 60000);
  Batch batch;
  REQUIRE(*iterator->Next(batch));
  const auto labels = Floats(batch.labels[0]);
  CHECK(std::vector(labels.begin(), labels.begin() + 5) ==
        std::vector<float>{5, 0, 4, 1, 9});
}

TEST_CASE("cifar10: records, augmentation, a wrong label") {
  std::string content;
  for (int record = 0; record < 4; ++record) {
    content += static_cast<char>(record == 2 ? 11 : record);
    for (int i = 0; i < 3072; ++i) {
      content += static_cast<char>(i / 1024 * 50 + i % 32);
    }
  }
  const TestFolder folder;
  folder.Write("cifar-10-batches-bin/data_batch_1.bin", content);
  const std::string spec = "cifar10:" + folder.path();
  auto iterator = MustOpen(spec, Options(4, {{"mean_g", "50"}}));
  const auto batches = Drain(*iterator);
  CHECK(batches[0].data[0][5] == 5);
  CHECK(batches[0].data[0][1024 + 5] == 5);
  CHECK(batches[0].data[0][2048 + 5] == 105);
  CHECK(batches[0].labels[0] == std::vector<float>{0, 1, 3, 3});
  CHECK(Says(iterator->bad_records().sentences[0], "label 11"));
  folder.Write("cifar-10-batches-bin/data_batch_4.bin", content);
  iterator = MustOpen(spec, Options(4, {}));
  CHECK(iterator->samples() == 8);
  CHECK(
      Says(iterator->remark(),
           "data_batch_2.bin, data_batch_3.bin, data_batch_5.bin: not there"));
  std::filesystem::remove(folder.path("cifar-10-batches-bin/data_batch_4.bin"));
  const IteratorOptions random =
      Options(2, {{"pad", "4"}, {"rand_crop", "1"}, {"rand_mirror", "1"}});
  iterator = MustOpen(spec, random);
  const auto first = Drain(*iterator);
  CHECK(first[0].data != Drain(*iterator)[0].data);
  CHECK(first == Drain(*MustOpen(spec, random)));
  folder.Write("cifar-10-batches-bin/data_batch_1.bin", content + "x");
  CHECK(Says(Refusal(spec, random), "are not records of 3073"));
}

TEST_CASE("npy: any type becomes float32") {
  const TestFolder folder;
  const std::string x = folder.path("x.npy"), y = folder.path("y.npy");
  const std::string spec = "npy:" + x + "," + y;
  REQUIRE(
      runtime::WriteNpy(y, MakeArray<int64_t>(ElementType::kI64, {2}, {3, -4}))
          .ok());
  const auto data = [&](const Array& array) {
    REQUIRE(runtime::WriteNpy(x, array).ok());
    const auto batches = Drain(*MustOpen(spec, Options(2)));
    CHECK(batches[0].labels[0] == std::vector<float>{3, -4});
    return batches[0].data[0];
  };
  using Values = std::vector<float>;
  CHECK(data(MakeArray<double>(ElementType::kF64, {2, 1}, {0.5, -2})) ==
        Values{0.5, -2});
  CHECK(data(MakeArray<uint8_t>(ElementType::kU8, {2, 2}, {0, 1, 254, 255})) ==
        Values{0, 1, 254, 255});
  CHECK(data(MakeArray<int16_t>(ElementType::kI16, {2}, {-7, 8})) ==
        Values{-7, 8});
  CHECK(data(MakeArray<uint16_t>(ElementType::kF16, {2, 2},
                                 {0x3c00, 0xc100, 0x0001, 0x7bff})) ==
        Values{1, -2.5, 0x1p-24f, 65504});
  REQUIRE(runtime::WriteNpy(
              x, MakeArray<float>(ElementType::kF32, {3, 1}, {1, 2, 3}))
              .ok());
  CHECK(Says(Refusal(spec, Options(2)), "holds 3 samples"));
  REQUIRE(
      runtime::WriteNpy(x, MakeArray<float>(ElementType::kF32, {}, {1})).ok());
  CHECK(Says(Refusal(spec, Options(2)), "is a scalar"));
  CHECK(Says(Refusal("npy:" + y + "," + y + "," + y, Options(2)),
             "expected x.npy,y.npy"));
}

// A zip archive with one deflated member, as numpy.savez_compressed makes it.
std::string DeflatedNpz(const std::string& name, const std::string& content) {
  std::string packed(compressBound(content.size()) + 16, '\0');
  uLongf size = packed.size();
  REQUIRE(compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                   reinterpret_cast<const Bytef*>(content.data()),
                   content.size()) == Z_OK);
  packed = packed.substr(2, size - 6);  // without zlib's own frame
  const auto word = [](uint32_t value, int bytes) {
    return std::string(reinterpret_cast<const char*>(&value),
                       static_cast<size_t>(bytes));
  };
  const auto crc = static_cast<uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(content.data()),
            static_cast<uInt>(content.size())));
  const std::string fields =
      word(20, 2) + word(0, 2) + word(8, 2) + word(0, 4) + word(crc, 4) +
      word(static_cast<uint32_t>(packed.size()), 4) +
      word(static_cast<uint32_t>(content.size()), 4) +
      word(static_cast<uint32_t>(name.size()), 2) + word(0, 2);
  const std::string local = word(0x04034b50, 4) + fields + name + packed;
  const std::string entry =
      word(0x02014b50, 4) + word(20, 2) + fields + std::string(14, '\0') + name;
  return local + entry + word(0x06054b50, 4) + word(0, 4) + word(1, 2) +
         word(1, 2) + word(static_cast<uint32_t>(entry.size()), 4) +
         word(static_cast<uint32_t>(local.size()), 4) + word(0, 2);
}

TEST_CASE("npz: stored and deflated archives") {
  const TestFolder folder;
  const Array x =
      MakeArray<float>(ElementType::kF32, {3, 2}, {1, 2, 3, 4, 5, 6});
  const Array y = MakeArray<float>(ElementType::kF32, {3}, {7, 8, 9});
  const NamedArray both[] = {{"left", x}, {"y", y}, {"right", x}};
  const std::string stored = folder.path("stored.npz");
  REQUIRE(runtime::WriteNpz(stored, both).ok());
  const auto iterator = MustOpen("npy:" + stored, Options(3));
  CHECK(iterator->provides().data[1].name == "right");
  CHECK(iterator->provides().labels[0] == Field{"y", ElementType::kF32, {3}});
  const auto batches = Drain(*iterator);
  CHECK(batches[0].data[1] == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(batches[0].labels[0] == std::vector<float>{7, 8, 9});
  CHECK(Says(Refusal("npy:" + stored, Options(3, {{"labels", "z"}})),
             "holds no 'z'"));

  REQUIRE(runtime::WriteNpy(folder.path("x.npy"), x).ok());
  const std::string archive =
      DeflatedNpz("data.npy", ReadText(folder.path("x.npy")));
  const std::string spec = "npy:" + folder.Write("deflated.npz", archive);
  CHECK(Drain(*MustOpen(spec, Options(3)))[0].data[0] ==
        std::vector<float>{1, 2, 3, 4, 5, 6});
  std::string damaged = archive;
  damaged[60] ^= 4;
  folder.Write("deflated.npz", damaged);
  CHECK(Says(Refusal(spec, Options(3)), "damaged"));
  folder.Write("deflated.npz", archive.substr(0, archive.size() - 30));
  CHECK(Says(Refusal(spec, Options(3)), "its directory"));
}

TEST_CASE("csv: labels by column, headings, bad lines by name") {
  const TestFolder folder;
  const std::string spec =
      "csv:" + folder.Write("a.csv",
                            "a,b,label\r\n 1, 2.5 ,0\r\n\n3,4e0,1\n5,x,1\n"
                            "6,7\n8,9,0,1\n-1,+2,1");
  const auto iterator =
      MustOpen(spec, Options(6, {{"label_column", "2"}, {"skip_lines", "1"}}));
  CHECK(iterator->samples() == 6);
  CHECK(iterator->provides().data[0].shape == Extents{6, 2});
  const auto batches = Drain(*iterator);
  CHECK(batches[0].index == std::vector<int64_t>{0, 1, 5, 5, 5, 5});
  CHECK(batches[0].data[0][3] == 4);
  CHECK(batches[0].labels[0][0] == 0);
  CHECK(batches[0].labels[0][2] == 1);
  const auto& sentences = iterator->bad_records().sentences;
  CHECK(sentences[0] == spec + ": line 5: column 2: 'x' is no number");
  CHECK(sentences[1] == spec + ": line 6: 2 columns, expected 3");
  CHECK(Says(Refusal(spec, Options(2, {{"label_csv", spec.substr(4)},
                                       {"label_column", "1"}})),
             "exclude each other"));
  CHECK(Says(Refusal("csv:/nowhere.csv", Options(2)), "No such file"));
}

TEST_CASE("libsvm: features counted, one-based, wrong lines") {
  const TestFolder folder;
  const std::string spec = "libsvm:" + folder.Write("a.libsvm",
                                                    "1 1:0.5 3:2 # note\n"
                                                    "0 2:1\n2 x:1\n1 0:1\n0\n");
  const auto iterator = MustOpen(spec, Options(5, {{"indexing", "1"}}));
  CHECK(iterator->provides().data[0].shape == Extents{5, 3});
  const auto batches = Drain(*iterator);
  CHECK(
      std::vector(batches[0].data[0].begin(), batches[0].data[0].begin() + 6) ==
      std::vector<float>{0.5, 0, 2, 0, 1, 0});
  const auto& sentences = iterator->bad_records().sentences;
  CHECK(Says(sentences[0], "line 3: 'x:1' is no index:value"));
  CHECK(Says(sentences[1], "line 4: index 0 is out of range"));
}

TEST_CASE("libsvm: the elements that a line names, of a csr matrix") {
  const TestFolder folder;
  const std::string spec = "libsvm:" + folder.Write("a.libsvm",
                                                    "1 7:0.5 2000000000:2\n"
                                                    "0 3:1 1:2 3:4\n"
                                                    "2\n");
  const auto options = [](int64_t most) {
    IteratorOptions options = Options(3);
    options.takes = {{"data_indices", ElementType::kI32, {3, most}},
                     {"data_values", ElementType::kF32, {3, most}}};
    return options;
  };
  const auto iterator = MustOpen(spec, options(2));
  const Provides provides = iterator->provides();
  REQUIRE(provides.data.size() == 2);
  CHECK(provides.data[0] == Field{"data_indices", ElementType::kI32, {3, 2}});
  CHECK(provides.data[1] == Field{"data_values", ElementType::kF32, {3, 2}});
  Batch batch;
  REQUIRE(*iterator->Next(batch));
  const auto* indices =
      reinterpret_cast<const int32_t*>(batch.data[0].array.bytes().data());
  // Of an index that stands twice the last value counts.
  CHECK(std::vector<int32_t>(indices, indices + 6) ==
        std::vector<int32_t>{7, 2000000000, 3, 1, -1, -1});
  const auto* values =
      reinterpret_cast<const float*>(batch.data[1].array.bytes().data());
  CHECK(std::vector<float>(values, values + 6) ==
        std::vector<float>{0.5, 2, 4, 2, 0, 0});
  CHECK(Says(Refusal(spec, options(1)),
             "line 1 names 2 features, but the network takes at most 1 of a "
             "sample"));
  IteratorOptions stated = options(2);
  stated.settings.emplace_back("data_shape", "100");
  const auto narrow = MustOpen(spec, stated);
  REQUIRE(*narrow->Next(batch));
  CHECK(Says(narrow->bad_records().sentences[0], "line 1: "));
  CHECK(Says(narrow->bad_records().sentences[0], "2000000000"));
}

TEST_CASE("libsvm: what SVMrank, scikit-learn and MXNet read") {
  const TestFolder folder;
  const std::string spec = "libsvm:" + folder.Write("a.libsvm",
                                                    "# made by hand\r\n"
                                                    "\r\n"
                                                    "1 qid:3 0:0.5 2:2 # x\r\n"
                                                    "  # 1 0:7\n"
                                                    "0 2:1 0:4 2:3\n"
                                                    "2 qid:4\n"
                                                    "1\tqid:4\t1:1\n"
                                                    "1 qid:x 1:1\n");
  const auto iterator = MustOpen(spec, Options(4));
  CHECK(iterator->samples() == 5);
  const auto batches = Drain(*iterator);
  CHECK(batches[0].labels[0] == std::vector<float>{1, 0, 2, 1});
  CHECK(batches[0].data[0] ==
        std::vector<float>{0.5, 0, 2, 4, 0, 3, 0, 0, 0, 0, 1, 0});
  CHECK(Says(iterator->bad_records().sentences[0],
             "line 8: 'qid:x' is no query, expected qid:NUMBER"));
}

TEST_CASE("open: every mistake at once, with what is legal") {
  CHECK(Refusal("digit", Options(1)) ==
        "'digit' is no source of data; there are digits, mnist:DIR, "
        "cifar10:DIR, npy:x.npy,y.npy, csv:FILE, libsvm:FILE, rec:FILE, "
        "lmdb:DIR, list:FILE, folder:DIR, text:FILE");
  CHECK(Says(Refusal("mnist", Options(1)), "expected mnist:DIR"));
  CHECK(Says(Refusal("digits:x", Options(1)), "expected digits"));
  const std::string message =
      Refusal("digits", Options(1, {{"size", "many"},
                                    {"last_batch", "never"},
                                    {"sise", "3"},
                                    {"flat", "2"}}));
  CAPTURE(message);
  CHECK(Says(message, "size=many: expected a whole number from 0 to 10000000"));
  CHECK(Says(message,
             "last_batch=never: expected one of round, pad, discard, "
             "roll_over"));
  CHECK(Says(message, "flat=2: expected 0 or 1"));
  CHECK(Says(message,
             "option 'sise' is unknown; nearest: size; its "
             "options are"));
  CHECK(Says(Refusal("digits", Options(0)), "batch size"));
  CHECK(Says(Refusal("digits", Options(1, {{"part_index", "1"}})),
             "less than num_parts"));
  CHECK(Says(Refusal("digits", Options(100'000'000)), "16 GiB"));
}

TEST_CASE("help: every source and its options") {
  for (const char* name : {"digits", "mnist", "cifar10", "npy", "csv", "libsvm",
                           "rec", "folder", "text"}) {
    CHECK(Says(SourcesHelp(), std::string("  ") + name));
    CHECK(Says(SourceHelp(name), "  shuffle=0"));
  }
  CHECK(Says(SourceHelp("rec:x.rec"), "  rand_crop=0"));
  CHECK(Says(SourceHelp("text"), "character, word"));
  CHECK(SourceHelp("nothing").empty());
}

}  // namespace
}  // namespace mxc::data
