// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/class_counts.h"

#include <doctest/doctest.h>

#include <cstring>

#include "runtime/train/class_section.h"
#include "runtime/train/journal.h"
#include "tests/support/temporary_folder.h"
#include "tests/train/toy.h"

namespace mxc::train {
namespace {

const std::vector<float> kLabels = {0, 0, 1, 2, 2, 2};
const std::vector<int> kPredicted = {0, 1, 1, 2, 2, 0};

// The two above as a batch of six samples, the last `pad` of which are none, and
// what a network of three classes said of them.
struct Scored {
  data::Batch batch;
  std::vector<float> said;
  std::vector<FloatView> outputs;

  explicit Scored(int64_t pad, std::vector<float> labels = kLabels) {
    auto array = runtime::Array::Allocate(runtime::ElementType::kF32, {6});
    std::memcpy(array->bytes().data(), labels.data(), 6 * sizeof(float));
    batch.data.push_back({"data", *array});
    batch.labels.push_back({"label", *array});
    batch.pad = pad;
    for (const int k : kPredicted) {
      for (int column = 0; column < 3; ++column) {
        said.push_back(column == k ? 0.5f : 0.25f);
      }
    }
    outputs = {{said, {6, 3}}};
  }
};

const std::vector<Head> kHeads = {
    {.kind = HeadKind::kClasses, .label = 0, .classes = 3}};

ClassCounts Counted(ClassCounter& counter, const Scored& scored,
                    const std::vector<std::string>& names = {}) {
  const ToySamples samples;
  REQUIRE(counter.OnBatch(scored.batch, samples, scored.outputs).ok());
  return counter.Take(names);
}

TEST_CASE("class counts: precision, recall and F1 are scikit-learn's") {
  ClassCounter counter(kHeads);
  const ClassCounts counts = Counted(counter, Scored(0));
  CHECK(counts.counts == std::vector<int64_t>{1, 1, 0, 0, 1, 0, 1, 0, 2});
  const auto figures = FiguresOf(counts);
  const double precision[] = {0.5, 0.5, 1}, recall[] = {0.5, 1, 2. / 3},
               f1[] = {0.5, 2. / 3, 0.8};
  for (size_t k = 0; k < 3; ++k) {
    CHECK(figures[k].precision == doctest::Approx(precision[k]));
    CHECK(figures[k].recall == doctest::Approx(recall[k]));
    CHECK(figures[k].f1 == doctest::Approx(f1[k]));
  }
  // classification_report's "macro avg" and "weighted avg".
  const ClassMeans macro = MacroMean(figures), weighted = WeightedMean(figures);
  CHECK(macro.precision == doctest::Approx(2. / 3));
  CHECK(macro.recall == doctest::Approx(13. / 18));
  CHECK(macro.f1 == doctest::Approx(59. / 90));
  CHECK(weighted.precision == doctest::Approx(0.75));
  CHECK(weighted.recall == doctest::Approx(2. / 3));
  CHECK(weighted.f1 == doctest::Approx(61. / 90));
}

TEST_CASE("class counts: a class that nothing is of lowers no mean") {
  ClassCounter counter(kHeads);
  const ClassCounts counts =
      Counted(counter, Scored(0), {"circle", "square", "star", "none"});
  CHECK(counts.names[3] == "none");
  CHECK(MacroMean(FiguresOf(counts)).f1 == doctest::Approx(59. / 90));
}

TEST_CASE("class counts: what fills a batch up is not counted") {
  ClassCounter counter(kHeads);
  CHECK(Counted(counter, Scored(2)).counts ==
        std::vector<int64_t>{1, 1, 0, 0, 1, 0, 0, 0, 1});
}

TEST_CASE("class counts: a label that is no class stops no training") {
  ClassCounter counter(kHeads);
  CHECK(Counted(counter, Scored(0, {0, 0, -1, 2, 2, 2})).classes() == 0);
  CHECK(Counted(counter, Scored(0)).classes() == 3);  // of the next epoch
}

TEST_CASE("class counts: the pairs that are confused most") {
  ClassCounts counts{{"a", "b", "c"}, {9, 1, 3, 0, 9, 3, 2, 0, 9}};
  const auto pairs = MostConfused(counts, 3);
  REQUIRE(pairs.size() == 3);
  CHECK((pairs[0].label == 0 && pairs[0].predicted == 2));
  CHECK((pairs[1].label == 1 && pairs[1].predicted == 2));
  CHECK((pairs[2].label == 2 && pairs[2].count == 2));
}

TEST_CASE("class counts: of a language's words there are too many") {
  CHECK(ClassCounter::CanCount(kHeads));
  CHECK_FALSE(ClassCounter::CanCount({}));
  CHECK_FALSE(ClassCounter::CanCount(
      {{.kind = HeadKind::kClasses, .label = 0, .classes = 30000}}));
  CHECK_FALSE(
      ClassCounter::CanCount({{.kind = HeadKind::kValues, .label = 0}}));
  // Of two heads the classes are not the same ones.
  CHECK_FALSE(ClassCounter::CanCount({kHeads[0], kHeads[0]}));
  CHECK(
      ClassCounter::CanCount({{.kind = HeadKind::kProbabilities, .label = 0}}));
}

std::string PageAfter(const std::vector<bool>& best) {
  const test::TemporaryFolder folder("class-counts");
  auto journal = Journal::Open(folder.File("log"), 0, Report());
  REQUIRE(journal.ok());
  int64_t epoch = 0;
  for (const bool is_best : best) {
    ++epoch;
    journal->OnClasses(
        {epoch, {{"<b>", "dog"}, {100 + epoch, 0, 20, 200 + epoch}}}, is_best);
  }
  REQUIRE(journal->Close().ok());
  return test::TextOf(folder.File("log") + "/report.html");
}

bool Has(const std::string& page, const std::string& text) {
  return page.find(text) != page.npos;
}

TEST_CASE("class section: the page has the best epoch's and the last one's") {
  const std::string page = PageAfter({true, true, false, false});
  CHECK(Has(page, "after epoch 2, the best one"));
  CHECK(Has(page, ">102</td>"));
  CHECK(Has(page, "after epoch 4, the last one"));
  CHECK(Has(page, ">104</td>"));
  CHECK_FALSE(Has(page, ">101</td>"));
  CHECK_FALSE(Has(page, ">103</td>"));
  CHECK(Has(page, "&lt;b&gt;"));
  CHECK_FALSE(Has(page, "<b>"));
  const std::string whole = PageAfter({false, true});
  CHECK(Has(whole, "after epoch 2, the best one"));
  CHECK_FALSE(Has(whole, "the last one"));
}

TEST_CASE("class section: a matrix that nobody could read is not drawn") {
  ValidatedClasses many;
  many.counts.names.assign(kMostDrawn + 1, "a");
  many.counts.counts.assign((kMostDrawn + 1) * (kMostDrawn + 1), 1);
  const std::string section = ClassSection(many);
  CHECK_FALSE(Has(section, "class=\"matrix"));
  CHECK(Has(section, "is drawn of up to 200 classes"));
  CHECK(section.size() < 100'000);
}

}  // namespace
}  // namespace mxc::train
