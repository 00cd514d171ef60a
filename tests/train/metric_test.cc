// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/metric.h"

#include <cmath>
#include <limits>
#include <set>

#include "tests/train/cases.h"

namespace mxc::train {
namespace {

struct Values {
  std::vector<float> numbers;
  FloatView view;

  explicit Values(const nlohmann::json& array)
      : numbers(array["data"].get<std::vector<float>>()),
        view{numbers, array["shape"]} {}
  Values(std::vector<float> values, std::vector<int64_t> shape)
      : numbers(std::move(values)), view{numbers, std::move(shape)} {}
};

// mean(|label − Σ prediction over a row|)
double RowSumError(const FloatView& label, const FloatView& prediction) {
  double sum = 0;
  const size_t width = prediction.values.size() / label.values.size();
  for (size_t i = 0; i < label.values.size(); ++i) {
    double row = 0;
    for (size_t k = 0; k < width; ++k) {
      row += static_cast<double>(prediction.values[i * width + k]);
    }
    sum += std::abs(static_cast<double>(label.values[i]) - row);
  }
  return sum / static_cast<double>(label.values.size());
}

MetricList ListFor(const nlohmann::json& row) {
  const std::string name = row["metric"];
  if (name == "custom") {
    MetricList list;
    list.Add(std::make_unique<CustomMetric>("<lambda>", RowSumError));
    return list;
  }
  // MXNet's default is the mean over batches, which it calls macro.
  nlohmann::json arguments = row["kwargs"];
  static const std::set<std::string> over_batches = {"f1",  "mcc",  "mae",
                                                     "mse", "rmse", "pearsonr"};
  if (over_batches.contains(name) && !arguments.contains("average")) {
    arguments["average"] = "batch";
  }
  auto list = MetricList::Parse(name == "composite" ? "acc,ce"
                                                    : Spelled(name, arguments));
  REQUIRE(list.ok());
  return std::move(*list);
}

TEST_CASE("metric: MXNet's value after every update" *
          doctest::test_suite("shared")) {
  for (const auto& row : TrainingCases("metrics.jsonl")) {
    CAPTURE(row["metric"].dump());
    CAPTURE(row["kwargs"].dump());
    MetricList list = ListFor(row);
    const auto names = row["name"].is_array()
                           ? row["name"].get<std::vector<std::string>>()
                           : std::vector<std::string>{row["name"]};
    REQUIRE(list.metrics().size() == names.size());
    if (row["pairs"].empty()) CHECK(std::isnan(list.metrics()[0]->Value()));
    for (size_t i = 0; i < row["pairs"].size(); ++i) {
      CAPTURE(i);
      const Values label(row["pairs"][i]["label"]);
      const Values prediction(row["pairs"][i]["pred"]);
      // Its state is all there is to a metric.
      MetricList next = ListFor(row);
      REQUIRE(next.Restore(list.State()));
      REQUIRE(next.Update({&label.view, 1}, {&prediction.view, 1}).ok());
      list = std::move(next);
      for (size_t k = 0; k < names.size(); ++k) {
        const auto& all = row["value_after_each"][i];
        const auto& expected = all.is_array() ? all[k] : all;
        CHECK(list.metrics()[k]->name() == names[k]);
        const double value = list.metrics()[k]->Value();
        if (expected.is_null()) {
          CHECK(std::isnan(value));
        } else {
          CHECK(value == doctest::Approx(expected.get<double>()).epsilon(2e-7));
        }
      }
    }
  }
}

double ValueOf(const char* metric, const Values& label,
               const Values& prediction) {
  auto list = MetricList::Parse(metric);
  REQUIRE(list.ok());
  const Status status = list->Update({&label.view, 1}, {&prediction.view, 1});
  CHECK_MESSAGE(status.ok(), status.message());
  return list->metrics()[0]->Value();
}

// The values of `metric` where the samples come in batches of each size.
std::set<double> ValuesByBatch(const char* metric, const Values& label,
                               const Values& prediction) {
  std::set<double> values;
  const auto rows = static_cast<size_t>(label.view.shape[0]);
  const auto part = [&](const Values& all, size_t from, size_t count) {
    const size_t row = all.numbers.size() / rows;
    FloatView view = all.view;
    view.values = view.values.subspan(from * row, count * row);
    view.shape[0] = static_cast<int64_t>(count);
    return view;
  };
  for (size_t batch = 1; batch <= rows; ++batch) {
    auto list = MetricList::Parse(metric);
    REQUIRE(list.ok());
    for (size_t from = 0; from < rows; from += batch) {
      const size_t count = std::min(batch, rows - from);
      const FloatView labels = part(label, from, count);
      const FloatView predictions = part(prediction, from, count);
      REQUIRE(list->Update({&labels, 1}, {&predictions, 1}).ok());
    }
    // To nine digits: sums of other orders round otherwise.
    values.insert(std::round(list->metrics()[0]->Value() * 1e9) / 1e9);
  }
  return values;
}

TEST_CASE("metric: values do not depend on how samples are batched") {
  const Values label({1, 0, 1, 1, 0, 1, 0}, {7}),
      two({.1f, .9f, .6f, .4f, .3f, .7f, .8f, .2f, .4f, .6f, .2f, .8f, .9f,
           .1f},
          {7, 2}),
      value({.9f, .3f, .7f, .2f, .6f, .8f, .1f}, {7});
  for (const char* metric :
       {"acc", "top_2", "f1", "f1:average=macro", "mcc", "mcc:average=macro",
        "pcc", "ce", "nll_loss", "perplexity"}) {
    CAPTURE(metric);
    CHECK(ValuesByBatch(metric, label, two).size() == 1);
  }
  for (const char* metric : {"mae", "mse", "rmse", "pearsonr", "loss"}) {
    CAPTURE(metric);
    CHECK(ValuesByBatch(metric, label, value).size() == 1);
  }
  // numpy.corrcoef of all seven.
  CHECK(*ValuesByBatch("pearsonr", label, value).begin() ==
        doctest::Approx(0.540436).epsilon(1e-5));
}

TEST_CASE("metric: macro is the mean over the classes that there are") {
  // scikit-learn's f1_score(y, p, average="macro") of y = 0 0 1 2 2 2 and
  // p = 0 1 1 2 2 0: F1 is 1/2, 2/3 and 4/5.
  const Values label({0, 0, 1, 2, 2, 2}, {6});
  const Values prediction(
      {1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0},
      {6, 4});
  CHECK(ValueOf("f1:average=macro", label, prediction) ==
        doctest::Approx((1.0 / 2 + 2.0 / 3 + 4.0 / 5) / 3));
  auto list = MetricList::Parse("f1");
  CHECK(list->Update({&label.view, 1}, {&prediction.view, 1}).message() ==
        "f1 tells two classes apart, but there are 4; f1:average=macro is the "
        "mean over the classes");
}

TEST_CASE("metric: labels that are distributions name their largest class") {
  const Values hot({1, 0, 0, 0, 1, 0, 0, 0, 1}, {3, 3});
  const Values said({.5f, .3f, .2f, .6f, .3f, .1f, .2f, .3f, .5f}, {3, 3});
  CHECK(ValueOf("accuracy", hot, said) == doctest::Approx(2.0 / 3));
  CHECK(ValueOf("top_2", hot, said) == 1);
  CHECK(ValueOf("pcc", hot, said) ==
        ValueOf("pcc", Values({0, 1, 2}, {3}), said));
  CHECK(ValueOf("f1:average=macro", hot, said) ==
        ValueOf("f1:average=macro", Values({0, 1, 2}, {3}), said));
  CHECK(ValueOf("ce", hot, said) ==
        doctest::Approx(ValueOf("ce", Values({0, 1, 2}, {3}), said)));
}

TEST_CASE("metric: reset forgets") {
  const Values label({1, 0, 1, 1}, {4}),
      prediction({.1f, .9f, .6f, .4f, .3f, .7f, .8f, .2f}, {4, 2});
  for (const char* text : {"acc", "f1", "f1:average=micro", "mcc", "pcc", "ce",
                           "perplexity", "loss"}) {
    CAPTURE(text);
    auto metrics = MetricList::Parse(text);
    REQUIRE(metrics->Update({&label.view, 1}, {&prediction.view, 1}).ok());
    const double once = metrics->metrics()[0]->Value();
    metrics->Reset();
    CHECK(std::isnan(metrics->metrics()[0]->Value()));
    REQUIRE(metrics->Update({&label.view, 1}, {&prediction.view, 1}).ok());
    CHECK(metrics->metrics()[0]->Value() == once);
  }
}

TEST_CASE("metric: top_5 counts rows whose label is among the five largest") {
  const Values prediction({6, 5, 4, 3, 2, 1, 6, 5, 4, 3, 2, 1}, {2, 6});
  CHECK(ValueOf("top_5", Values({4, 5}, {2}), prediction) == 0.5);
  CHECK(MetricList::Parse("top_5")->metrics()[0]->name() == "top_5");
  // Equal predictions: the lower class first; a label out of range never.
  const Values equal({1, 1, 1, 1, 1, 1}, {2, 3});
  CHECK(ValueOf("top_2", Values({1, 2}, {2}), equal) == 0.5);
  CHECK(ValueOf("top_2", Values({-1, 7}, {2}), equal) == 0);
}

TEST_CASE("metric: numbers that are no class are wrong, never undefined") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Values prediction({.2f, .8f, .7f, .3f, nan, nan}, {3, 2});
  CHECK(ValueOf("acc", Values({nan, 1e30f, -1e30f}, {3}), prediction) == 0);
  CHECK(ValueOf("top_2", Values({nan, 3e9f, 0}, {3}), prediction) == 0);
}

TEST_CASE("metric: refusals") {
  const auto message = [](const char* text) {
    const auto list = MetricList::Parse(text);
    return list.ok() ? std::string() : list.status().message();
  };
  CHECK(message("accurracy")
            .starts_with("metric 'accurracy' is unknown; nearest: "
                         "accuracy; expected one of accuracy, acc"));
  CHECK(message("acc,accuracy") == "metric 'accuracy' is named twice");
  CHECK(message("top_1") ==
        "metric 'top_1' needs top_k=2 or more; for 1 there is accuracy");
  CHECK_FALSE(message("top_k_accuracy").empty());
  CHECK_FALSE(message("f1:average=none").empty());
  CHECK_FALSE(message("mae:eps=1").empty());
  CHECK_FALSE(message("acc,,ce").empty());

  const Values label({0, 1, 2}, {3}), prediction({1, 2, 3, 4}, {2, 2});
  for (const char* text : {"acc", "top_2", "f1", "mcc", "perplexity", "mae",
                           "ce", "pearsonr", "pcc"}) {
    CAPTURE(text);
    auto list = MetricList::Parse(text);
    CHECK_FALSE(list->Update({&label.view, 1}, {&prediction.view, 1}).ok());
    CHECK_FALSE(list->Update({}, {&prediction.view, 1}).ok());
    CHECK(std::isnan(list->metrics()[0]->Value()));
  }
  const Values classes({0, 5}, {2});
  auto list = MetricList::Parse("ce");
  const Status status = list->Update({&classes.view, 1}, {&prediction.view, 1});
  CHECK(status.message() == "cross-entropy: label 5 is none of 2 classes");
  CHECK_FALSE(MetricList::Parse("ce")->Restore(std::vector<double>{2, 1}));
  CHECK_FALSE(MetricList::Parse("ce")->Restore(std::vector<double>{-1e300}));
}

}  // namespace
}  // namespace mxc::train
