// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/event_log.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "runtime/train/chart.h"
#include "runtime/train/journal.h"
#include "runtime/train/report.h"
#include "tests/support/shared.h"
#include "tests/support/temporary_folder.h"

namespace mxc::train {
namespace {

namespace fs = std::filesystem;

std::string FolderFor(const char* name) {
  const fs::path path = fs::temp_directory_path() /
                        (std::string(name) + std::to_string(getpid()));
  fs::remove_all(path);
  return path.string();
}

// RFC 3720, B.4.
TEST_CASE("event log: CRC-32C of known bytes") {
  const std::vector<std::byte> zeros(32), ones(32, std::byte{0xff});
  CHECK(Crc32c(zeros) == 0x8a9136aau);
  CHECK(Crc32c(ones) == 0x62a8ab43u);
  std::vector<std::byte> rising;
  for (int i = 0; i < 32; ++i) rising.push_back(static_cast<std::byte>(i));
  CHECK(Crc32c(rising) == 0x46dd794eu);
}

TEST_CASE("histogram: every finite value is in the bucket that ends above it") {
  std::vector<float> values;
  for (int i = 0; i <= 640; ++i) values.push_back(static_cast<float>(i) - 320);
  values.push_back(NAN);
  const Histogram histogram = HistogramOf(values);
  CHECK(histogram.count == 641);
  CHECK(histogram.least == -320);
  CHECK(histogram.most == 320);
  CHECK(histogram.sum == 0);
  CHECK(histogram.sum_of_squares == doctest::Approx(320. * 321 * 641 / 3));
  REQUIRE(histogram.counts.size() == histogram.limits.size());
  for (size_t k = 0; k < histogram.counts.size(); ++k) {
    const bool last = k + 1 == histogram.counts.size();
    CHECK(histogram.counts[k] == (last ? 11 : 10));
  }
  CHECK(histogram.limits.back() == 320);
  CHECK(HistogramOf(std::vector<float>(7, 2)).counts == std::vector<double>{7});
  CHECK(HistogramOf(std::vector<float>{NAN}).count == 0);
}

TEST_CASE("journal: the norm of all gradients has a chart, each its row") {
  const std::string folder = FolderFor("mxc_gradients.");
  const std::vector<std::string> names = {"a_weight", "a_bias", "b_weight"};
  for (const bool norms : {false, true}) {
    CAPTURE(norms);
    fs::remove_all(folder);
    auto journal = Journal::Open(folder, 0, {}, norms);
    REQUIRE(journal.ok());
    journal->OnGradients(10, names, std::vector<float>{3, 4, NAN});
    journal->OnWeights(10, "a_weight", std::vector<float>{1, 2});
    REQUIRE(journal->Close().ok());
    const SeriesMap series = ReadEvents(folder + "/train", 100);
    REQUIRE(series.contains("gradient_norm"));
    CHECK(series.at("gradient_norm")[0].value == 5);
    CHECK(series.contains("norms/a_bias") == norms);
    if (norms) CHECK(series.at("norms/a_bias")[0].value == 4);
    CHECK(!series.contains("norms/b_weight"));
    CHECK(!series.contains("weights/a_weight"));  // no scalar
    std::ifstream file(folder + "/report.html");
    const std::string page((std::istreambuf_iterator<char>(file)), {});
    CHECK(page.find(">gradient_norm</text>") != page.npos);
    CHECK(page.find(">a_bias</text>") == page.npos);
    CHECK(page.find("<td>a_bias</td><td>4</td>") != page.npos);
  }
  fs::remove_all(folder);
}

TEST_CASE("event log: what is written is read, also after a resume") {
  const std::string folder = FolderFor("mxc_event_log.");
  {
    auto log = EventLog::Create(folder);
    REQUIRE(log.ok());
    for (int64_t step = 10; step <= 50; step += 10) {
      log->Write(step,
                 std::vector<Scalar>{{"loss", 1.0 / static_cast<double>(step)},
                                     {"lr", 0.5}});
    }
    CHECK(log->status().ok());
  }
  SeriesMap series = ReadEvents(folder, 30);  // the later ones were lost
  REQUIRE(series["loss"].size() == 3);
  CHECK(series["loss"][2].step == 30);
  CHECK(series["loss"][2].value == doctest::Approx(1.0 / 30));
  {
    auto log = EventLog::Create(folder);
    log->Write(40, std::vector<Scalar>{{"loss", 7}});
  }
  series = ReadEvents(folder, 1000);
  CHECK(series["loss"].size() == 4);
  CHECK(std::abs(series["loss"][0].time - WallTime()) < 3600);
  CHECK(series["loss"][3].value == 7);
  fs::remove_all(folder);
}

TEST_CASE("journal: training and validation are two runs with the same tags") {
  const test::TemporaryFolder folder("journal");
  {
    auto journal = Journal::Open(folder.File("log"), 0, Report());
    REQUIRE(journal.ok());
    CHECK_FALSE(fs::exists(folder.path() / "log/validation"));
    Progress progress;
    progress.step = 10;
    progress.loss = 0.5;
    progress.learning_rate = 0.125;
    journal->OnStep(progress);
    EpochSummary summary;
    summary.step = 12;
    summary.metrics = {{"accuracy", 0.5}};
    summary.validation = {0.75, {{"accuracy", 0.625}}};
    journal->OnEpoch(summary);
    REQUIRE(journal->Close().ok());
  }
  const SeriesMap train = ReadEvents(folder.File("log/train"), 100);
  const SeriesMap validation = ReadEvents(folder.File("log/validation"), 100);
  CHECK(train.at("loss")[0].value == 0.5);
  CHECK(train.at("accuracy")[0].value == 0.5);
  CHECK(validation.at("loss")[0].value == 0.75);
  CHECK(validation.at("accuracy")[0].value == 0.625);
  CHECK(validation.size() == 2);
  const SeriesMap run = ReadRun(folder.File("log"), 100);
  for (const char* name : {"train/loss", "val/loss", "learning_rate",
                           "samples_per_s", "epochs/epoch"}) {
    CHECK_MESSAGE(run.contains(name), name);
  }
  CHECK(run.size() == train.size() + validation.size());
}

// The event files of a folder, one after another.
std::string EventsIn(const std::string& folder) {
  std::string bytes;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file()) bytes += ReadText(entry.path().string());
  }
  return bytes;
}

TEST_CASE("journal: what a run was told is on its page and in the table") {
  const test::TemporaryFolder folder("journal");
  Report report;
  report.settings = {{"optimizer", "sgd"}, {"momentum", "0.5"}};
  auto journal = Journal::Open(folder.File("log"), 0, std::move(report));
  REQUIRE(journal.ok());
  EpochSummary summary;
  summary.step = 100;
  summary.loss = 0.25;
  summary.metrics = {{"accuracy", 0.5}};
  summary.validation = {0.75, {{"accuracy", 0.625}}};
  journal->OnEpoch(summary);
  REQUIRE(journal->Close().ok());
  const std::string page = ReadText(folder.File("log") + "/report.html");
  CHECK(page.find("<td>momentum</td><td>0.5</td>") != page.npos);
  const std::string table = folder.File("log") + "/hparams";
  const SeriesMap results = ReadEvents(table, 1000);
  REQUIRE(results.size() == 4);
  CHECK(results.at("final/val_accuracy")[0].value == 0.625);
  CHECK(results.at("final/loss")[0].step == 100);
  // A number is field 2 of google.protobuf.Value, a text field 3.
  const std::string events = EventsIn(table);
  const double half = 0.5;
  const std::string number(reinterpret_cast<const char*>(&half), sizeof half);
  CHECK(events.find("\x0a\x08momentum\x12\x09\x11" + number) != events.npos);
  CHECK(events.find("\x0a\x09optimizer\x12\x05\x1a\x03sgd") != events.npos);
  CHECK(events.find("_hparams_/session_end_info") != events.npos);
}

TEST_CASE("event log: damaged files end where they are damaged") {
  const std::string folder = FolderFor("mxc_event_damage.");
  {
    auto log = EventLog::Create(folder);
    for (int64_t step = 1; step <= 9; ++step) {
      log->Write(step, std::vector<Scalar>{{"loss", 1}});
    }
  }
  const std::string whole =
      ReadText(fs::directory_iterator(folder)->path().string());
  std::mt19937 random(2);
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = whole.substr(0, random() % (whole.size() + 1));
    if (!damaged.empty() && i % 2 == 0) {
      damaged[random() % damaged.size()] ^= static_cast<char>(random());
    }
    SeriesMap series;
    ParseEvents(std::as_bytes(std::span(damaged)), series);
    CHECK(series["loss"].size() <= 9);
  }
  fs::remove_all(folder);
}

TEST_CASE("chart: labels and points lie on the page, text is escaped") {
  CHECK(ShortNumber(0.025) == "0.025");
  CHECK(ShortNumber(12000) == "12k");
  CHECK(ShortNumber(2500000) == "2.5M");
  CHECK(ShortNumber(1.25e-5) == "1.25e-05");
  CHECK(ShortNumber(0) == "0");
  CHECK(EscapeXml("a<b> & \"c\"\n") == "a&lt;b&gt; &amp; &quot;c&quot; ");
  std::vector<Point> points;
  for (int64_t i = 0; i < 5000; ++i) {
    points.push_back({i, i % 100 == 0 ? NAN : std::exp(-1e-3 * double(i))});
  }
  const std::string svg =
      DrawChart("loss <1>", {{"train", points}, {"val", {{10, 0.5}}}});
  CHECK(svg.find("loss &lt;1&gt;") != std::string::npos);
  CHECK(svg.find("nan") == std::string::npos);
  CHECK(svg.size() < 30000);  // thinned
  // Nothing to draw, one value, equal values: no division by zero.
  for (const auto& few : std::vector<std::vector<Point>>{
           {}, {{3, 0.25}}, {{1, 2}, {2, 2}}, {{1, INFINITY}}}) {
    const std::string drawn = DrawChart("x", {{"a", few}});
    CHECK(drawn.find("nan") == std::string::npos);
    CHECK(drawn.find("inf") == std::string::npos);
  }
}

TEST_CASE("chart: names of many curves stand in rows below it") {
  const auto height_of = [](const std::string& svg) {
    const size_t at = svg.find("viewBox=\"0 0 560 ") + 17;
    return std::stod(svg.substr(at));
  };
  const std::vector<Curve> two = {{"train", {{1, 2}}}, {"val", {{1, 3}}}};
  CHECK(height_of(DrawChart("loss", two)) == 260);
  std::vector<Curve> many = two;
  for (int run = 0; run < 4; ++run) {
    many.push_back({"lr=0.05,momentum=0.9 train", {{1, 2}}, true});
  }
  const std::string svg = DrawChart("loss", many);
  CHECK(height_of(svg) > 290);
  for (size_t at = 0; (at = svg.find("<text x=\"", at)) != svg.npos; ++at) {
    CHECK(std::stod(svg.substr(at + 9)) > 0);
  }
}

// The heights of the first curve's points.
std::vector<std::string> HeightsOf(const std::string& svg) {
  std::vector<std::string> heights;
  const size_t begin = svg.find("points=\"") + 8;
  std::istringstream points(svg.substr(begin, svg.find('"', begin) - begin));
  for (std::string point; points >> point;) {
    heights.push_back(point.substr(point.find(',') + 1));
  }
  return heights;
}

TEST_CASE("chart: decades where values differ by them, no curve of rounding") {
  const std::vector<Curve> falling = {{"a", {{1, 1}, {2, 0.01}, {3, 1e-4}}}};
  const std::string svg = DrawChart("loss", falling, Axis::kLogarithmic);
  for (const char* label : {">1<", ">0.1<", ">0.01<", ">0.001<", ">0.0001<"}) {
    CHECK_MESSAGE(svg.find(label) != std::string::npos, label);
  }
  const auto heights = HeightsOf(svg);
  REQUIRE(heights.size() == 3);
  CHECK(std::stod(heights[0]) + std::stod(heights[2]) ==
        doctest::Approx(2 * std::stod(heights[1])).epsilon(1e-3));
  // A loss that reaches 0 has no logarithm.
  const std::string zero =
      DrawChart("loss", {{"a", {{1, 1}, {2, 0}}}}, Axis::kLogarithmic);
  CHECK(zero.find("inf") == std::string::npos);
  const auto flat = HeightsOf(
      DrawChart("rate", {{"a", {{1, 0.05}, {2, 0.05000001}, {3, 0.05}}}}));
  CHECK(flat == std::vector<std::string>(3, flat.front()));
}

TEST_CASE("chart: a script finds the points, and their times") {
  const std::string svg =
      DrawChart("loss", {{"train", {{1, 0.5, 1e9}, {2, 0.25, 1e9 + 7}}},
                         {"<run> train", {{1, 0.75, 5e8}}, true}});
  const size_t begin = svg.find("data-chart=\"") + 12;
  std::string text = svg.substr(begin, svg.find('"', begin) - begin);
  for (size_t at; (at = text.find("&quot;")) != std::string::npos;) {
    text.replace(at, 6, "\"");
  }
  const auto chart = nlohmann::json::parse(text);
  CHECK(chart["curves"][0]["points"] ==
        nlohmann::json::parse("[[1, 0.5, 0], [2, 0.25, 7]]"));
  CHECK(chart["curves"][1]["points"] == nlohmann::json::parse("[[1, 0.75]]"));
  CHECK(chart["curves"][1]["name"] == "&lt;run&gt; train");
  CHECK(chart["steps"] == nlohmann::json::parse("[1, 2]"));
}

TEST_CASE("journal: a row for each epoch, those before a resume, too") {
  const test::TemporaryFolder folder("journal");
  const auto train = [&](int64_t from, int64_t to) {
    auto journal = Journal::Open(folder.File("log"), from * 100, Report());
    REQUIRE(journal.ok());
    for (int64_t epoch = from + 1; epoch <= to; ++epoch) {
      EpochSummary summary;
      summary.epoch = epoch;
      summary.step = 100 * epoch;
      summary.loss = 1.0 / static_cast<double>(epoch);
      summary.seconds = 65;
      summary.metrics = {{"accuracy", 0.5}};
      summary.validation = {0.75, {{"accuracy", 0.625}}};
      journal->OnEpoch(summary);
    }
    REQUIRE(journal->Close().ok());
    return ReadText(folder.File("log") + "/report.html");
  };
  train(0, 3);
  const std::string page = train(2, 4);  // the third is trained again
  const auto count = [&](const std::string& text) {
    int found = 0;
    for (size_t at = 0; (at = page.find(text, at)) != page.npos; ++at) ++found;
    return found;
  };
  CHECK(count("<tr><th>epoch</th><th>step</th><th>loss</th><th>accuracy</th>"
              "<th>val accuracy</th><th>val loss</th>") == 1);
  CHECK(count("<tr><td>2</td><td>200</td><td>0.5</td><td>0.5</td>"
              "<td>0.625</td><td>0.75</td>") == 1);
  CHECK(count("<tr><td>3</td><td>300</td>") == 1);
  CHECK(count("<td>1:05</td><td>20") == 4);
  CHECK(page.find(">epochs") == page.npos);  // no chart of what is in the table
}

TEST_CASE("journal: a page that renews itself, with the runs beside it") {
  const test::TemporaryFolder folder("journal");
  const auto log = [&](const char* run, double loss) {
    Report report;
    report.title = run;
    auto journal = Journal::Open(folder.File(run), 0, std::move(report));
    REQUIRE(journal.ok());
    Progress progress;
    progress.step = 10;
    progress.loss = loss;
    journal->OnStep(progress);
    const std::string meanwhile = ReadText(folder.File(run) + "/report.html");
    CHECK(meanwhile.find("http-equiv=\"refresh\"") != std::string::npos);
    REQUIRE(journal->Close().ok());
    return ReadText(folder.File(run) + "/report.html");
  };
  const std::string first = log("first", 0.5);
  CHECK(first.find("http-equiv") == std::string::npos);
  CHECK(first.find(">second") == std::string::npos);
  CHECK(log("second", 0.25).find(">first train<") != std::string::npos);
}

}  // namespace
}  // namespace mxc::train
