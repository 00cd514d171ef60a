// SPDX-License-Identifier: Apache-2.0
#include "runtime/fit/settings.h"

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

namespace mxc::fit {
namespace {

std::string Refusal(const std::vector<Setting>& settings) {
  const auto request = ReadRequest(settings);
  REQUIRE_FALSE(request.ok());
  return request.status().message();
}

TEST_CASE("settings are read by the names of the command's options") {
  const std::vector<Setting> settings = {{"data", "npy:x.npy,y.npy"},
                                         {"data-opt", "scale=2"},
                                         {"data-opt", "shuffle=1"},
                                         {"epochs", "3"},
                                         {"epochs", "4"},
                                         {"lr", "0.25"},
                                         {"ema", "0.5"},
                                         {"resume", "1"},
                                         {"save", "net"},
                                         {"kvstore", "dist_async"},
                                         {"seed", "7"},
                                         {"keep-epochs", "2"}};
  const auto request = ReadRequest(settings);
  REQUIRE(request.ok());
  CHECK(request->samples.data == "npy:x.npy,y.npy");
  CHECK(request->samples.settings ==
        std::vector<std::string>{"scale=2", "shuffle=1"});
  CHECK(request->trainer.epochs == 4);
  CHECK(request->learning_rate == 0.25);
  CHECK(request->trainer.ema == 0.5);
  CHECK(request->trainer.resume);
  CHECK_FALSE(request->trainer.overwrite);
  CHECK(request->job.kvstore == "dist_async");
  CHECK(request->samples.seed == 7);
  CHECK(request->trainer.keep.epochs == 2);
}

TEST_CASE("what is not set is as the command has it") {
  const auto request = ReadRequest({});
  REQUIRE(request.ok());
  CHECK(request->trainer.epochs == 1);
  CHECK_FALSE(request->learning_rate.has_value());
  CHECK(request->trainer.keep.steps == 2);
  CHECK(request->job.kvstore == "dist_sync");
}

TEST_CASE("every mistake is told, with what is expected") {
  const std::string text = Refusal({{"epoch", "3"},
                                    {"epochs", "0"},
                                    {"lr", "fast"},
                                    {"ema", "1"},
                                    {"seed", "-1"},
                                    {"on-bad-record", "ask"},
                                    {"resume", "perhaps"},
                                    {"lr-schedule", "cosin"},
                                    {"kvstore", "dist_synk"}});
  for (const char* part :
       {"no setting 'epoch'; nearest: epochs", "epochs is '0', expected",
        "lr is 'fast', expected", "ema is '1', expected", "seed is '-1'",
        "on-bad-record is 'ask', expected skip or stop",
        "resume is 'perhaps', expected", "lr-schedule: ", "cosin",
        "kvstore: 'dist_synk' is none of", "nearest: dist_sync"}) {
    CAPTURE(part);
    CHECK(text.find(part) != text.npos);
  }
}

TEST_CASE("numbers are whole where they count, and fit their type") {
  CHECK(Refusal({{"epochs", "1.5"}}).starts_with("epochs is '1.5'"));
  CHECK(Refusal({{"staleness", "4294967296"}}).starts_with("staleness is"));
  CHECK(Refusal({{"data-threads", "1000"}}).starts_with("data-threads is"));
  CHECK(Refusal({{"lr", "nan"}}).starts_with("lr is 'nan'"));
}

TEST_CASE("the list has every setting, with its default") {
  std::istringstream lines(DescribeSettings());
  int settings = 0;
  bool epochs = false;
  for (std::string line; std::getline(lines, line);) {
    settings += line.starts_with("  ") && line[2] != ' ' ? 1 : 0;
    epochs |= line.starts_with("  epochs=1 ");
  }
  CHECK(epochs);
  CHECK(settings >= 40);
}

}  // namespace
}  // namespace mxc::fit
