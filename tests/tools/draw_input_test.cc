// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/draw_input.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "tools/driver/plan.h"

namespace mxc {
namespace {

// The training step without optimization.
Program PlainStep(const std::string& text) {
  CompileRequest request;
  request.network.text =
      std::make_shared<const SourceFile>(SourceFile{"net", text});
  request.network.init = "xavier";
  request.entries = {"train"};
  request.target = "x86-64-v3";
  request.level = 0;
  Progress silent;
  auto plan = MakePlan(request, silent);
  REQUIRE_MESSAGE(plan.ok(), Render(plan.errors()));
  return std::move(plan->programs.front());
}

Buffer InputOf(DType dtype, int64_t count) {
  Buffer buffer;
  buffer.name = "x";
  buffer.type = {dtype, {count}};
  return buffer;
}

std::set<double> DistinctValues(const Tensor& tensor) {
  std::set<double> values;
  for (int64_t i = 0; i < tensor.shape().elements(); ++i) {
    values.insert(tensor.At(i));
  }
  return values;
}

}  // namespace

TEST_CASE("verify: rows of an embedding and classes are positions") {
  const Program step = PlainStep(R"json({"mxc": 1,
    "inputs": {"words": [4, 6], "more": [4, 5], "softmax_label": [4]},
    "nodes": [
      {"op": "Embedding", "name": "embed", "input_dim": 50, "output_dim": 3,
       "inputs": ["words"]},
      {"op": "Flatten", "name": "flat"},
      {"op": "Concat", "name": "both", "inputs": ["flat", "more"]},
      {"op": "FullyConnected", "name": "fc", "num_hidden": 7},
      {"op": "SoftmaxOutput", "name": "softmax",
       "inputs": ["fc", "softmax_label"]}]})json");
  const auto positions = FindPositionInputs(step);
  CHECK(positions ==
        std::map<std::string, int64_t>{{"words", 50}, {"softmax_label", 7}});
}

TEST_CASE("verify: positions are drawn over their whole range") {
  const Tensor drawn = DrawInput(InputOf(DType::kF32, 200), 5, 0);
  CHECK(DistinctValues(drawn) == std::set<double>{0, 1, 2, 3, 4});
  CHECK(DistinctValues(DrawInput(InputOf(DType::kI64, 200), 3, 0)) ==
        std::set<double>{0, 1, 2});
}

TEST_CASE("verify: data have both signs where their type does") {
  const auto floats =
      DistinctValues(DrawInput(InputOf(DType::kF32, 400), 0, 0));
  CHECK(*floats.begin() < -0.9);
  CHECK(*floats.rbegin() > 0.9);
  const auto integers =
      DistinctValues(DrawInput(InputOf(DType::kI32, 400), 0, 0));
  CHECK(*integers.begin() == -8);
  CHECK(*integers.rbegin() == 7);
  CHECK(*DistinctValues(DrawInput(InputOf(DType::kU8, 400), 0, 0)).begin() ==
        0);
  CHECK(DistinctValues(DrawInput(InputOf(DType::kBool, 99), 0, 0)).size() == 2);
}

}  // namespace mxc
