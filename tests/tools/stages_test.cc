// SPDX-License-Identifier: Apache-2.0
// A network in stages, on a thread each: what they learn together is what one
// device learns that adds up the same micro-batches.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/train/step/artifact_step.h"
#include "runtime/train/step/stage_set.h"
#include "runtime/train/step/staged_step.h"
#include "tests/support/levels.h"
#include "tests/support/temporary_folder.h"
#include "tools/driver/compile.h"

namespace mxc {
namespace {

struct Cutting {
  int stages = 1, micro_batches = 1;
  std::map<std::string, int> stage_of;
};

std::shared_ptr<const runtime::Model> ModelOf(const std::string& model,
                                              const std::vector<AttrText>& how,
                                              const Cutting& cutting,
                                              int stage) {
  CompileRequest request;
  request.network.model = model;
  request.network.init = "uniform:0.2";
  request.entries = {"train", "score"};
  request.batches = {12};
  request.target = test::RunnableTarget("x86-64-v3")->name;
  request.golden = Golden::kOff;
  request.training.optimizer_attrs = how;
  request.training.micro_batches = cutting.micro_batches;
  request.training.stages = cutting.stages;
  request.training.stage = stage;
  request.training.stage_of = cutting.stage_of;
  Progress silent;
  const auto artifact = Compile(request, silent);
  REQUIRE_MESSAGE(artifact.ok(), Render(artifact.errors()));
  const test::TemporaryFolder folder("stage-artifact");
  const std::string path = folder.File("stage.mxa");
  REQUIRE(Save(request, *artifact, path).ok());
  auto opened = runtime::Model::Open(path, {});
  REQUIRE_MESSAGE(opened.ok(), opened.status().message());
  return std::move(*opened);
}

// Numbers from 0 to 1; of labels whole ones below 10.
data::Batch DrawnBatch(const data::Provides& needs, uint32_t seed) {
  data::Batch batch;
  const auto draw = [&](const data::Field& field, bool label) {
    auto array =
        runtime::Array::Allocate(runtime::ElementType::kF32, field.shape);
    REQUIRE(array.ok());
    const auto bytes = array->bytes();
    for (size_t at = 0; at < bytes.size(); at += sizeof(float)) {
      seed = seed * 1664525 + 1013904223;
      const float value = label ? static_cast<float>((seed >> 16) % 10)
                                : static_cast<float>(seed >> 8) / (1 << 24);
      std::memcpy(&bytes[at], &value, sizeof(value));
    }
    return runtime::NamedArray{field.name, std::move(*array)};
  };
  for (const auto& field : needs.data) batch.data.push_back(draw(field, false));
  for (const auto& field : needs.labels) {
    batch.labels.push_back(draw(field, true));
  }
  return batch;
}

struct Learned {
  std::vector<float> losses;
  std::map<std::string, std::vector<std::byte>> states;
  std::vector<float> outputs;  // of the scoring
};

// Three steps, and the score of one batch more.
Learned Learn(train::TrainStep& step) {
  Learned learned;
  const auto needs = step.needs(0);
  REQUIRE(needs.ok());
  for (uint32_t i = 0; i < 3; ++i) {
    const auto loss = step.Train(DrawnBatch(*needs, i), 0, 0.1);
    REQUIRE_MESSAGE(loss.ok(), loss.status().message());
    learned.losses.push_back(*loss);
  }
  const auto score = step.Score(DrawnBatch(*needs, 7), 0);
  REQUIRE_MESSAGE(score.ok(), score.status().message());
  learned.losses.push_back(*score);
  for (const auto& output : step.outputs()) {
    learned.outputs.insert(learned.outputs.end(), output.values.begin(),
                           output.values.end());
  }
  for (size_t s = 0; s < step.states().size(); ++s) {
    const auto bytes = step.State(s);
    learned.states[step.states()[s].name] = {bytes.begin(), bytes.end()};
  }
  return learned;
}

Learned LearnInStages(const std::string& model,
                      const std::vector<AttrText>& how,
                      const Cutting& cutting) {
  train::Models models;
  for (int stage = 0; stage < cutting.stages; ++stage) {
    models.push_back(ModelOf(model, how, cutting, stage));
  }
  auto stages = train::StageSet::Of(models);
  REQUIRE_MESSAGE(stages.ok(), stages.status().message());
  auto step = train::StagedStep::Bound(std::move(*stages), "", /*threads=*/1);
  REQUIRE_MESSAGE(step.ok(), step.status().message());
  return Learn(**step);
}

Learned LearnAsWhole(const std::string& model, const std::vector<AttrText>& how,
                     int micro_batches) {
  auto step = train::ArtifactStep::Bound(
      ModelOf(model, how, {.micro_batches = micro_batches, .stage_of = {}}, 0),
      {.threads = 1});
  REQUIRE_MESSAGE(step.ok(), step.status().message());
  return Learn(**step);
}

bool IsNear(std::span<const float> a, std::span<const float> b) {
  float most = 0, apart = 0;
  for (const float value : a) most = std::max(most, std::abs(value));
  for (size_t i = 0; i < a.size(); ++i) {
    apart = std::max(apart, std::abs(a[i] - b[i]));
  }
  return a.size() == b.size() && apart <= 2e-6F * most;
}

std::span<const float> FloatsIn(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const float*>(bytes.data()),
          bytes.size() / sizeof(float)};
}

// All that one device learns, but for the last bits: it fuses over the cuts.
void CheckAgainstOne(const std::string& model, const std::vector<AttrText>& how,
                     const Cutting& cutting) {
  const Learned whole = LearnAsWhole(model, how, cutting.micro_batches);
  const Learned parts = LearnInStages(model, how, cutting);
  CHECK(IsNear(parts.losses, whole.losses));
  CHECK(IsNear(parts.outputs, whole.outputs));
  REQUIRE(parts.states.size() == whole.states.size());
  for (const auto& [name, bytes] : whole.states) {
    INFO(name);
    REQUIRE(parts.states.contains(name));
    const std::vector<std::byte>& here = parts.states.at(name);
    CHECK((here == bytes || IsNear(FloatsIn(here), FloatsIn(bytes))));
  }
}

std::string FileOf(const test::TemporaryFolder& folder, const char* text) {
  const std::string path = folder.File("net.json");
  test::WriteText(path, text);
  return path;
}

const char* const kNormed =
    R"json({ "mxc": 1, "inputs": {"data": ["N", 3, 8, 8]},
  "nodes": [
    {"op": "Convolution", "name": "c0", "kernel": [3, 3], "num_filter": 4},
    {"op": "BatchNorm", "name": "b0", "fix_gamma": false},
    {"op": "Activation", "name": "a0", "act_type": "relu"},
    {"op": "Convolution", "name": "c1", "kernel": [3, 3], "pad": [1, 1],
     "num_filter": 4},
    {"op": "BatchNorm", "name": "b1", "fix_gamma": false},
    {"op": "elemwise_add", "name": "sum", "inputs": ["a0", "b1"]},
    {"op": "Dropout", "name": "drop", "p": 0.3},
    {"op": "FullyConnected", "name": "f0", "num_hidden": 12},
    {"op": "Activation", "name": "a1", "act_type": "tanh"},
    {"op": "FullyConnected", "name": "f1", "num_hidden": 10},
    {"op": "SoftmaxOutput", "name": "softmax"} ] })json";

}  // namespace

TEST_CASE("two stages learn what one device does") {
  const test::TemporaryFolder folder("stages");
  const std::string model = FileOf(folder, kNormed);
  for (const int micro_batches : {1, 3, 4}) {
    CAPTURE(micro_batches);
    CheckAgainstOne(model, {{"momentum", "0.9"}},
                    {.stages = 2,
                     .micro_batches = micro_batches,
                     .stage_of = {{"c0", 0},
                                  {"b0", 0},
                                  {"a0", 0},
                                  {"c1", 1},
                                  {"b1", 1},
                                  {"f0", 1},
                                  {"f1", 1}}});
  }
}

TEST_CASE("values that skip a stage, a clipped norm of all gradients") {
  const test::TemporaryFolder folder("stages");
  const std::string model = FileOf(folder, kNormed);
  CheckAgainstOne(model, {{"momentum", "0.9"}, {"clip_gradient", "0.05"}},
                  {.stages = 3,
                   .micro_batches = 4,
                   .stage_of = {{"c0", 0},
                                {"b0", 0},
                                {"a0", 0},
                                {"c1", 1},
                                {"b1", 1},
                                {"sum", 2},
                                {"f0", 2},
                                {"f1", 2}}});
}

TEST_CASE("layers that lie on a device in no order") {
  const test::TemporaryFolder folder("stages");
  const std::string model = FileOf(folder, kNormed);
  CheckAgainstOne(model, {},
                  {.stages = 2,
                   .micro_batches = 2,
                   .stage_of = {{"c0", 1},
                                {"b0", 0},
                                {"a0", 0},
                                {"c1", 1},
                                {"b1", 0},
                                {"sum", 0},
                                {"f0", 1},
                                {"f1", 0}}});
}

}  // namespace mxc
