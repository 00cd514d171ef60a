// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/checkpoint.h"
#include "runtime/train/retention.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "runtime/formats/ndarray_list.h"
#include "tests/support/shared.h"

namespace mxc::train {
namespace {

namespace fs = std::filesystem;
using runtime::Array;
using runtime::ElementType;

// A folder that goes with the test.
class Folder {
 public:
  Folder() {
    static int count = 0;
    path_ = fs::temp_directory_path() /
            ("mxc_checkpoint." + std::to_string(getpid()) + "." +
             std::to_string(count++));
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  std::string prefix() const { return (path_ / "out" / "net").string(); }

  std::vector<std::string> Files() const {
    std::vector<std::string> files;
    for (const auto& file : fs::directory_iterator(path_ / "out")) {
      files.push_back(file.path().filename());
    }
    std::sort(files.begin(), files.end());
    return files;
  }

 private:
  fs::path path_;
};

Array FloatArray(std::vector<float> values) {
  Array array = *Array::Allocate(ElementType::kF32,
                                 {static_cast<int64_t>(values.size())});
  std::memcpy(array.bytes().data(), values.data(), array.bytes().size());
  return array;
}

std::vector<float> ValuesOf(const Array& array) {
  std::vector<float> values(array.bytes().size() / sizeof(float));
  std::memcpy(values.data(), array.bytes().data(), array.bytes().size());
  return values;
}

Checkpoint Example(int64_t step) {
  Checkpoint checkpoint;
  checkpoint.step = step;
  checkpoint.epoch = 2;
  checkpoint.symbol = "{\"nodes\": []}";
  const auto value = static_cast<float>(step);
  checkpoint.parameters = {{"arg:fc_weight", FloatArray({value, 2, 3})},
                           {"aux:bn_moving_mean", FloatArray({4})}};
  checkpoint.updater.entries = {
      {int64_t{0},
       {.array = {},
        .is_tuple = true,
        .items = {{.array = FloatArray({5}), .is_tuple = false, .items = {}},
                  {.array = FloatArray({6}), .is_tuple = false, .items = {}}}}},
      {int64_t{1}, {}}};
  checkpoint.states = {{"random", FloatArray({7, 8})}};
  checkpoint.notes = {{"cursor", "cursor 0 12 00ff"}, {"empty", ""}};
  return checkpoint;
}

void Damage(const std::string& path) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-9, std::ios::end);
  file.put('\x77');
}

TEST_CASE("checkpoint: what is written is read") {
  const Folder folder;
  const CheckpointName name = EpochCheckpoint(folder.prefix(), 3);
  REQUIRE(WriteCheckpoint(name, Example(120)).ok());
  CHECK(folder.Files() ==
        std::vector<std::string>{"net-0003.mxc", "net-0003.params",
                                 "net-0003.states", "net-symbol.json"});
  const auto read = ReadCheckpoint(name);
  REQUIRE_MESSAGE(read.ok(), read.status().message());
  CHECK(read->step == 120);
  CHECK(read->epoch == 2);
  CHECK(read->symbol == "{\"nodes\": []}");
  CHECK(read->notes == Example(0).notes);
  REQUIRE(read->parameters.size() == 2);
  CHECK(read->parameters[0].name == "arg:fc_weight");
  CHECK(ValuesOf(read->parameters[0].array) == std::vector<float>{120, 2, 3});
  REQUIRE(read->updater.entries.size() == 2);
  CHECK(ValuesOf(FlattenState(read->updater.entries[0].value)[1]) ==
        std::vector<float>{6});
  REQUIRE(read->states.size() == 1);
  CHECK(ValuesOf(read->states[0].array) == std::vector<float>{7, 8});
}

TEST_CASE("checkpoint: notes are of the parameters that they lie beside") {
  const Folder folder;
  const CheckpointName name = EpochCheckpoint(folder.prefix(), 3);
  REQUIRE(WriteCheckpoint(name, Example(120)).ok());
  CHECK(ProvenanceOf(name.Path("params")).Note("cursor") == "cursor 0 12 00ff");
  CHECK(ProvenanceOf(name.Path("params")).Note("other").empty());
  CHECK(ProvenanceOf(folder.prefix() + "-0004.params").Note("cursor").empty());
  Damage(name.Path("params"));
  CHECK(ProvenanceOf(name.Path("params")).Note("cursor").empty());
}

TEST_CASE("checkpoint: the newest complete set is found") {
  const Folder folder;
  const std::string prefix = folder.prefix();
  CHECK_FALSE((*FindNewestComplete(prefix)).has_value());
  const auto newest = [&] {
    const auto found = *FindNewestComplete(prefix);
    return found ? found->name.Path("mxc").substr(prefix.size() - 3) : "none";
  };
  REQUIRE(WriteCheckpoint(EpochCheckpoint(prefix, 1), Example(50)).ok());
  REQUIRE(WriteCheckpoint(StepCheckpoint(prefix, 60), Example(60)).ok());
  REQUIRE(WriteCheckpoint(StepCheckpoint(prefix, 80), Example(80)).ok());
  CHECK(newest() == "net-step-0080.mxc");
  Damage(StepCheckpoint(prefix, 80).Path("params"));
  CHECK(newest() == "net-step-0060.mxc");
  CHECK_FALSE(ReadCheckpoint(StepCheckpoint(prefix, 80)).ok());
  Damage(StepCheckpoint(prefix, 60).Path("mxc"));
  CHECK(newest() == "net-0001.mxc");
  fs::remove(prefix + "-0001.states");
  CHECK(newest() == "none");
}

TEST_CASE("checkpoint: sets are asked for from the newest on") {
  const Folder folder;
  const std::string prefix = folder.prefix();
  for (const int64_t step : {20, 9, 40, 12}) {
    REQUIRE(WriteCheckpoint(StepCheckpoint(prefix, step), Example(step)).ok());
  }
  std::vector<int64_t> asked;
  const auto found = *FindNewestComplete(prefix, "", [&](int64_t steps) {
    asked.push_back(steps);
    return steps <= 20;
  });
  REQUIRE(found.has_value());
  CHECK(found->name.Path("mxc").ends_with("-step-0020.mxc"));
  CHECK(asked == std::vector<int64_t>{40, 20});
}

TEST_CASE("checkpoint: outdated sets and files of killed writers go") {
  const Folder folder;
  const std::string prefix = folder.prefix();
  REQUIRE(WriteCheckpoint(EpochCheckpoint(prefix, 1), Example(10)).ok());
  for (const int64_t step : {20, 9, 40, 12000}) {
    REQUIRE(WriteCheckpoint(StepCheckpoint(prefix, step), Example(step)).ok());
  }
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  const std::string dead = ".params." + std::to_string(child) + ".0x7fff";
  const std::string alive = ".params." + std::to_string(getpid()) + ".0x7fff";
  std::ofstream(prefix + "-0002" + dead) << "half";
  std::ofstream(prefix + "-0002" + alive) << "half";
  RemoveAbandoned(prefix);
  RemoveOutdated(prefix, "", {.steps = 2});
  CHECK(folder.Files() == std::vector<std::string>{
                              "net-0001.mxc", "net-0001.params",
                              "net-0001.states", "net-0002" + alive,
                              "net-step-0040.mxc", "net-step-0040.params",
                              "net-step-0040.states", "net-step-12000.mxc",
                              "net-step-12000.params", "net-step-12000.states",
                              "net-step-symbol.json", "net-symbol.json"});
}

TEST_CASE("checkpoint: a damaged .mxc is refused, never followed") {
  const Folder folder;
  const CheckpointName name = EpochCheckpoint(folder.prefix(), 1);
  REQUIRE(WriteCheckpoint(name, Example(1)).ok());
  const std::string whole = ReadText(name.Path("mxc"));
  std::mt19937 random(3);
  for (int i = 0; i < 600; ++i) {
    std::string damaged = whole;
    if (i % 2 == 0) {
      damaged.resize(random() % whole.size());
    } else {
      damaged[random() % whole.size()] ^= static_cast<char>(1 + random() % 255);
    }
    std::ofstream(name.Path("mxc"), std::ios::binary) << damaged;
    CHECK_FALSE(ReadCheckpoint(name).ok());
  }
}

}  // namespace
}  // namespace mxc::train
