// SPDX-License-Identifier: Apache-2.0
// Which layers have fewer bits within a budget, of a network of which it is known
// what each layer bears. On trained networks: tests/e2e/calibrate.test.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/formats/npy.h"
#include "tests/support/levels.h"
#include "tests/support/temporary_folder.h"
#include "tools/driver/plan.h"
#include "tools/driver/precision.h"
#include "tools/quantize/within_budget.h"

namespace mxc {
namespace {

using runtime::Array;
using runtime::ElementType;

constexpr int64_t kClasses = 4, kWidth = 8;

// Copies 8 values, then reads 4 of them as classes.
constexpr const char* kCopying = R"json({"mxc": 1, "name": "net",
  "inputs": {"data": ["N", 8]},
  "nodes": [
    {"op": "FullyConnected", "name": "copy", "num_hidden": 8, "no_bias": true},
    {"op": "FullyConnected", "name": "read", "num_hidden": 4, "no_bias": true},
    {"op": "SoftmaxOutput", "name": "softmax"}]})json";

Array FloatArray(const std::vector<int64_t>& shape,
                 const std::vector<float>& values) {
  auto array = Array::Allocate(ElementType::kF32, shape);
  REQUIRE(array.ok());
  std::memcpy(array->bytes().data(), values.data(), 4 * values.size());
  return std::move(*array);
}

std::vector<float> Diagonal(int64_t rows, float value) {
  std::vector<float> values(static_cast<size_t>(rows * kWidth), 0);
  for (int64_t i = 0; i < rows; ++i) values[i * kWidth + i] = value;
  return values;
}

// A level of a row of `read` is 1/127, which the weight of no input that is not
// 0 reaches half of: with 8 bits it reads nothing.
std::shared_ptr<const ParameterArrays> Parameters() {
  std::vector<float> read = Diagonal(kClasses, 0.003F);
  for (int64_t i = 0; i < kClasses; ++i) read[i * kWidth + kWidth - 1] = 1;
  auto arrays = std::make_shared<ParameterArrays>();
  arrays->push_back(
      {"copy_weight", FloatArray({kWidth, kWidth}, Diagonal(kWidth, 1))});
  arrays->push_back({"read_weight", FloatArray({kClasses, kWidth}, read)});
  return arrays;
}

class Samples {
 public:
  Samples() : folder_("budget") {
    constexpr int64_t kSamples = 64;
    std::vector<float> data(kSamples * kWidth, 0), labels;
    for (int64_t i = 0; i < kSamples; ++i) {
      const int64_t label = i * 7 % kClasses;
      data[i * kWidth + label] = 1000;
      labels.push_back(static_cast<float>(label));
    }
    REQUIRE(
        WriteNpy(folder_.File("x.npy"), FloatArray({kSamples, kWidth}, data))
            .ok());
    REQUIRE(
        WriteNpy(folder_.File("y.npy"), FloatArray({kSamples}, labels)).ok());
  }

  SampleOptions Options() const {
    SampleOptions options;
    options.data.source =
        "npy:" + folder_.File("x.npy") + "," + folder_.File("y.npy");
    options.data.batch_size = 16;
    options.validation = options.data.source;
    return options;
  }

 private:
  const test::TemporaryFolder folder_;
};

CompileRequest Request() {
  CompileRequest request;
  request.network.text =
      std::make_shared<SourceFile>(SourceFile{"net.json", kCopying});
  request.network.arrays = Parameters();
  request.target = "x86-64-v2";
  return request;
}

BudgetReport Fit(double budget, CompileRequest& request) {
  const Samples samples;
  auto report =
      FitIntoBudget(samples.Options(), budget, request, [](auto...) {});
  REQUIRE_MESSAGE(report.ok(), Render(report.errors()));
  return std::move(*report);
}

double AccuracyOf(const Accuracy& accuracy) {
  REQUIRE(accuracy.metrics.at(0).first == "accuracy");
  return accuracy.metrics[0].second;
}

}  // namespace

TEST_CASE("budget: the weight that bears no 8 bits keeps its floats") {
  CompileRequest request = Request();
  REQUIRE(SetWeights("int8", request.weights));
  const BudgetReport report = Fit(0.5, request);
  REQUIRE(report.layers.size() == 2);
  for (size_t i = 0; i < 2; ++i) {
    const bool copies = report.layers[i].name == "copy_weight";
    CHECK(report.outcome.narrow[i] == copies);
    // The error of `read`: 4 weights of 0.003 become 0, beside 4 of 1.
    CHECK(report.layers[i].error ==
          doctest::Approx(copies ? 0 : 0.003 / std::hypot(1, 0.003)));
  }
  CHECK(AccuracyOf(report.outcome.before) == 1);
  CHECK(AccuracyOf(report.outcome.after) == 1);
  CHECK(report.outcome.trials == 2);
  CHECK(request.weights.kind == WeightKind::kInt8);
  CHECK(request.weights.kept == std::set<std::string>{"read_weight"});
}

TEST_CASE("budget: all that may be worse is") {
  CompileRequest request = Request();
  REQUIRE(SetWeights("int8", request.weights));
  const BudgetReport report = Fit(75, request);
  CHECK(report.outcome.count() == 2);
  CHECK(request.weights.kept.empty());
  CHECK(AccuracyOf(report.outcome.after) == 1.0 / kClasses);
}

TEST_CASE("budget: 8-bit layers as calibrated, for any batch") {
  CompileRequest request = Request();
  const BudgetReport report = Fit(0.5, request);
  REQUIRE(report.layers.size() == 2);
  for (size_t i = 0; i < 2; ++i) {
    CHECK(report.outcome.narrow[i] == (report.layers[i].name == "copy"));
  }
  CHECK(AccuracyOf(report.outcome.after) == 1);
  request.batches = {3};
  Progress silent;
  const auto plan = MakePlan(request, silent);
  REQUIRE_MESSAGE(plan.ok(), Render(plan.errors()));
  const Program& program = plan->programs.front();
  const int output = program.BuffersOf(BufferKind::kOutput).front();
  CHECK(program.buffers[output].type.shape == Shape({3, kClasses}));
}

// Of 2^20 and 1000 bf16 keeps 2^20 alone.
TEST_CASE("budget: a layer that needs more digits than bf16 has reads floats") {
  std::string far = kCopying;
  far.insert(far.find(R"({"op": "FullyConnected", "name": "read")"),
             R"({"op": "_plus_scalar", "name": "far", "scalar": 1048576}, )");
  for (const Target& target : test::RunnableTargets()) {
    CAPTURE(target.name);
    CompileRequest request = Request();
    request.network.text =
        std::make_shared<SourceFile>(SourceFile{"net.json", far});
    request.target = target.name;
    REQUIRE(SetPrecision("bf16", request));
    const BudgetReport report = Fit(0.5, request);
    REQUIRE(report.layers.size() == 2);
    CHECK(report.layers[0].name == "copy");
    CHECK(report.outcome.narrow == std::vector<bool>{true, false});
    CHECK(report.layers[1].error > report.layers[0].error);
    CHECK(AccuracyOf(report.outcome.after) == 1);
    // All together, each alone, all but the worst.
    CHECK(report.outcome.trials == 4);
    CHECK(request.kept_layers == std::set<std::string>{"read"});
  }
}

TEST_CASE("budget: bf16 bears both, and training has no budget") {
  CompileRequest request = Request();
  REQUIRE(SetPrecision("bf16", request));
  CHECK(Fit(0.5, request).outcome.count() == 2);
  CHECK(request.precision == DType::kBF16);
  CHECK(request.kept_layers.empty());
  request.entries = {"train"};
  const Samples samples;
  const auto report =
      FitIntoBudget(samples.Options(), 1, request, [](auto...) {});
  REQUIRE(!report.ok());
  CHECK(report.errors().front().message ==
        "--accuracy-budget is for networks that infer; an entry trains");
}

}  // namespace mxc
