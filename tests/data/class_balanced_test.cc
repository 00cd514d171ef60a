// SPDX-License-Identifier: Apache-2.0
// Epochs in which every class is drawn equally often.
#include <algorithm>
#include <map>
#include <ranges>

#include "runtime/data/order.h"
#include "tests/data/batches.h"
#include "tests/data/sorted_sources.h"

namespace mxc::data {
namespace {

using Counts = std::map<float, int64_t>;

// How often each label stands in the rows of an epoch, without the padding.
Counts LabelsOf(const std::vector<Seen>& batches) {
  Counts counts;
  for (const Seen& batch : batches) {
    const auto& labels = batch.labels[0];
    const auto own = static_cast<ptrdiff_t>(batch.pad);
    for (auto at = labels.begin(); at != labels.end() - own; ++at) {
      ++counts[*at];
    }
  }
  return counts;
}

IteratorOptions Balanced(int64_t batch_size, Settings settings = {}) {
  settings.emplace_back("class_balanced", "1");
  IteratorOptions options = Options(batch_size, std::move(settings));
  options.last_batch = LastBatch::kPad;
  options.shuffle = true;
  options.seed = 5;
  return options;
}

// "i,label" lines: 50 samples of class 0, 8 of class 7, 2 of class -1.
std::string WriteRareClasses(const TestFolder& folder) {
  std::string csv;
  for (int i = 0; i < 60; ++i) {
    const char* label = i < 50 ? "0" : i < 58 ? "7" : "-1";
    csv += std::to_string(i) + "," + label + "\n";
  }
  return "csv:" + folder.Write("a.csv", csv);
}

const Settings kLabelled = {{"label_column", "1"}};

TEST_CASE("class_balanced: an epoch has as many samples of every class") {
  const TestFolder folder;
  const std::string spec = WriteRareClasses(folder);
  for (const bool shuffle : {true, false}) {
    IteratorOptions options = Balanced(7, kLabelled);
    options.shuffle = shuffle;
    const auto iterator = MustOpen(spec, options);
    CHECK(iterator->samples() == 60);
    CHECK(iterator->batches(0) == 9);
    std::vector<int64_t> all;
    for (int epoch = 0; epoch < 5; ++epoch) {
      const auto seen = Drain(*iterator);
      CHECK(LabelsOf(seen) == Counts{{-1, 20}, {0, 20}, {7, 20}});
      const auto samples = Samples(seen);
      all.insert(all.end(), samples.begin(), samples.end());
    }
    // 100 draws of each class, its samples equally often.
    for (int64_t sample = 0; sample < 60; ++sample) {
      const int64_t size = sample < 50 ? 50 : sample < 58 ? 8 : 2;
      const auto times = std::ranges::count(all, sample);
      CHECK(times >= 100 / size);
      CHECK(times <= (100 + size - 1) / size);
    }
  }
}

TEST_CASE("class_balanced: what does not divide goes to all classes by turns") {
  const TestFolder folder;
  const std::string spec =
      "csv:" + folder.Write("a.csv",
                            "0,0\n1,0\n2,0\n3,0\n4,1\n5,1\n"
                            "6,2\n7,2\n");
  const auto iterator = MustOpen(spec, Balanced(3, kLabelled));
  Counts sum;
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (const auto& [label, count] : LabelsOf(Drain(*iterator))) {
      CHECK((count == 2 || count == 3));
      sum[label] += count;
    }
  }
  CHECK(sum == Counts{{0, 8}, {1, 8}, {2, 8}});
}

TEST_CASE("class_balanced: the order depends on the seed, epochs differ") {
  const TestFolder folder;
  const std::string spec = WriteRareClasses(folder);
  IteratorOptions options = Balanced(10, kLabelled);
  options.threads = 0;
  const auto alone = MustOpen(spec, options);
  options.threads = 3;
  const auto threads = MustOpen(spec, options);
  options.seed = 6;
  const auto other = MustOpen(spec, options);
  const auto first = Drain(*alone);
  CHECK(Drain(*threads) == first);
  CHECK(Samples(Drain(*other)) != Samples(first));
  const auto second = Drain(*alone);
  CHECK(Drain(*threads) == second);
  CHECK(Samples(second) != Samples(first));
  // From the middle of an epoch on.
  Batch batch;
  for (int i = 0; i < 3; ++i) REQUIRE(alone->Next(batch).ok());
  const Cursor place = alone->cursor();
  const auto rest = Drain(*alone);
  const auto resumed = MustOpen(spec, Balanced(10, kLabelled));
  REQUIRE(resumed->Seek(place).ok());
  CHECK(Drain(*resumed) == rest);
  // Of samples that are drawn otherwise it is no place.
  options = Balanced(10, kLabelled);
  options.settings.back().second = "0";
  CHECK_FALSE(MustOpen(spec, options)->Seek(place).ok());
}

TEST_CASE("class_balanced: workers together read what one process reads") {
  const TestFolder folder;
  const std::string spec = WriteRareClasses(folder);
  for (const LastBatch last : {LastBatch::kRound, LastBatch::kPad}) {
    IteratorOptions options = Balanced(8, kLabelled);
    options.last_batch = last;
    const auto alone = MustOpen(spec, options);
    options.batch_size = 4;
    options.workers = 2;
    const auto first = MustOpen(spec, options);
    options.worker = 1;
    const auto second = MustOpen(spec, options);
    for (int epoch = 0; epoch < 3; ++epoch) {
      const auto whole = Drain(*alone), even = Drain(*first),
                 odd = Drain(*second);
      REQUIRE(even.size() == whole.size());
      REQUIRE(odd.size() == whole.size());
      for (size_t b = 0; b < whole.size(); ++b) {
        for (size_t r = 0; r < 4; ++r) {
          CHECK(even[b].index[r] == whole[b].index[2 * r]);
          CHECK(odd[b].index[r] == whole[b].index[2 * r + 1]);
        }
      }
    }
  }
}

// The part in the middle of what is sorted by class may lack classes; those that
// it has are balanced.
TEST_CASE("class_balanced: every source with classes, and those without") {
  const TestFolder folder;
  for (const auto& [spec, settings, file] : WriteSources(folder)) {
    CAPTURE(spec);
    if (spec.starts_with("text")) {
      CHECK(Says(Refusal(spec, Balanced(4, settings)),
                 "a sample has several labels, expected the number of its "
                 "class"));
      continue;
    }
    Settings part = settings;
    part.insert(part.end(),
                {{"num_parts", "3"}, {"part_index", "1"}, {"held_out", "0.1"}});
    for (const Settings& some : {settings, part}) {
      const auto iterator = MustOpen(spec, Balanced(4, some));
      const auto counts = LabelsOf(Drain(*iterator));
      const auto [least, most] =
          std::ranges::minmax(counts | std::views::values);
      CHECK(most - least <= 1);
      CHECK((&some == &part || counts.size() >= 3));
    }
  }
}

TEST_CASE("class_balanced: labels that are no classes are refused") {
  const TestFolder folder;
  const std::string half = "csv:" + folder.Write("half.csv", "1,0\n2,0.5\n");
  CHECK(Refusal(half, Balanced(1, kLabelled)) ==
        half +
            ": class_balanced: line 2 has label 0.5, expected the number of "
            "its class");
  CHECK(Says(Refusal(half, Balanced(1)), "the samples have no labels"));
  CHECK(Says(Refusal("libsvm:" + folder.Write("two.svm", "1,2 0:1\n"),
                     Balanced(1, {{"label_libsvm", folder.path("two.svm")},
                                  {"label_shape", "2"}})),
             "several labels"));
}

TEST_CASE("class_balanced: what has no class is told, and drawn in no epoch") {
  const TestFolder folder;
  const std::string spec =
      "csv:" + folder.Write("bad.csv", "0,0\n1,x\n2,1\n3,nan\n4,1\n");
  const auto iterator = MustOpen(spec, Balanced(5, kLabelled));
  CHECK(iterator->bad_records().count == 2);
  CHECK(iterator->bad_records().sentences ==
        std::vector<std::string>{spec + ": line 2: the label 'x' is no number",
                                 spec + ": line 4: its label is nan"});
  for (int epoch = 0; epoch < 4; ++epoch) {
    const auto samples = Samples(Drain(*iterator));
    CHECK(samples.size() == 5);
    CHECK(std::ranges::count(samples, 1) == 0);
    CHECK(std::ranges::count(samples, 3) == 0);
  }
  IteratorOptions stop = Balanced(5, kLabelled);
  stop.on_bad_record = OnBadRecord::kStop;
  CHECK(Says(Refusal(spec, stop), "line 2: the label 'x' is no number"));
}

}  // namespace
}  // namespace mxc::data
