// SPDX-License-Identifier: Apache-2.0
// Our own JSON's key "weights": parameters under the names that others publish.
#include <doctest/doctest.h>

#include <cstring>

#include "frontend/frontend.h"
#include "runtime/formats/convert.h"
#include "runtime/formats/safetensors.h"
#include "tests/support/temporary_folder.h"

namespace mxc {
namespace {

using runtime::Array;
using runtime::ElementType;
using runtime::NamedArray;

// Two layers of 2 → 2 and one of 2 → 4, which is made of two published ones.
std::string NetOf(const std::string& weights) {
  return R"({"mxc": 1, "constants": {"size": 2}, "inputs": {"data": [1, 2]},
    "nodes": [
      {"repeat": 2, "op": "FullyConnected", "name": "layer${i}",
       "num_hidden": "$size"},
      {"op": "FullyConnected", "name": "pair", "num_hidden": 4,
       "no_bias": true}],
    "weights": [)" +
         weights + "]}";
}

const char* const kNames = R"({"prefix": "{,net.}", "names": {
  "layer${k}_weight": {"from": "h.${k - 1}.{w,kernel}", "transpose": true},
  "layer${k}_*": "h.${k - 1}.*",
  "pair_weight": {"from": ["left", "both"], "rows": ["$size", 6]}}})";

NamedArray ArrayOf(const std::string& name, std::vector<int64_t> shape,
                   const std::vector<float>& values,
                   ElementType type = ElementType::kF32) {
  Array array = *Array::Allocate(type, std::move(shape));
  runtime::ConvertElements(ElementType::kF32, std::as_bytes(std::span(values)),
                           type, array.bytes());
  return {name, array};
}

std::vector<NamedArray> Published(const std::string& prefix = "") {
  return {
      ArrayOf(prefix + "h.0.w", {2, 2}, {1, 2, 3, 4}),
      ArrayOf(prefix + "h.0.bias", {2}, {5, 6}),
      ArrayOf(prefix + "h.1.kernel", {2, 2}, {7, 8, 9, 10}, ElementType::kBF16),
      ArrayOf(prefix + "h.1.bias", {2}, {0.5, -2}, ElementType::kF16),
      ArrayOf(prefix + "left", {2, 2}, {-1, -2, -3, -4}),
      ArrayOf(prefix + "both", {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})};
}

class Files {
 public:
  Result<Model> LoadNet(const std::vector<NamedArray>& arrays,
                        const std::string& weights = kNames) {
    test::WriteText(folder_.File("net.json"), NetOf(weights));
    LoadOptions options;
    options.params = folder_.File("model.safetensors");
    REQUIRE(runtime::WriteSafetensors(options.params, arrays).ok());
    return Load(folder_.File("net.json"), options);
  }

 private:
  test::TemporaryFolder folder_{"weight-names"};
};

std::vector<float> ValuesOf(const Model& model, const std::string& name) {
  const auto found = model.parameters.find(name);
  if (found == model.parameters.end()) return {};
  const Tensor& tensor = found->second;
  REQUIRE(tensor.type().dtype == DType::kF32);
  std::vector<float> values(static_cast<size_t>(tensor.shape().elements()));
  std::memcpy(values.data(), tensor.bytes(), values.size() * sizeof(float));
  return values;
}

TEST_CASE("weights: transposed, joined, cut and widened under their names") {
  Files files;
  for (const char* prefix : {"", "net."}) {
    const auto model = files.LoadNet(Published(prefix));
    REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
    CHECK(RequireParameters(*model).ok());
    CHECK(model->notes.empty());
    using Floats = std::vector<float>;
    CHECK(ValuesOf(*model, "layer1_weight") == Floats{1, 3, 2, 4});
    CHECK(ValuesOf(*model, "layer1_bias") == Floats{5, 6});
    CHECK(ValuesOf(*model, "layer2_weight") == Floats{7, 9, 8, 10});
    CHECK(ValuesOf(*model, "layer2_bias") == Floats{0.5, -2});
    CHECK(ValuesOf(*model, "pair_weight") == Floats{1, 2, 3, 4, 5, 6, 7, 8});
  }
}

TEST_CASE("weights: the network's own names win, whatever the table says") {
  Files files;
  const auto model = files.LoadNet(
      {ArrayOf("layer1_bias", {2}, {1, 2}), ArrayOf("h.1.bias", {2}, {3, 4})});
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  CHECK(ValuesOf(*model, "layer1_bias") == std::vector<float>{1, 2});
  CHECK(ValuesOf(*model, "layer2_bias").empty());
}

// As torchvision's class_token of a network that calls one so, too.
TEST_CASE("weights: a name that both have by chance settles nothing") {
  Files files;
  std::vector<NamedArray> arrays = Published();
  arrays[1].name = "layer1_bias";
  const auto model = files.LoadNet(arrays, R"({"names": {
    "layer1_bias": "layer1_bias",
    "layer${k}_weight": {"from": "h.${k - 1}.{w,kernel}", "transpose": true},
    "layer${k}_*": "h.${k - 1}.*",
    "pair_weight": {"from": ["left", "both"], "rows": [2, 6]}}})");
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  CHECK(ValuesOf(*model, "layer1_weight") == std::vector<float>{1, 3, 2, 4});
  CHECK(ValuesOf(*model, "layer1_bias") == std::vector<float>{5, 6});
  CHECK(ValuesOf(*model, "layer2_bias") == std::vector<float>{0.5, -2});
}

TEST_CASE(
    "weights: an array that only shares a name gives way to the table's") {
  Files files;
  std::vector<NamedArray> arrays = Published();
  arrays.push_back(ArrayOf("layer1_bias", {3}, {1, 1, 1}));
  const auto model = files.LoadNet(arrays);
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  CHECK(ValuesOf(*model, "layer1_bias") == std::vector<float>{5, 6});
}

TEST_CASE("weights: of several tables the one that the file fits best") {
  Files files;
  const auto model = files.LoadNet(
      Published(),
      std::string(R"({"names": {"layer1_bias": "h.0.w"}}, )") + kNames);
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  CHECK(ValuesOf(*model, "layer1_bias") == std::vector<float>{5, 6});
}

TEST_CASE("weights: what a file lacks and what is left over have names") {
  Files files;
  auto arrays = Published();
  arrays[0].name = "h.0.other";
  const auto model = files.LoadNet(arrays);
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  REQUIRE(model->notes.size() == 2);
  CHECK(model->notes[0].message.ends_with(
      "model.safetensors has no 'h.0.w' for 'layer1_weight'"));
  CHECK(model->notes[1].message.find(
            "1 of 5 arrays belong to no parameter: h.0.other") !=
        std::string::npos);
  CHECK_FALSE(RequireParameters(*model).ok());
}

TEST_CASE("weights: arrays that cannot be what is asked for are refused") {
  Files files;
  const auto problem = [&](size_t which, std::vector<int64_t> shape) {
    auto arrays = Published();
    std::vector<float> values(16, 1.0f);
    size_t count = 1;
    for (const int64_t dim : shape) count *= static_cast<size_t>(dim);
    values.resize(count);
    arrays[which] = ArrayOf(arrays[which].name, std::move(shape), values);
    const auto model = files.LoadNet(arrays);
    return model.ok() ? "" : model.errors()[0].message;
  };
  CHECK(
      problem(0, {4}).ends_with("'h.0.w' has shape (4), expected a matrix, "
                                "which is transposed"));
  CHECK(problem(5, {4, 3}).ends_with(
      "'both' has shape (4, 3), expected one that joins 'left'"));
  CHECK(problem(5, {3, 2}).ends_with(
      "'left' has shape (5, 2), expected 6 rows or more"));
}

// One array may be asked for as often as a network has parameters.
TEST_CASE("weights: what a table makes of a file has an end") {
  std::string sources;
  for (int i = 0; i < 20; ++i) sources += std::string(i ? "," : "") + "\"big\"";
  Files files;
  const auto model =
      files.LoadNet({ArrayOf("big", {1000, 2}, std::vector<float>(2000, 1.0f))},
                    R"({"names": {"*": {"from": [)" + sources + "]}}}");
  REQUIRE_FALSE(model.ok());
  CHECK(model.errors()[0].message.ends_with(
      "the table makes more than eight times the file's bytes of it"));
  CHECK(model.errors()[0].loc.known());
}

TEST_CASE("weights: mistakes in a table have places") {
  const auto mistake = [](const std::string& table) {
    const auto model = LoadText(
        std::make_shared<SourceFile>(SourceFile{"net.json", NetOf(table)}),
        LoadOptions());
    REQUIRE_FALSE(model.ok());
    CHECK(model.errors()[0].loc.known());
    return model.errors()[0].message;
  };
  CHECK(mistake(R"({"names": {"layer${i}_bias": "h.${j}.bias"}})") ==
        "'j' is not defined here");
  CHECK(mistake(R"({"names": {"a*b": "c"}})") ==
        "'*' stands inside of 'a*b', expected at its end");
  CHECK(mistake(R"({"names": {"a${": "c"}})") ==
        "'a${' has a '${' without a name and its '}'");
  CHECK(mistake(R"({"prefix": "x"})") == "key 'names' is missing");
  CHECK(mistake(R"({"names": {}, "nmaes": {}})") ==
        "key 'nmaes' is unknown; nearest: names");
  CHECK(mistake(R"({"names": {"a": {"from": "b", "rows": [3, 3]}}})")
            .starts_with("'rows' is [3, 3], expected"));
  CHECK(mistake(R"({"names": {"a": "{b,c}{b,c}{b,c}{b,c}{b,c}{b,c}{b,c}"}})") ==
        "the weights' name stands for too many");
  std::string braces;
  for (int i = 0; i < 100'000; ++i) braces += "{}";
  CHECK(mistake(R"({"names": {"a": ")" + braces + R"("}})") ==
        "the weights' name stands for too many");
  CHECK(mistake(R"({"names": {"a": 1}})").find("expected an object") !=
        std::string::npos);
}

}  // namespace
}  // namespace mxc
