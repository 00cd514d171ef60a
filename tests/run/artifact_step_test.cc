// SPDX-License-Identifier: Apache-2.0
// An artifact as what a training loop drives.
#include "runtime/train/step/artifact_step.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "tests/runtime/test_artifact.h"

namespace mxc::test {
namespace {

data::Batch BatchOf(float value, std::vector<int64_t> shape) {
  data::Batch batch;
  batch.data.push_back(
      {"data", *runtime::Array::Allocate(runtime::ElementType::kF32, shape)});
  auto bytes = batch.data[0].array.bytes();
  for (size_t i = 0; i < bytes.size(); i += sizeof value) {
    std::memcpy(&bytes[i], &value, sizeof value);
  }
  return batch;
}

std::unique_ptr<train::ArtifactStep> OpenStep() {
  auto step = train::ArtifactStep::Open(
      WriteTemporary("step", TrainArtifact().File()), 2);
  REQUIRE_MESSAGE(step.ok(), step.status().message());
  return std::move(*step);
}

}  // namespace

TEST_CASE("an artifact says how it trains") {
  const auto step = OpenStep();
  CHECK(step->facts().network == "fit");
  CHECK(step->facts().optimizer == "sgd");
  CHECK(step->facts().optimizer_options[0].second == "0.9");
  CHECK(step->facts().parameters == std::vector<std::string>{"weight"});
  CHECK(step->facts().auxiliaries == std::vector<std::string>{"steps"});
  const auto needs = step->needs(0);
  REQUIRE(needs.ok());
  CHECK(needs->data[0].shape == std::vector<int64_t>{1, 1024});
  CHECK(needs->labels.empty());
  REQUIRE(step->states().size() == 2);
  CHECK(step->states()[1].type == runtime::ElementType::kI64);
}

TEST_CASE("training lowers the loss, scoring sees it and changes nothing") {
  const auto step = OpenStep();
  const data::Batch batch = BatchOf(7, {1, 1024});
  float last = INFINITY;
  for (int i = 0; i < 5; ++i) {
    const auto loss = step->Train(batch, 0, 0.25);
    REQUIRE(loss.ok());
    CHECK(*loss < last);
    last = *loss;
    const auto scored = step->Score(batch, 0);
    CHECK(*scored < last);
    CHECK(*step->Score(batch, 0) == *scored);
    CHECK(step->outputs().empty());  // it has the loss alone
  }
  int64_t steps = 0;
  std::memcpy(&steps, step->State(1).data(), sizeof steps);
  CHECK(steps == 5);
}

TEST_CASE("a batch of another shape and a loss that is not finite are told") {
  const auto step = OpenStep();
  CHECK(step->Train(BatchOf(1, {2, 512}), 0, 0.1).status().message() ==
        "the network wants data float32 (1, 1024), the data give data float32 "
        "(2, 512)");
  const data::Batch batch = BatchOf(3e38f, {1, 1024});
  const auto loss = step->Train(batch, 0, 0.1);
  REQUIRE(loss.ok());
  CHECK(std::isinf(*loss));
  CHECK(*step->ExplainLoss() == "step 0, 'distance', wrote inf into 'loss'");
}

TEST_CASE("an artifact without a training entry is refused") {
  const auto step = train::ArtifactStep::Open(
      WriteTemporary("no", ChainArtifact().File()), 1);
  REQUIRE(!step.ok());
  CHECK(step.status().message().ends_with(
      "has neither an entry 'train' nor 'score'; compile it with --entry "
      "train,score"));
}

}  // namespace mxc::test
