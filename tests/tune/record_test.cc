// SPDX-License-Identifier: Apache-2.0
#include "runtime/tune/record.h"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "tests/support/temporary_folder.h"

namespace mxc::tune {
namespace {

const Texts kHead = {{"space", "lr=log(0.1,1)"}, {"trials", "3"}};

std::unique_ptr<Record> Opened(const std::string& path) {
  auto record = Record::Open(path, kHead, true);
  REQUIRE_MESSAGE(record.ok(), record.status().message());
  return std::move(*record);
}

std::string RecordRefusal(const std::string& path, const Texts& head = kHead,
                          bool resume = true) {
  const auto record = Record::Open(path, head, resume);
  return record.ok() ? "" : record.status().message();
}

void Fill(const std::string& path) {
  const auto record = Opened(path);
  CHECK(record->Begin(0, {{"lr", "0.3"}}).ok());
  CHECK(record
            ->Add(0, 1,
                  {.value = 0.1 + 0.2,
                   .loss = std::nan(""),
                   .seconds = 1.5,
                   .metrics = {{"accuracy", 0.5}},
                   .validation = {{"loss", 2}, {"accuracy", std::nan("")}}})
            .ok());
  CHECK(record->Begin(1, {{"lr", "0.4"}}).ok());
  CHECK(record->End(1, "failed: \"a\" \xff\n").ok());
}

void Append(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::app) << text;
}

TEST_CASE("record: what was added is read back") {
  const test::TemporaryFolder folder("tune-record");
  const std::string path = folder.File("deep/er/a.jsonl");
  Fill(path);
  const auto record = Opened(path);
  const std::vector<TrialRecord> trials = record->trials();
  REQUIRE(trials.size() == 2);
  CHECK(trials[0].parameters == Texts{{"lr", "0.3"}});
  REQUIRE(trials[0].epochs.size() == 1);
  const EpochResult& result = trials[0].epochs.at(1);
  CHECK(result.value == 0.1 + 0.2);
  CHECK(std::isnan(result.loss));
  CHECK(result.metrics == train::MetricValues{{"accuracy", 0.5}});
  CHECK(result.validation[0].second == 2);
  CHECK(std::isnan(result.validation[1].second));
  CHECK(trials[1].failed());
}

TEST_CASE("record: half a line of a killed search is cut off") {
  const test::TemporaryFolder folder("tune-torn");
  const std::string path = folder.File("a.jsonl");
  Fill(path);
  const std::string whole = test::TextOf(path);
  Append(path, "{\"trial\":2,\"param");
  Opened(path);
  CHECK(test::TextOf(path) == whole);
  // Half of the first line is as if there were none.
  std::ofstream(path) << whole.substr(0, 9);
  CHECK(Opened(path)->trials().empty());
}

TEST_CASE("record: nothing is written twice") {
  const test::TemporaryFolder folder("tune-twice");
  const std::string path = folder.File("a.jsonl");
  Fill(path);
  const auto size = std::filesystem::file_size(path);
  const auto record = Opened(path);
  CHECK(record->Begin(0, {{"lr", "0.3"}}).ok());
  CHECK(record->Add(0, 1, {.value = 5, .metrics = {}, .validation = {}}).ok());
  CHECK(std::filesystem::file_size(path) == size);
  CHECK(record->Begin(0, {{"lr", "0.5"}})
            .message()
            .find("has other parameters for trial 0") != std::string::npos);
}

TEST_CASE("record: another search's, or a damaged one, is refused") {
  const test::TemporaryFolder folder("tune-other");
  const std::string path = folder.File("a.jsonl");
  Fill(path);
  CHECK(RecordRefusal(path, {{"space", "lr=log(0.1,1)"}, {"trials", "4"}}) ==
        "'" + path + "', line 1: its trials is '3', and this search's is '4'");
  CHECK(RecordRefusal(path, kHead, false).find("--resume goes on with it") !=
        std::string::npos);
  const std::string whole = test::TextOf(path);
  for (const std::string line :
       {"nonsense", "{\"trial\":1}", "{\"trial\":7,\"over\":\"\"}", "[]", "",
        "{\"trial\":-1,\"over\":\"\"}", "{\"trial\":0,\"parameters\":3}",
        "{\"trial\":0,\"epoch\":1,\"metrics\":[],\"validation\":7}"}) {
    CAPTURE(line);
    std::ofstream(path) << whole << line << "\n";
    CHECK(RecordRefusal(path).find("line 6") != std::string::npos);
  }
  std::ofstream(path) << "{}\n";
  CHECK(RecordRefusal(path) ==
        "'" + path + "', line 1: it is no record of a search");
}

TEST_CASE("record: two searches cannot write to one") {
  const test::TemporaryFolder folder("tune-lock");
  const std::string path = folder.File("a.jsonl");
  const auto record = Opened(path);
  CHECK(Record::Open(path, kHead, true).status().code() ==
        runtime::StatusCode::kBusy);
}

TEST_CASE("record: the best epoch of a trial is the first of the best") {
  TrialRecord trial;
  for (const auto& [epoch, value] : std::vector<std::pair<int64_t, double>>{
           {1, std::nan("")}, {2, 3}, {3, 1}, {4, 1}, {5, 0}}) {
    trial.epochs[epoch] = {.value = value, .metrics = {}, .validation = {}};
  }
  CHECK(trial.Best(4, true) == std::pair<double, int64_t>{1, 3});
  CHECK(trial.Best(5, true) == std::pair<double, int64_t>{0, 5});
  CHECK(trial.Best(5, false) == std::pair<double, int64_t>{3, 2});
  CHECK(trial.Best(1, true).second == 0);
}

}  // namespace
}  // namespace mxc::tune
