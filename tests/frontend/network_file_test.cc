// SPDX-License-Identifier: Apache-2.0
// What tells formats apart, and a format of one file and one row.
#include "frontend/network_file.h"

#include <doctest/doctest.h>

#include <cstring>

#include "frontend/variables.h"
#include "ir/graph/operator.h"

namespace mxc {
namespace {

// "units" in a byte, after "toy" and a zero: a layer with weights of one.
class ToyFile : public NetworkFile {
 public:
  explicit ToyFile(std::shared_ptr<const NetworkSource> content)
      : NetworkFile(content, std::make_shared<const SourceFile>(
                                 SourceFile{content->path(), ""})),
        units_(std::to_integer<int>(content->bytes()[4])) {
    auto weight =
        runtime::Array::Allocate(runtime::ElementType::kF32, {units_, 2});
    REQUIRE(weight.ok());
    const std::vector<float> ones(static_cast<size_t>(units_) * 2, 1.0f);
    std::memcpy(weight->bytes().data(), ones.data(), ones.size() * 4);
    parameters_ = std::make_shared<const ParameterArrays>(
        ParameterArrays{{"fc_weight", *weight}});
  }

  Result<Graph> Build(const BuildOptions&, Diagnostics&) const override {
    Graph graph;
    Node* data = graph.AddVariable("data");
    data->types[0] = {DType::kF32, Shape({Shape::kUnknownDim, 2})};
    Node* weight = graph.AddVariable("fc_weight");
    const Operator* op = FindOperator("FullyConnected");
    const AttrText attrs[] = {{"num_hidden", std::to_string(units_)},
                              {"no_bias", "1"}};
    std::vector<AttrError> wrong;
    Node* layer = graph.AddOperator(op, "fc", op->parse(attrs, wrong),
                                    {{data, 0}, {weight, 0}});
    layer->op_name = op->name;
    layer->written.attributes.assign(std::begin(attrs), std::end(attrs));
    OutputNamer namer;
    AddOutput(graph, {layer, 0}, namer);
    AssignRoles(graph);
    return graph;
  }

  std::shared_ptr<const ParameterArrays> parameters() const override {
    return parameters_;
  }

 private:
  int units_;
  std::shared_ptr<const ParameterArrays> parameters_;
};

constexpr Frontend kToy = {"toys",
                           [](const NetworkSource& source) {
                             return source.bytes().size() == 5 &&
                                    std::memcmp(source.bytes().data(), "toy",
                                                4) == 0;
                           },
                           [](std::shared_ptr<const NetworkSource> source)
                               -> Result<std::unique_ptr<NetworkFile>> {
                             return std::unique_ptr<NetworkFile>(
                                 std::make_unique<ToyFile>(std::move(source)));
                           }};

std::shared_ptr<const NetworkSource> Content(const std::string& text,
                                             const std::string& path = "net") {
  return std::make_shared<const NetworkSource>(
      std::make_shared<const SourceFile>(SourceFile{path, text}));
}

Result<std::shared_ptr<const NetworkFile>> OpenWithToys(
    std::shared_ptr<const NetworkSource> content) {
  std::vector<const Frontend*> all(Frontends().begin(), Frontends().end());
  all.push_back(&kToy);
  return OpenNetwork(std::move(content), all);
}

std::shared_ptr<const NetworkFile> OpenToy() {
  const auto file = OpenWithToys(Content(std::string("toy\0\3", 5)));
  REQUIRE(file.ok());
  return *file;
}

// Of four samples, with its parameters.
Model ToyModel(LoadOptions options) {
  options.batch = 4;
  auto model = BuildModel(*OpenToy(), options);
  REQUIRE(model.ok());
  REQUIRE(LoadParameters(*model, options).ok());
  return std::move(*model);
}

TEST_CASE("a format of one file and one row is built and brings its values") {
  const Model model = ToyModel({});
  CHECK(RequireParameters(model).ok());
  CHECK(model.graph.outputs[0].type().shape == Shape({4, 3}));
  CHECK(model.parameters.at("fc_weight").shape() == Shape({3, 2}));
  CHECK(model.parameter_file == "net");
}

TEST_CASE("an artifact keeps JSON that reads as the same network") {
  const auto stored = OpenToy()->Stored({});
  REQUIRE(stored.ok());
  const auto again =
      LoadText(std::make_shared<SourceFile>(SourceFile{"stored", *stored}), {});
  REQUIRE(again.ok());
  CHECK(WriteSymbol(again->graph) == *stored);
  const TensorType data = again->graph.FindVariable("data")->types[0];
  CHECK(data == TensorType{DType::kF32, Shape({Shape::kUnknownDim, 2})});
  const std::string own =
      R"({"mxc": 1, "inputs": {"data": [1, 2]}, "nodes": []})";
  const auto json = OpenNetwork(Content(own));
  REQUIRE(json.ok());
  CHECK(*(*json)->Stored({}) == own);
}

TEST_CASE("a parameter file wins over values of the network's own file") {
  auto array = runtime::Array::Allocate(runtime::ElementType::kF32, {3, 2});
  REQUIRE(array.ok());
  std::memset(array->bytes().data(), 0, array->bytes().size());
  LoadOptions options;
  options.params = "zeros.params";
  options.arrays = std::make_shared<const ParameterArrays>(
      ParameterArrays{{"arg:fc_weight", *array}});
  const Model model = ToyModel(options);
  CHECK(model.parameters.at("fc_weight").floats()[0] == 0.0f);
  CHECK(model.parameter_file == "zeros.params");
}

std::string SentenceOf(const std::string& text,
                       const std::string& path = "net") {
  const auto file = OpenWithToys(Content(text, path));
  REQUIRE_FALSE(file.ok());
  return file.errors()[0].message;
}

TEST_CASE("what nobody claims is named, with all that could be") {
  const std::string expected =
      "ONNX, Caffe's nets, our own JSON, MXNet's symbol JSON or toys";
  const std::string binary = SentenceOf(std::string("toy\0", 4));
  CHECK(binary.starts_with("net: a binary file, expected a network: "));
  CHECK(binary.find(expected) != std::string::npos);
  CHECK(SentenceOf("\x7f"
                   "ELF")
            .find("a compiled file") != std::string::npos);
  CHECK(SentenceOf("[1]").find("not a network") != std::string::npos);
  CHECK(SentenceOf("{").find("expected") != std::string::npos);
}

}  // namespace
}  // namespace mxc
