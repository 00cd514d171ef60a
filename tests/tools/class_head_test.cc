// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/class_head.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "frontend/frontend.h"
#include "tests/support/temporary_folder.h"
#include "tools/driver/network.h"

namespace mxc {
namespace {

Result<Model> Inferred(const std::string& nodes, const LoadOptions& options) {
  auto source = std::make_shared<SourceFile>();
  source->path = "net.json";
  source->text = nodes.find("nodes\"") != std::string::npos
                     ? nodes
                     : R"({"mxc": 1, "inputs": {"data": [4, 6]}, "nodes": [)" +
                           nodes + "]}";
  MXC_ASSIGN(Model model, LoadText(source, options));
  MXC_RETURN_IF_ERROR(InferTypes(model.graph, /*complete=*/false));
  return model;
}

Result<ClassHead> HeadOf(const std::string& nodes) {
  MXC_ASSIGN(const Model model, Inferred(nodes, {}));
  return FindClassHead(model.graph);
}

// The output's shape of a network of the text once it has so many classes, and
// what is wrong.
Result<Shape> With(int64_t classes, const std::string& nodes) {
  const test::TemporaryFolder folder("head");
  const std::string path = folder.File("net.json");
  test::WriteText(path,
                  nodes.find("nodes\"") != std::string::npos
                      ? nodes
                      : R"({"mxc": 1, "inputs": {"data": [4, 6]}, "nodes": [)" +
                            nodes + "]}");
  NetworkRequest request;
  request.model = path;
  request.init = "xavier";
  MXC_ASSIGN(const auto network, LoadedNetwork::Read(request));
  MXC_RETURN_IF_ERROR(network->SetClasses(classes, {}));
  MXC_ASSIGN(const Model model, network->Specialize({}));
  return model.graph.outputs[0].shape();
}

std::string Message(const Diagnostics& errors) {
  return errors.front().message;
}

constexpr const char* kDense =
    R"({"op": "FullyConnected", "name": "fc", "num_hidden": 10})";
constexpr const char* kSoftmax =
    R"({"op": "SoftmaxOutput", "name": "softmax"})";

TEST_CASE("classes: the last layer is found behind what has no width") {
  const std::string dense = kDense, softmax = kSoftmax;
  for (const std::string& between :
       {std::string(),
        std::string(R"({"op": "Activation", "act_type": "relu"},)"),
        std::string(R"({"op": "BatchNorm", "name": "bn"},)"),
        std::string(R"({"op": "Reshape", "shape": [0, -1]},)"),
        std::string(R"({"op": "_mul_scalar", "scalar": 2},)")}) {
    CAPTURE(between);
    const std::string nodes = dense + ", " + between + softmax;
    const auto head = HeadOf(nodes);
    REQUIRE_MESSAGE(head.ok(), Render(head.errors()));
    REQUIRE(head->layers.size() == 1);
    CHECK(head->Names() == "'fc'");
    CHECK(head->layers[0].attribute == "num_hidden");
    CHECK(head->classes == 10);
    CHECK(head->parameters.contains("fc_weight"));
    CHECK(head->parameters.contains("bn_gamma") ==
          (between.find("bn") != std::string::npos));
    for (const int64_t classes : {2, 10, 37}) {
      const auto shape = With(classes, nodes);
      REQUIRE_MESSAGE(shape.ok(), Render(shape.errors()));
      CHECK(*shape == Shape({4, classes}));
    }
  }
}

TEST_CASE("classes: every classifier of models/ can have others") {
  int classifiers = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(MXC_SOURCE_DIR "/models")) {
    if (entry.path().extension() != ".json") continue;
    CAPTURE(entry.path().string());
    NetworkRequest request;
    request.model = entry.path().string();
    request.parameters = std::make_shared<const ParameterFile>();
    request.make_up_weights = true;
    const auto network = LoadedNetwork::Read(request);
    REQUIRE(network.ok());
    const Specialization of{{}, {}, 2};
    const auto before = (*network)->Specialize(of);
    if (!before.ok()) continue;  // lengths are open
    // Numbers, or likes and dislikes, have one column.
    const Shape told = before->graph.outputs[0].shape();
    if (told.rank() != 2 || told[1] < 2) continue;
    ++classifiers;
    const Status set = (*network)->SetClasses(7, of);
    REQUIRE_MESSAGE(set.ok(), Render(set.errors()));
    const auto after = (*network)->Specialize(of);
    REQUIRE_MESSAGE(after.ok(), Render(after.errors()));
    CHECK(after->graph.outputs[0].shape() == Shape({2, 7}));
    // Every other parameter is as it was.
    int64_t changed = 0;
    for (const auto& [name, value] : before->parameters) {
      changed += after->parameters.at(name).shape() != value.shape() ? 1 : 0;
    }
    CHECK(changed <= 4);  // of two layers where the classes are their sum
    CHECK(changed > 0);
  }
  CHECK(classifiers >= 20);
}

TEST_CASE("classes: all losses over the same classes") {
  const std::string two = R"({
    "mxc": 1, "inputs": {"data": [4, 6], "label": [4]},
    "nodes": [
      {"op": "FullyConnected", "name": "early", "inputs": ["data"],
       "num_hidden": 5},
      {"op": "SoftmaxOutput", "name": "aid", "inputs": ["early", "label"]},
      {"op": "FullyConnected", "name": "late", "inputs": ["data"],
       "num_hidden": 5},
      {"op": "SoftmaxOutput", "name": "main", "inputs": ["late", "label"]}],
    "outputs": ["aid", "main"]})";
  const auto head = HeadOf(two);
  REQUIRE_MESSAGE(head.ok(), Render(head.errors()));
  CHECK(head->Names() == "'early' and 'late'");

  std::string others = two;
  others.replace(others.find(R"(["late", "label"])"), 17,
                 R"(["late", "other"])");
  others.replace(others.find(R"("label": [4])"), 12,
                 R"("label": [4], "other": [4])");
  const auto refused = HeadOf(others);
  REQUIRE_FALSE(refused.ok());
  CHECK(Message(refused.errors()) ==
        "which classes are meant is not known: 'aid' tells 5 apart by label "
        "'label', 'main' 5 by 'other'");
}

TEST_CASE("classes: a sum of layers, a picked probability, an answer") {
  const auto sum = With(3, R"({
    "mxc": 1, "inputs": {"data": [4, 6]},
    "nodes": [
      {"op": "FullyConnected", "name": "a", "inputs": ["data"], "num_hidden": 5},
      {"op": "FullyConnected", "name": "b", "inputs": ["data"], "num_hidden": 5},
      {"op": "elemwise_add", "name": "sum", "inputs": ["a", "b"]},
      {"op": "SoftmaxOutput", "name": "softmax", "inputs": ["sum"]}]})");
  REQUIRE_MESSAGE(sum.ok(), Render(sum.errors()));
  CHECK(*sum == Shape({4, 3}));

  const auto head = HeadOf(R"({
    "mxc": 1, "inputs": {"data": [4, 6], "label": [4]},
    "nodes": [
      {"op": "FullyConnected", "name": "fc", "inputs": ["data"],
       "num_hidden": 5},
      {"op": "log_softmax", "name": "log", "inputs": ["fc"]},
      {"op": "pick", "name": "picked", "inputs": ["log", "label"]},
      {"op": "MakeLoss", "name": "loss", "inputs": ["picked"]}]})");
  REQUIRE_MESSAGE(head.ok(), Render(head.errors()));
  CHECK(head->Names() == "'fc'");
  CHECK(head->classes == 5);

  for (const std::string& last :
       {std::string(kDense),
        kDense + std::string(R"(, {"op": "softmax", "name": "s"})")}) {
    const auto answer = With(3, last);
    REQUIRE_MESSAGE(answer.ok(), Render(answer.errors()));
    CHECK(*answer == Shape({4, 3}));
  }
}

TEST_CASE("classes: a convolution before the mean over a picture") {
  const auto shape = With(3, R"({
    "mxc": 1, "inputs": {"data": [2, 3, 8, 8]},
    "nodes": [
      {"op": "Convolution", "name": "conv", "kernel": [1, 1], "num_filter": 9},
      {"op": "Activation", "act_type": "relu"},
      {"op": "Pooling", "global_pool": true, "kernel": [1, 1],
       "pool_type": "avg"},
      {"op": "Flatten"},
      {"op": "SoftmaxOutput", "name": "softmax"}]})");
  REQUIRE_MESSAGE(shape.ok(), Render(shape.errors()));
  CHECK(*shape == Shape({2, 3}));
}

// As Gluon exports networks: every parameter says its shape.
TEST_CASE("classes: shapes that a file says of parameters are forgotten") {
  const auto shape = With(3, R"json({
    "nodes": [
      {"op": "null", "name": "data", "attrs": {"__shape__": "(4, 6)"},
       "inputs": []},
      {"op": "null", "name": "w_weight", "attrs": {"__shape__": "(10, 6)"},
       "inputs": []},
      {"op": "null", "name": "b_bias", "attrs": {"__shape__": "(10,)"},
       "inputs": []},
      {"op": "FullyConnected", "name": "fc", "attrs": {"num_hidden": "10"},
       "inputs": [[0, 0, 0], [1, 0, 0], [2, 0, 0]]},
      {"op": "null", "name": "softmax_label", "inputs": []},
      {"op": "SoftmaxOutput", "name": "softmax",
       "inputs": [[3, 0, 0], [4, 0, 0]]}],
    "arg_nodes": [0, 1, 2, 4], "heads": [[5, 0, 0]]})json");
  REQUIRE_MESSAGE(shape.ok(), Render(shape.errors()));
  CHECK(*shape == Shape({4, 3}));
}

TEST_CASE("classes: refusals say why") {
  const auto message = [](const auto& result) {
    REQUIRE_FALSE(result.ok());
    return Message(result.errors());
  };
  CHECK(message(HeadOf(R"({"op": "FullyConnected", "num_hidden": 1},
                          {"op": "LinearRegressionOutput", "name": "lro"})"))
            .starts_with("the network has no loss over classes"));
  // Four letters of ten.
  const std::string letters =
      R"({"op": "FullyConnected", "name": "fc", "num_hidden": 40},
         {"op": "Reshape", "shape": [-1, 10]},)";
  CHECK(message(HeadOf(letters + kSoftmax)) ==
        "no layer with num_hidden or num_filter 10 gives 'softmax' its 10 "
        "classes");
  const auto fixed =
      With(3, kDense + std::string(R"(, {"op": "Reshape", "name": "r",
                                         "shape": [4, 10]},)") +
                  kSoftmax);
  CHECK(message(fixed) ==
        "with 3 outputs of 'fc', 'softmax' tells 10 classes apart: something "
        "between them says how many");
  const auto hot = With(3, R"({
    "mxc": 1, "inputs": {"data": [4, 6], "label": [4, 10]},
    "nodes": [
      {"op": "FullyConnected", "name": "fc", "inputs": ["data"],
       "num_hidden": 10},
      {"op": "SoftmaxOutput", "name": "softmax", "inputs": ["fc", "label"]}]})");
  REQUIRE_FALSE(hot.ok());
  CHECK(Render(hot.errors())
            .find("so it is with 3 outputs of 'fc', of which the network has "
                  "10") != std::string::npos);
  const auto halves =
      With(4, kDense + std::string(R"(, {"op": "slice_axis", "name": "s",
                                         "axis": 1, "begin": 0, "end": -5},
                                        {"op": "FullyConnected", "name": "g",
                                         "num_hidden": 5, "no_bias": true},
                                        {"op": "tile", "reps": [1, 2]},)") +
                  kSoftmax);
  REQUIRE_FALSE(halves.ok());
}

}  // namespace
}  // namespace mxc
