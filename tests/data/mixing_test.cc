// SPDX-License-Identifier: Apache-2.0
// mixup and CutMix: what is drawn, and what becomes of samples and labels.
#include "runtime/data/mixing.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/data/batches.h"

namespace mxc::data {
namespace {

// Beta(α, α) has the mean 1/2 and the variance 1 / (4 (2 α + 1)).
TEST_CASE("mixing: shares are drawn from Beta") {
  for (const double alpha : {0.001, 0.2, 0.4, 1.0, 3.5, 100.0}) {
    CAPTURE(alpha);
    Draws draws(5);
    constexpr int kCount = 20000;
    double sum = 0, squares = 0;
    int least = 0;
    for (int i = 0; i < kCount; ++i) {
      const double x = DrawBeta(alpha, draws);
      REQUIRE((x >= 0 && x <= 1));
      sum += x;
      squares += (x - 0.5) * (x - 0.5);
      least += x < 0.25 ? 1 : 0;
    }
    const double variance = 1 / (4 * (2 * alpha + 1));
    // Five standard deviations of the mean of so many.
    CHECK(std::abs(sum / kCount - 0.5) <= 5 * std::sqrt(variance / kCount));
    CHECK(std::abs(squares / kCount - variance) <= 0.05 * variance);
    if (alpha == 1) CHECK(std::abs(least / 20000.0 - 0.25) < 0.016);
  }
}

TEST_CASE("mixing: a box has its share of the area, cut off at the edge") {
  bool cut = false, whole = false;
  for (uint64_t key = 0; key < 300; ++key) {
    Draws draws(key);
    const Box box = DrawBox(0.25, 8, 12, draws);
    CHECK((box.left >= 0 && box.top >= 0));
    CHECK((box.right <= 8 && box.bottom <= 12));
    CHECK((box.right > box.left && box.bottom > box.top));
    CHECK(box.area() <= 4 * 6);
    whole = whole || box.area() == 24;
    cut = cut || box.area() < 24;
  }
  CHECK((cut && whole));
  Draws draws(1);
  CHECK(DrawBox(0, 8, 8, draws).area() == 0);
}

TEST_CASE("mixing: the axes of pictures by their layout, or their channels") {
  const auto axes = AxesOf({3, 8, 9}, "");
  REQUIRE(axes.has_value());
  CHECK((axes->planes == 3 && axes->height == 8 && axes->width == 9));
  const auto last = AxesOf({8, 9, 3}, "");
  CHECK((last->planes == 1 && last->height == 8 && last->channels == 3));
  CHECK(AxesOf({3, 8, 3}, "NHWC")->height == 3);
  CHECK_FALSE(AxesOf({784}, "").has_value());
}

// Sample i of class i % 3 is `side` x `side` pixels of i + 1.
std::string WriteSamples(const TestFolder& folder, int count, int side) {
  std::string csv;
  for (int i = 0; i < count; ++i) {
    csv += std::to_string(i % 3);
    for (int k = 0; k < side * side; ++k) csv += "," + std::to_string(i + 1);
    csv += "\n";
  }
  return "csv:" + folder.Write("a.csv", csv);
}

IteratorOptions Mixed(int64_t batch_size, Settings more) {
  more.insert(more.end(), {{"label_column", "0"}, {"data_shape", "1,4,4"}});
  IteratorOptions options = Options(batch_size, std::move(more));
  options.label_classes = 3;
  options.shuffle = true;
  options.seed = 4;
  return options;
}

// The share of its own sample in each row, from the labels; checks that they are
// those of the row's sample and of that half a batch away.
std::vector<double> Shares(const Seen& batch) {
  const size_t rows = batch.index.size(), half = rows / 2;
  std::vector<double> shares;
  for (size_t row = 0; row < rows; ++row) {
    const float* label = &batch.labels[0][3 * row];
    const size_t other = row < half ? row + half : row - half;
    const auto own = static_cast<size_t>(batch.index[row] % 3);
    const auto mixed_in = static_cast<size_t>(batch.index[other] % 3);
    double sum = 0;
    for (size_t k = 0; k < 3; ++k) {
      sum += static_cast<double>(label[k]);
      if (k != own && k != mixed_in) CHECK(label[k] == 0);
    }
    CHECK(std::abs(sum - 1) < 1e-6);
    shares.push_back(own == mixed_in ? -1 : static_cast<double>(label[own]));
  }
  return shares;
}

TEST_CASE("mixup: pairs half a batch apart, labels in the shares of samples") {
  const TestFolder folder;
  const std::string spec = WriteSamples(folder, 24, 4);
  const auto iterator = MustOpen(spec, Mixed(6, {{"mixup", "0.4"}}));
  CHECK(iterator->provides().labels[0].shape == std::vector<int64_t>{6, 3});
  CHECK(std::string(iterator->mixes()) == "mixup");
  std::set<double> drawn;
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (const Seen& batch : Drain(*iterator)) {
      const std::vector<double> shares = Shares(batch);
      double share = -1;
      for (size_t row = 0; row < 6; ++row) {
        if (shares[row] >= 0) {
          CHECK((share < 0 || std::abs(shares[row] - share) < 1e-6));
          share = shares[row];
        }
      }
      if (share < 0) continue;
      drawn.insert(share);
      for (size_t row = 0; row < 6; ++row) {
        const double own = static_cast<double>(batch.index[row]) + 1;
        const double other =
            static_cast<double>(batch.index[(row + 3) % 6]) + 1;
        for (size_t k = 0; k < 16; ++k) {
          CHECK(std::abs(static_cast<double>(batch.data[0][16 * row + k]) -
                         (share * own + (1 - share) * other)) < 1e-4);
        }
      }
    }
  }
  CHECK(drawn.size() > 8);  // another for each batch
}

TEST_CASE("CutMix: a box of the other picture, labels in the shares of areas") {
  const TestFolder folder;
  const std::string spec = WriteSamples(folder, 24, 4);
  const auto iterator = MustOpen(spec, Mixed(6, {{"cutmix", "1"}}));
  std::set<int> areas;
  for (int epoch = 0; epoch < 6; ++epoch) {
    for (const Seen& batch : Drain(*iterator)) {
      const std::vector<double> shares = Shares(batch);
      for (size_t row = 0; row < 6; ++row) {
        const float own = static_cast<float>(batch.index[row]) + 1;
        const float other = static_cast<float>(batch.index[(row + 3) % 6]) + 1;
        const auto pixels = std::span(batch.data[0]).subspan(16 * row, 16);
        const auto kept = std::ranges::count(pixels, own);
        if (own == other) continue;
        CHECK(kept + std::ranges::count(pixels, other) == 16);
        if (shares[row] >= 0) {
          CHECK(std::abs(shares[row] - static_cast<double>(kept) / 16) < 1e-6);
        }
        areas.insert(static_cast<int>(16 - kept));
      }
    }
  }
  // Boxes of a square that are cut off: 1 to 4 by 1 to 4, or none.
  CHECK(areas.size() > 4);
}

TEST_CASE("mixing: both are drawn, for whole batches") {
  const TestFolder folder;
  const std::string spec = WriteSamples(folder, 24, 4);
  const auto iterator =
      MustOpen(spec, Mixed(6, {{"mixup", "1"}, {"cutmix", "1"}}));
  int cut = 0, mixed = 0;
  for (int epoch = 0; epoch < 10; ++epoch) {
    for (const Seen& batch : Drain(*iterator)) {
      bool whole = true;
      for (const float value : batch.data[0]) {
        whole = whole && value == std::floor(value);
      }
      ++(whole ? cut : mixed);
    }
  }
  CHECK(cut > 8);
  CHECK(mixed > 8);
}

TEST_CASE("mixing: the same for any threads, workers, and from any batch on") {
  const TestFolder folder;
  const std::string spec = WriteSamples(folder, 26, 4);
  const Settings both = {{"mixup", "0.4"}, {"cutmix", "1"}};
  IteratorOptions options = Mixed(8, both);
  options.threads = 0;
  const auto alone = MustOpen(spec, options);
  options.threads = 3;
  const auto threads = MustOpen(spec, options);
  options.batch_size = 4;
  options.workers = 2;
  const auto even = MustOpen(spec, options);
  options.worker = 1;
  const auto odd = MustOpen(spec, options);
  for (int epoch = 0; epoch < 3; ++epoch) {
    const auto whole = Drain(*alone), first = Drain(*even),
               second = Drain(*odd);
    CHECK(Drain(*threads) == whole);
    REQUIRE(first.size() == whole.size());
    for (size_t b = 0; b < whole.size(); ++b) {
      for (size_t row = 0; row < 8; ++row) {
        const Seen& own = row % 2 == 0 ? first[b] : second[b];
        const auto row_of = [](const Seen& batch, size_t r) {
          return std::vector(
              batch.data[0].begin() + 16 * static_cast<int>(r),
              batch.data[0].begin() + 16 * static_cast<int>(r + 1));
        };
        CHECK(row_of(own, row / 2) == row_of(whole[b], row));
      }
    }
  }
  Batch batch;
  REQUIRE(alone->Next(batch).ok());
  const Cursor place = alone->cursor();
  const auto rest = Drain(*alone);
  const auto resumed = MustOpen(spec, Mixed(8, both));
  REQUIRE(resumed->Seek(place).ok());
  CHECK(Drain(*resumed) == rest);
}

TEST_CASE("mixing: bytes of pictures are rounded, an odd sample stays") {
  const TestFolder folder;
  for (int i = 0; i < 3; ++i) {
    folder.Write("a/" + std::to_string(i) + ".png", PngOf(4, 4, 3, i));
  }
  IteratorOptions options =
      Options(3, {{"data_shape", "3,4,4"}, {"dtype", "uint8"}});
  options.label_classes = 2;
  const auto plain = Drain(*MustOpen("folder:" + folder.path(), options))[0];
  CHECK(plain.labels[0] == std::vector<float>{1, 0, 1, 0, 1, 0});
  options.settings.push_back({"mixup", "1"});
  const auto mixed = Drain(*MustOpen("folder:" + folder.path(), options))[0];
  CHECK(mixed.labels == plain.labels);  // all of one class
  for (size_t k = 0; k < 48; ++k) {
    const float a = plain.data[0][k], b = plain.data[0][48 + k];
    CHECK(std::abs(mixed.data[0][k] + mixed.data[0][48 + k] - a - b) <= 1);
    CHECK(mixed.data[0][96 + k] == plain.data[0][96 + k]);
  }
  CHECK(mixed.data[0] != plain.data[0]);
}

TEST_CASE("mixing: labels of probabilities for what is not mixed, too") {
  const TestFolder folder;
  const std::string spec =
      "csv:" + folder.Write("a.csv", "1,5\n0,6\n3,7\n2,8\n");
  IteratorOptions options = Options(4, {{"label_column", "0"}});
  options.label_classes = 3;
  options.offered = {{"mixup", "1"}};  // of samples to learn from
  const auto iterator = MustOpen(spec, options);
  CHECK(std::string(iterator->mixes()).empty());
  const Seen batch = Drain(*iterator)[0];
  CHECK(batch.data[0] == std::vector<float>{5, 6, 8, 8});
  CHECK(batch.labels[0] ==
        std::vector<float>{0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1});
  CHECK(iterator->bad_records().sentences[0] ==
        spec + ": line 3: label 3 is none of the classes 0 to 2");
}

TEST_CASE("mixing: what cannot be mixed is refused") {
  const TestFolder folder;
  const std::string spec = WriteSamples(folder, 6, 4);
  CHECK(Says(Refusal(spec, Mixed(1, {{"mixup", "1"}})),
             "mixup: a batch of one sample has none to mix it with"));
  IteratorOptions numbers = Mixed(2, {{"cutmix", "1"}});
  numbers.label_classes = 0;
  CHECK(Says(Refusal(spec, numbers),
             "cutmix: the network was compiled for labels that are numbers of "
             "classes"));
  numbers.label_classes.reset();
  CHECK(Says(Refusal(spec, numbers),
             "cutmix: neither the network nor the data say how many classes"));
  numbers.before_compiling = true;
  CHECK(MustOpen(spec, numbers)->provides().labels[0].shape ==
        std::vector<int64_t>{2});
  IteratorOptions flat = Mixed(2, {{"cutmix", "1"}});
  flat.settings.back().second = "16";
  CHECK(
      Says(Refusal(spec, flat), "cutmix: samples of shape 16 are no pictures"));
  const std::string text = "text:" + folder.Write("a.txt", "abcdefgh");
  CHECK(Says(Refusal(text, Options(2, {{"length", "2"}, {"mixup", "1"}})),
             "mixup: expected one label for each sample"));
}

}  // namespace
}  // namespace mxc::data
