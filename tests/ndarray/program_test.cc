// SPDX-License-Identifier: Apache-2.0
// A compiled forward and backward with an update by arrays around it, beside the
// training step that is compiled whole.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/ndarray/handles.h"
#include "tests/ndarray/saved_artifact.h"

namespace mxc::test {
namespace {

constexpr int64_t kBatch = 16, kInputs = 5;
const std::string kNetwork =
    R"({"mxc": 1, "inputs": {"data": ["N", 5], "label": ["N"]}, "nodes": [
  {"op": "FullyConnected", "name": "fc1", "num_hidden": 8},
  {"op": "Activation", "name": "tanh1", "act_type": "tanh"},
  {"op": "FullyConnected", "name": "fc2", "num_hidden": 3},
  {"op": "SoftmaxOutput", "name": "softmax", "inputs": ["fc2", "label"]}]})";

using Model = std::unique_ptr<mxc_model, decltype(&mxc_model_close)>;
using Program = std::unique_ptr<mxc_program, decltype(&mxc_program_release)>;

Model Compiled(const std::vector<std::string>& entries) {
  CompileRequest request;
  request.network.init = "xavier";
  request.network.seed = 5;
  request.batches = {kBatch};
  request.entries = entries;
  const runtime::NamelessFile file = SavedArtifact(request, kNetwork);
  mxc_model* model = nullptr;
  Expect(mxc_model_open(file.path().c_str(), nullptr, &model));
  return {model, &mxc_model_close};
}

Program Bound(const Model& model, const char* entry,
              const Program* share = nullptr) {
  mxc_bind_options options = MXC_BIND_OPTIONS;
  options.entry = entry;
  mxc_program* program = nullptr;
  Expect(mxc_program_bind(model.get(), &options,
                          share == nullptr ? nullptr : share->get(), &program));
  return {program, &mxc_program_release};
}

NDArray StateOf(const Program& program, const char* name) {
  mxc_ndarray* array = nullptr;
  Expect(mxc_program_state(program.get(), name, &array));
  return Own(array);
}

size_t OutputNamed(const Model& model, size_t entry, const std::string& name) {
  mxc_entry_summary summary;
  Expect(mxc_model_entry(model.get(), entry, &summary));
  for (size_t o = 0; o < summary.output_count; ++o) {
    mxc_tensor tensor;
    Expect(mxc_model_output(model.get(), entry, o, &tensor));
    if (name == tensor.name) return o;
  }
  FAIL("no output ", name);
  return 0;
}

struct Batch {
  NDArray data, label;
};

Batch DrawBatch(std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<float> data(kBatch * kInputs), label(kBatch);
  for (float& value : data) value = normal(random);
  for (float& value : label) value = static_cast<float>(random() % 3);
  return {Make({kBatch, kInputs}, data), Make({kBatch}, label)};
}

const std::vector<const char*> kParameters = {"fc1_weight", "fc1_bias",
                                              "fc2_weight", "fc2_bias"};
constexpr double kRate = 0.25;

TEST_CASE(
    "an update by arrays around a compiled gradient is the compiled step") {
  const Model whole = Compiled({"train"}), parts = Compiled({"grad"});
  const Program train = Bound(whole, "train"), grad = Bound(parts, "grad");
  mxc_ndarray* rate_made = nullptr;
  const int64_t one = 1;
  Expect(mxc_ndarray_create(MXC_F64, &one, 1, &kRate, &rate_made));
  const NDArray rate = Own(rate_made);
  size_t grad_entry = 0;
  Expect(mxc_model_find_entry(parts.get(), "grad", 0, &grad_entry));
  mxc_entry_summary summary;
  Expect(mxc_model_entry(parts.get(), grad_entry, &summary));
  const Op update("sgd_update",
                  {{"lr", std::to_string(kRate)},
                   {"rescale_grad", std::to_string(1.0 / kBatch)}});
  const NDArray begin = Make({8, 5}, Values(StateOf(grad, "fc1_weight")));

  std::mt19937 random(4);
  for (int step = 0; step < 8; ++step) {
    const Batch batch = DrawBatch(random);
    mxc_ndarray* const train_inputs[] = {batch.data.get(), batch.label.get(),
                                         rate.get()};
    Expect(mxc_program_call(train.get(), train_inputs, 3, nullptr, 0));
    mxc_ndarray* const inputs[] = {batch.data.get(), batch.label.get()};
    std::vector<mxc_ndarray*> outputs(summary.output_count);
    Expect(mxc_program_call(grad.get(), inputs, 2, outputs.data(),
                            outputs.size()));
    std::vector<NDArray> owned;
    for (mxc_ndarray* output : outputs) owned.push_back(Own(output));
    for (const char* name : kParameters) {
      const size_t gradient =
          OutputNamed(parts, grad_entry, std::string("grad:") + name);
      const NDArray weight = StateOf(grad, name);
      update.Into(weight, {weight.get(), outputs[gradient]});
    }
  }
  for (const char* name : kParameters) {
    const std::vector<float> wanted = Values(StateOf(train, name)),
                             found = Values(StateOf(grad, name));
    REQUIRE(wanted.size() == found.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      CHECK(found[i] == doctest::Approx(wanted[i]).epsilon(1e-5));
    }
  }
  // And something was learned.
  CHECK(Values(begin) != Values(StateOf(grad, "fc1_weight")));
}

TEST_CASE("programs share states, and arrays of them outlive the programs") {
  const Model model = Compiled({"train", "score"});
  NDArray bias = Make({1}, {0});
  {
    const Program train = Bound(model, "train");
    const Program score = Bound(model, "score", &train);
    bias = StateOf(score, "fc2_bias");
    const float values[] = {3, -2, 1};
    Expect(mxc_ndarray_write(bias.get(), values, sizeof values));
    CHECK(Values(StateOf(train, "fc2_bias")) == std::vector<float>{3, -2, 1});
    mxc_ndarray* none = nullptr;
    CHECK(MessageOf(mxc_program_state(train.get(), "fc3_bias", &none)) ==
          "the program has no state 'fc3_bias'");
    mxc_ndarray* const inputs[] = {bias.get(), bias.get()};
    CHECK(MessageOf(mxc_program_call(score.get(), inputs, 2, nullptr, 0)) ==
          "input 0 of 'score' is float32[16,5], and float32[3] is given");
    CHECK(MessageOf(mxc_program_call(score.get(), inputs, 1, nullptr, 0)) ==
          "'score' has 2 inputs, and 1 are given");
  }
  CHECK(Values(bias) == std::vector<float>{3, -2, 1});
}

}  // namespace
}  // namespace mxc::test
