// SPDX-License-Identifier: Apache-2.0
// Parameter files: found, fitted, complained about.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "frontend/frontend.h"
#include "runtime/formats/ndarray_list.h"
#include "runtime/formats/safetensors.h"
#include "tests/support/shared.h"

namespace mxc {
namespace {

namespace fs = std::filesystem;

const char* const kNet = R"json({"nodes": [
  {"op": "null", "name": "data", "inputs": []},
  {"op": "null", "name": "fc_weight", "inputs": []},
  {"op": "null", "name": "fc_bias", "inputs": []},
  {"op": "FullyConnected", "name": "fc", "attrs": {"num_hidden": "2"},
   "inputs": [[0, 0, 0], [1, 0, 0], [2, 0, 0]]},
  {"op": "null", "name": "softmax_label", "inputs": []},
  {"op": "SoftmaxOutput", "name": "softmax",
   "inputs": [[3, 0, 0], [4, 0, 0]]}],
  "heads": [[5, 0, 0]], "attrs": {"mxnet_version": ["int", 10901]}})json";

// A folder with net-symbol.json that goes away.
class Folder {
 public:
  Folder()
      : path_(fs::temp_directory_path() /
              ("mxc_parameters_" + std::to_string(getpid()))) {
    fs::create_directories(path_);
    std::ofstream(Path("net-symbol.json")) << kNet;
  }
  ~Folder() { fs::remove_all(path_); }

  std::string Path(const std::string& name) const {
    return (path_ / name).string();
  }
  void Write(const std::string& name,
             const std::vector<std::pair<std::string, Extents>>& arrays,
             runtime::ElementType type = runtime::ElementType::kF32) {
    std::vector<runtime::NamedArray> list;
    for (const auto& [array_name, shape] : arrays) {
      auto array = runtime::Array::Allocate(type, shape);
      std::ranges::fill(array->bytes(), std::byte{0});
      list.push_back({array_name, *array});
    }
    REQUIRE(runtime::WriteNdarrayList(Path(name), list).ok());
  }
  Result<Model> LoadNet(const LoadOptions& options = {}) const {
    return Load(Path("net-symbol.json"), options);
  }

 private:
  fs::path path_;
};

const std::vector<std::pair<std::string, Extents>> kGood = {
    {"arg:fc_weight", {2, 3}}, {"arg:fc_bias", {2}}};

TEST_CASE("parameters: the newest epoch beside the network, or the asked one") {
  Folder folder;
  auto none = folder.LoadNet();
  REQUIRE(none.ok());
  CHECK(none->parameter_file.empty());
  const Status missing = RequireParameters(*none);
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.errors()[0].message.find("fc_weight, fc_bias") !=
        std::string::npos);
  folder.Write("net-0002.params", kGood);
  folder.Write("net-0010.params", kGood);
  folder.Write("net-best.params", kGood);
  folder.Write("network-0099.params", kGood);
  CHECK(folder.LoadNet()->parameter_file == folder.Path("net-0010.params"));
  LoadOptions options;
  options.epoch = 2;
  CHECK(folder.LoadNet(options)->parameter_file ==
        folder.Path("net-0002.params"));
  options.epoch = 3;
  CHECK(folder.LoadNet(options).errors()[0].message.find("net-0003.params") !=
        std::string::npos);
  options.params = folder.Path("net-best.params");
  CHECK(folder.LoadNet(options)->parameter_file == options.params);
}

TEST_CASE("parameters: values, roles and constants") {
  Folder folder;
  folder.Write("net.params", kGood);
  auto model = folder.LoadNet();
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  CHECK(model->parameters.size() == 2);
  CHECK(model->prefixes.at("fc_weight") == "arg");
  CHECK(RequireParameters(*model).ok());
  CHECK(ToString(model->graph.FindVariable("data")->types[0].shape) == "(?)");
  BindParameters(*model);
  CHECK(model->graph.FindVariable("fc_weight") == nullptr);
  model->graph.FindVariable("data")->types[0].shape = {4, 3};
  CHECK(InferTypes(model->graph, true).ok());
  CHECK(ToString(model->graph.outputs[0].type()) == "f32[4, 2]");
  CHECK(WriteSymbol(model->graph).find("\"fc_weight\"") != std::string::npos);
}

// PyTorch's exporter calls folded weights "onnx::Conv_538".
TEST_CASE("parameters: only arg and aux stand before a name") {
  Folder folder;
  std::string net = kNet;
  for (size_t at; (at = net.find("\"fc_weight\"")) != std::string::npos;) {
    net.replace(at, 11, "\"onnx::Conv_1\"");
  }
  std::ofstream(folder.Path("net-symbol.json")) << net;
  for (const std::string prefix : {"", "arg:"}) {
    folder.Write("net.params", {{prefix + "onnx::Conv_1", {2, 3}},
                                {prefix + "fc_bias", {2}}});
    const auto model = folder.LoadNet();
    REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
    CHECK(RequireParameters(*model).ok());
    CHECK(model->parameters.contains("onnx::Conv_1"));
    CHECK(model->prefixes.contains("fc_bias") == !prefix.empty());
  }
}

TEST_CASE("parameters: a wrong shape names both") {
  Folder folder;
  folder.Write("net.params", {{"arg:fc_weight", {2, 3}}, {"arg:fc_bias", {3}}});
  LoadOptions options;
  options.input_shapes["data"] = {1, 4};
  const auto model = folder.LoadNet(options);
  REQUIRE_FALSE(model.ok());
  REQUIRE(model.errors().size() == 2);
  CHECK(model.errors()[0].message ==
        "parameter 'fc_weight' has shape (2, 3) in " +
            folder.Path("net.params") + ", but the network needs (2, 4)");
  CHECK(model.errors()[1].message.find("(3) in") != std::string::npos);
}

TEST_CASE("parameters: what is too much is noted, labels stay inputs") {
  Folder folder;
  auto arrays = kGood;
  arrays.push_back({"arg:other", {1}});
  arrays.push_back({"arg:softmax_label", {9}});
  arrays.push_back({"data", {9, 3}});
  folder.Write("net.params", arrays);
  const auto model = folder.LoadNet();
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  REQUIRE(model->notes.size() == 1);
  CHECK(model->notes[0].message.find(
            "3 of 5 arrays belong to no parameter: other, softmax_label, "
            "data") != std::string::npos);
  CHECK(model->graph.FindVariable("data")->role == VariableRole::kInput);
}

// A file's types, the network's notes, what the caller says.
TensorType DataType(const Folder& folder, const LoadOptions& options = {}) {
  const auto model = folder.LoadNet(options);
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  return model->graph.FindVariable("data")->types[0];
}

TEST_CASE("parameters: the types of the arrays win over the network's notes") {
  Folder folder;
  std::string noted = kNet;
  for (const char* name : {"data", "fc_weight"}) {
    const std::string key = fmt::format("\"name\": \"{}\", ", name);
    noted.insert(noted.find(key) + key.size(),
                 "\"attrs\": {\"__dtype__\": \"0\"}, ");
  }
  std::ofstream(folder.Path("net-symbol.json")) << noted;
  for (const auto type :
       {runtime::ElementType::kF64, runtime::ElementType::kF16}) {
    folder.Write("net.params", kGood, type);
    const auto model = folder.LoadNet();
    REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
    const auto expected = *DTypeFromFlag(static_cast<int>(type));
    for (const char* name : {"data", "fc_weight", "softmax_label"}) {
      CAPTURE(name);
      CHECK(model->graph.FindVariable(name)->types[0].dtype == expected);
    }
  }
}

TEST_CASE("parameters: a note says what does not follow from the arrays") {
  Folder folder;
  std::string cast = R"json({"nodes": [
  {"op": "null", "name": "data", "attrs": {"__dtype__": "3"}, "inputs": []},
  {"op": "Cast", "name": "cast", "attrs": {"dtype": "float64"},
   "inputs": [[0, 0, 0]]},
  {"op": "null", "name": "fc_weight", "inputs": []},
  {"op": "null", "name": "fc_bias", "inputs": []},
  {"op": "FullyConnected", "name": "fc", "attrs": {"num_hidden": "2"},
   "inputs": [[1, 0, 0], [2, 0, 0], [3, 0, 0]]}],
  "heads": [[4, 0, 0]], "attrs": {"mxnet_version": ["int", 10901]}})json";
  std::ofstream(folder.Path("net-symbol.json")) << cast;
  folder.Write("net.params", kGood, runtime::ElementType::kF64);
  CHECK(DataType(folder).dtype == DType::kU8);
  LoadOptions options;
  options.input_types["data"] = DType::kI64;
  CHECK(DataType(folder, options).dtype == DType::kI64);
}

TEST_CASE("parameters: the caller's type contradicts the arrays'") {
  Folder folder;
  folder.Write("net.params", kGood);
  LoadOptions options;
  options.input_types = {{"data", DType::kF16}};
  const auto model = folder.LoadNet(options);
  REQUIRE_FALSE(model.ok());
  CHECK(model.errors()[0].message ==
        "FullyConnected 'fc': input 1 has type f32, expected f16");
  CHECK(model.errors()[0].notes ==
        std::vector<std::string>{"'data' has type f16",
                                 "'fc_weight' has type f32",
                                 "'fc_bias' has type f32"});
  options.input_types = {{"dada", DType::kF16}};
  CHECK(folder.LoadNet(options).errors()[0].message ==
        "the network has no input 'dada'; its inputs: data, softmax_label");
}

TEST_CASE("parameters: floats of 16 bits beside float32 become float32") {
  Folder folder;
  const auto array = [](const char* name, runtime::ElementType type,
                        const Extents& shape, std::vector<uint16_t> bits) {
    auto made = runtime::Array::Allocate(type, shape);
    std::memcpy(made->bytes().data(), bits.data(), made->bytes().size());
    return runtime::NamedArray{name, *made};
  };
  // 1.5, -2, the smallest number that is no zero, infinity; as bfloat16 and as
  // float16.
  const std::vector<uint16_t> bf16 = {0x3fc0, 0xc000, 0x0001, 0x7f80};
  const std::vector<uint16_t> f16 = {0x3e00, 0xc000};
  const std::vector<runtime::NamedArray> list = {
      array("fc_weight", runtime::ElementType::kBF16, {2, 2}, bf16),
      array("fc_bias", runtime::ElementType::kF16, {2}, f16)};
  REQUIRE(runtime::WriteSafetensors(folder.Path("net.safetensors"), list).ok());
  LoadOptions options;
  options.params = folder.Path("net.safetensors");
  options.input_types = {{"data", DType::kF32}};
  const auto model = folder.LoadNet(options);
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  const Tensor& weight = model->parameters.at("fc_weight");
  CHECK(ToString(weight.type()) == "f32[2, 2]");
  CHECK(weight.At(0) == 1.5);
  CHECK(weight.At(1) == -2);
  CHECK(weight.At(2) == std::ldexp(1.0, -133));
  CHECK(std::isinf(weight.At(3)));
  CHECK(model->parameters.at("fc_bias").At(0) == 1.5);
  REQUIRE(model->notes.size() == 2);
  CHECK(model->notes[0].message == options.params +
                                       ": 1 array of bfloat16 becomes "
                                       "float32, as the network around it");
  // Nothing is converted where nothing would fit then, either.
  options.input_types = {{"data", DType::kF64}};
  CHECK_FALSE(folder.LoadNet(options).ok());
}

TEST_CASE("parameters: only the data's shape is asked for") {
  Folder folder;
  auto model = folder.LoadNet();
  REQUIRE(model.ok());
  const Status inferred = InferTypes(model->graph, true);
  REQUIRE_FALSE(inferred.ok());
  REQUIRE(inferred.errors().size() == 1);
  CHECK(inferred.errors()[0].message.find("'data'") != std::string::npos);
}

TEST_CASE("parameters: a damaged file and a missing one get a sentence") {
  Folder folder;
  std::ofstream(folder.Path("net-0001.params")) << "not arrays at all";
  CHECK(folder.LoadNet().errors()[0].message.find("0x112") !=
        std::string::npos);
  CHECK(Load("/nowhere/net-symbol.json", {})
            .errors()[0]
            .message.find("/nowhere/net-symbol.json") != std::string::npos);
  CHECK(Load("/tmp", {})
            .errors()[0]
            .message.find("is a folder, expected a file") != std::string::npos);
}

TEST_CASE("parameters: what is written is read") {
  Folder folder;
  folder.Write("net-0001.params", kGood);
  auto model = folder.LoadNet();
  REQUIRE(model.ok());
  REQUIRE(WriteParameters(*model, folder.Path("net-0002.params")).ok());
  const auto again = folder.LoadNet();
  REQUIRE(again.ok());
  CHECK(again->parameter_file == folder.Path("net-0002.params"));
  CHECK(again->prefixes == model->prefixes);
}

TEST_CASE("parameters: every real model has all of its own" *
          doctest::test_suite("shared")) {
  const std::string shared = SharedFolder();
  if (shared.empty()) {
    MESSAGE("skipped: no shared cases");
    return;
  }
  int models = 0;
  for (const auto& entry : fs::directory_iterator(shared + "/cases/mxnet")) {
    const fs::path symbol = entry.path() / "model-symbol.json";
    if (!fs::exists(symbol)) continue;
    CAPTURE(symbol.string());
    const auto model = Load(symbol.string(), {});
    REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
    CHECK(RequireParameters(*model).ok());
    CHECK_FALSE(model->parameters.empty());
    ++models;
  }
  CHECK(models == 10);
}

}  // namespace
}  // namespace mxc
