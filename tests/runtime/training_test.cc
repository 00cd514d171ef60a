// SPDX-License-Identifier: Apache-2.0
// States: from run to run, from executor to executor, read, written, reset; and
// where the first value that is not finite comes from.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/mxc.hpp"
#include "tests/runtime/api.h"
#include "tests/runtime/test_artifact.h"

namespace mxc::test {
namespace {

constexpr size_t kElements = 1024;

std::string TrainPath() {
  static const std::string path =
      WriteTemporary("train", TrainArtifact().File());
  return path;
}

api::Executor Bind(const api::Model& model, const char* entry, int threads,
                   const api::Executor* share = nullptr) {
  mxc_bind_options options = MXC_BIND_OPTIONS;
  options.entry = entry;
  options.threads = threads;
  options.share = share != nullptr ? share->handle() : nullptr;
  return api::Executor(model, options);
}

void SetInputs(api::Executor& train, float data, double rate) {
  const std::vector<float> values(kElements, data);
  train.SetInput("data", std::span(values));
  train.SetInput("learning_rate", std::span(&rate, 1));
}

std::vector<float> Weight(const api::Executor& executor) {
  std::vector<float> weight(kElements);
  executor.ReadState("weight", std::span(weight));
  return weight;
}

int64_t Steps(const api::Executor& executor) {
  int64_t steps = 0;
  executor.ReadState("steps", std::span(&steps, 1));
  return steps;
}

std::vector<float> Initial() {
  std::vector<float> weight(kElements);
  for (size_t i = 0; i < kElements; ++i) {
    weight[i] = static_cast<float>(64 + i);
  }
  return weight;
}

// Half the squared distance, summed as the kernel does.
float Distance(const std::vector<float>& weight, float data) {
  float sum = 0;
  for (const float w : weight) sum += (w - data) * (w - data) / 2;
  return sum;
}

}  // namespace

TEST_CASE("a model describes its states") {
  const api::Model model(TrainPath());
  const std::vector<mxc_tensor> states = model.states();
  REQUIRE(states.size() == 2);
  CHECK(std::string(states[0].name) == "weight");
  CHECK(states[0].dims[0] == kElements);
  CHECK(states[1].dtype == MXC_I64);
  CHECK(model.entry(0).state_bytes == 4096 + 64);
  CHECK(model.buffers(0)[2].role == MXC_ROLE_STATE);
  mxc_tensor tensor;
  CHECK(Message(mxc_model_state(model.handle(), 2, &tensor)) ==
        "no state 2; there are 2");
}

TEST_CASE("what belongs to a state says so by its number, not its name") {
  TestArtifact artifact = TrainArtifact();
  artifact.states[0].index = 3;
  TestEntry update;
  update.name = "step of a";
  update.kind = MXC_ENTRY_UPDATE;
  update.index = 3;
  update.buffers = {{"slope", {1024}, MXC_BUFFER_INPUT},
                    {"rows:weight", {1024}, MXC_BUFFER_OUTPUT}};
  update.buffers[0].role = MXC_TENSOR_GRADIENT;
  update.buffers[0].index = 3;
  update.steps = {{"copy", kScale, {0}, {1}, 64}};
  update.inputs = {0};
  update.outputs = {1};
  artifact.entries.push_back(update);
  const api::Model model(WriteTemporary("numbers", artifact.File()));
  size_t state = 99;
  CHECK(Message(mxc_model_entry_state(model.handle(), 2, &state)) == "");
  CHECK(state == 0);
  state = 99;
  CHECK(Message(mxc_model_input_state(model.handle(), 2, 0, &state)) == "");
  CHECK(state == 0);
  CHECK(Message(mxc_model_output_state(model.handle(), 2, 0, &state)) ==
        "'rows:weight' belongs to no state");
  CHECK(Message(mxc_model_entry_state(model.handle(), 0, &state)) ==
        "'train' belongs to no state");
  CHECK(Message(mxc_model_output_state(model.handle(), 2, 1, &state)) ==
        "no output 1; there are 1");
}

TEST_CASE("each step goes on where the last one ended, for any threads") {
  const api::Model model(TrainPath());
  for (const int threads : {1, 2, 5}) {
    CAPTURE(threads);
    api::Executor train = Bind(model, "train", threads);
    CHECK(Weight(train) == Initial());
    CHECK(Steps(train) == 0);
    SetInputs(train, 7, 0.25);
    std::vector<float> expected = Initial();
    for (int step = 1; step <= 20; ++step) {
      const float loss = Distance(expected, 7);
      for (float& w : expected) w -= 0.25f * (w - 7);
      train.Run();
      CHECK(train.Output<float>(0)[0] == loss);
      REQUIRE(Weight(train) == expected);
      CHECK(Steps(train) == step);
    }
    train.ResetStates();
    CHECK(Weight(train) == Initial());
    CHECK(Steps(train) == 0);
  }
}

TEST_CASE("executors have states of their own unless they share them") {
  const api::Model model(TrainPath());
  api::Executor train = Bind(model, "train", 1);
  const api::Executor other = Bind(model, "train", 1);
  api::Executor score = Bind(model, "score", 2, &train);
  SetInputs(train, 7, 0.5);
  const std::vector<float> data(kElements, 7.0f);
  score.SetInput("data", std::span(data));
  for (int step = 0; step < 3; ++step) {
    train.Run();
    score.Run();
    CHECK(score.Output<float>(0)[0] == Distance(Weight(train), 7));
  }
  CHECK(Weight(score) == Weight(train));
  CHECK(Weight(other) == Initial());

  const api::Model same(TrainPath());
  mxc_bind_options options = MXC_BIND_OPTIONS;
  options.share = train.handle();
  mxc_executor* none = nullptr;
  CHECK(Message(mxc_bind(same.handle(), &options, &none)) ==
        "executors of different models share no memory");
}

TEST_CASE("shared states outlive the executor that had them first") {
  const api::Model model(TrainPath());
  auto train = std::make_unique<api::Executor>(Bind(model, "train", 1));
  api::Executor score = Bind(model, "score", 1, train.get());
  SetInputs(*train, 0, 1.0);
  train->Run();
  train.reset();
  CHECK(Weight(score) == std::vector<float>(kElements, 0.0f));
  const std::vector<float> data(kElements, 1.0f);
  score.SetInput("data", std::span(data));
  score.Run();
}

TEST_CASE("states are read and written by name") {
  const api::Model model(TrainPath());
  api::Executor train = Bind(model, "train", 1);
  std::vector<float> weight(kElements, 3.0f);
  train.WriteState("weight", std::span(weight));
  SetInputs(train, 1, 0.5);
  train.Run();
  CHECK(Weight(train) == std::vector<float>(kElements, 2.0f));
  CHECK(Message(mxc_read_state(train.handle(), "bias", weight.data(), 4)) ==
        "no state 'bias'; the model has 2");
  CHECK(Message(mxc_write_state(train.handle(), "weight", weight.data(), 4)) ==
        "'weight' has 4096 bytes, but 4 are given");
}

TEST_CASE("the first value that is not finite is found, and nothing changes") {
  const api::Model model(TrainPath());
  api::Executor train = Bind(model, "train", 2);
  SetInputs(train, 7, 0.25);
  CHECK(train.FindNonFinite().tensor == nullptr);
  CHECK(Weight(train) == Initial());
  CHECK(Steps(train) == 0);

  SetInputs(train, 3e38f, 0.25);  // its square is infinite
  mxc_nonfinite found = train.FindNonFinite();
  CHECK(std::string(found.tensor) == "loss");
  CHECK(std::string(found.step) == "distance");
  CHECK(found.value == std::numeric_limits<double>::infinity());
  CHECK(Weight(train) == Initial());

  SetInputs(train, 7, std::nan(""));
  found = train.FindNonFinite();
  CHECK(std::string(found.tensor) == "learning_rate");
  CHECK(found.step == nullptr);
  CHECK(std::isnan(found.value));

  std::vector<float> weight = Initial();
  weight[1000] = -std::numeric_limits<float>::infinity();
  SetInputs(train, 7, 0.25);
  train.WriteState("weight", std::span(weight));
  found = train.FindNonFinite();
  CHECK(std::string(found.tensor) == "weight");
  CHECK(found.value == -std::numeric_limits<double>::infinity());
}

}  // namespace mxc::test
