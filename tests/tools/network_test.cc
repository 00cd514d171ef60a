// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/network.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "tests/support/temporary_folder.h"
#include "tools/driver/plan.h"

namespace mxc {
namespace {

constexpr const char* kLinear = R"json({"mxc": 1,
  "inputs": {"data": ["N", 6]},
  "nodes": [
    {"op": "FullyConnected", "name": "fc", "num_hidden": 4},
    {"op": "SoftmaxOutput", "name": "softmax"}]})json";

// As MXNet fuses and quantizes layers for oneDNN.
constexpr const char* kFused = R"json({"nodes": [
  {"op": "null", "name": "data", "inputs": []},
  {"op": "null", "name": "w", "inputs": []},
  {"op": "_contrib_quantize_v2", "name": "q", "inputs": [[0, 0, 0]], "attrs":
   {"min_calib_range": "0", "max_calib_range": "1", "out_type": "auto"}},
  {"op": "_sg_mkldnn_conv", "name": "layer", "attrs": {"quantized": "true",
   "min_calib_range": "0.0", "max_calib_range": "6.0"},
   "inputs": [[2, 0, 0], [1, 0, 0], [2, 1, 0], [2, 2, 0]],
   "subgraphs": [{"nodes": [
     {"op": "null", "name": "a", "inputs": []},
     {"op": "null", "name": "b", "inputs": []},
     {"op": "Convolution", "name": "conv", "attrs": {"kernel": "(3, 3)",
      "num_filter": "4", "no_bias": "True"}, "inputs": [[0, 0, 0], [1, 0, 0]]}],
     "arg_nodes": [0, 1], "heads": [[2, 0, 0]]}]}],
  "arg_nodes": [0, 1], "heads": [[3, 0, 0]],
  "attrs": {"mxnet_version": ["int", 10901]}})json";

NetworkRequest Initialized(const std::string& model) {
  NetworkRequest request;
  request.model = model;
  request.init = "xavier";
  request.seed = 5;
  return request;
}

// A variable, or the constant that it has become.
const Node& Weight(const Model& model) {
  for (const auto& node : model.graph.nodes()) {
    if (node->name == "fc_weight") return *node;
  }
  FAIL("no weight");
  return *model.graph.nodes().front();
}

}  // namespace

TEST_CASE("driver: a network's files are read once") {
  const test::TemporaryFolder folder("network");
  const std::string path = folder.File("net.json");
  test::WriteText(path, kLinear);
  const auto drawn = LoadedNetwork::Read(Initialized(path));
  REQUIRE(drawn.ok());
  const auto first = (*drawn)->Specialize({});
  REQUIRE_MESSAGE(first.ok(), Render(first.errors()));
  REQUIRE(WriteParameters(*first, folder.File("net-0000.params")).ok());

  NetworkRequest request;
  request.model = path;
  const auto network = LoadedNetwork::Read(request);
  REQUIRE_MESSAGE(network.ok(), Render(network.errors()));
  REQUIRE((*network)->Specialize({}).ok());
  std::filesystem::remove(path);
  std::filesystem::remove(folder.File("net-0000.params"));
  for (const int64_t batch : {1, 8}) {
    const auto model = (*network)->Specialize({{}, {}, batch});
    REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
    CHECK(model->graph.FindVariable("data")->types[0].shape[0] == batch);
    CHECK(Weight(*model).constant.At(0) == Weight(*first).constant.At(0));
  }
  CHECK((*network)->Draft({}).ok());
}

TEST_CASE("driver: initial values are drawn once for all entries") {
  const test::TemporaryFolder folder("network");
  const std::string path = folder.File("net.json");
  test::WriteText(path, kLinear);
  const auto network = LoadedNetwork::Read(Initialized(path));
  REQUIRE(network.ok());
  const auto train = (*network)->Specialize({}, ParameterUse::kStates);
  const auto infer = (*network)->Specialize({{}, {}, 4});
  REQUIRE(train.ok());
  REQUIRE(infer.ok());
  CHECK(Weight(*train).constant.identity() ==
        Weight(*infer).constant.identity());
}

TEST_CASE("driver: a network and its parameters from memory") {
  NetworkRequest request;
  request.text = std::make_shared<const SourceFile>(
      SourceFile{"a network in memory", kLinear});
  auto weight = runtime::Array::Allocate(runtime::ElementType::kF32, {4, 6});
  REQUIRE(weight.ok());
  ParameterArrays arrays = {{"fc_weight", *weight}};
  request.arrays = std::make_shared<const ParameterArrays>(arrays);
  const auto lacking = LoadedNetwork::Read(request);
  REQUIRE(lacking.ok());
  const auto missing = (*lacking)->Specialize({});
  REQUIRE(!missing.ok());
  CHECK(missing.errors()[0].message ==
        "the list of parameters lacks 1 of the network's parameters: fc_bias; "
        "--init xavier makes them up");

  auto bias = runtime::Array::Allocate(runtime::ElementType::kF32, {4});
  REQUIRE(bias.ok());
  arrays.push_back({"arg:fc_bias", *bias});
  request.arrays = std::make_shared<const ParameterArrays>(arrays);
  const auto network = LoadedNetwork::Read(request);
  REQUIRE(network.ok());
  const auto model = (*network)->Specialize({});
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  CHECK(Weight(*model).constant.bytes() == weight->storage.get());
}

TEST_CASE("driver: all that is wrong with the files and the target at once") {
  CompileRequest request;
  request.network.model = "/nowhere/net.json";
  request.network.epoch = 7;
  request.target = "z80";
  Progress silent;
  const auto plan = MakePlan(request, silent);
  REQUIRE(!plan.ok());
  CHECK(plan.errors().size() == 3);
}

TEST_CASE("driver: targets are chosen for what a network multiplies") {
  const test::TemporaryFolder folder("network");
  const auto storage = [&](const char* text, const Extents& data,
                           DType precision) {
    const std::string path = folder.File("net-symbol.json");
    test::WriteText(path, text);
    const auto network = LoadedNetwork::Read(Initialized(path));
    REQUIRE_MESSAGE(network.ok(), Render(network.errors()));
    Specialization of;
    of.shapes = {{"data", data}};
    return (*network)->StorageFor(of, precision);
  };
  CHECK(*storage(kFused, {1, 2, 5, 5}, DType::kF32) == DType::kI8);
  CHECK(*storage(kLinear, {1, 6}, DType::kBF16) == DType::kBF16);
}

}  // namespace mxc
