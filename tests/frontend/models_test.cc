// SPDX-License-Identifier: Apache-2.0
// models/: each network of ours is MXNet's own definition of it, node by node.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "frontend/frontend.h"
#include "tests/support/archive.h"
#include "tests/support/shared.h"

namespace mxc {
namespace {

const std::string kModels = SourceFolder() + "/models/";

std::vector<std::string> ModelNames() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kModels)) {
    if (entry.path().extension() == ".json") {
      names.push_back(entry.path().stem().string());
    }
  }
  std::ranges::sort(names);
  return names;
}

// The shapes of a model's inputs: N is the batch, 8 what else may be chosen.
std::map<std::string, Extents> InputShapes(const std::string& path,
                                           int64_t batch) {
  const auto inputs = nlohmann::json::parse(ReadText(path))["inputs"];
  std::map<std::string, Extents> shapes;
  for (const auto& [input, declared] : inputs.items()) {
    const auto& extents = declared.is_object() ? declared["shape"] : declared;
    for (const auto& extent : extents) {
      shapes[input].push_back(extent.is_number() ? extent.get<int64_t>()
                              : extent == "N"    ? batch
                                                 : 8);
    }
  }
  return shapes;
}

Graph LoadModel(const std::string& name, int64_t batch) {
  const std::string path = kModels + name + ".json";
  LoadOptions options;
  options.input_shapes = InputShapes(path, batch);
  Result<Model> model = Load(path, options);
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  return std::move(model->graph);
}

void Infer(Graph& graph) {
  const Status inferred = InferTypes(graph, true);
  REQUIRE_MESSAGE(inferred.ok(), Render(inferred.errors()));
}

// Tuples that state what an empty one means count as empty, and hints, which
// do not change the values, not at all.
std::vector<AttrText> Meaning(const Node& node) {
  std::vector<AttrText> attrs;
  for (auto [name, text] : node.op->print(node.attrs.get())) {
    if (name == "workspace" || name.starts_with("cudnn_")) continue;
    const bool ones = name == "stride" || name == "dilate";
    const bool zeros = name == "pad";
    if ((ones && text.find_first_not_of("(1, )") == std::string::npos) ||
        (zeros && text.find_first_not_of("(0, )") == std::string::npos)) {
      text = "()";
    }
    attrs.emplace_back(name, text);
  }
  return attrs;
}

// One line a node: what it is, what it reads, what it gives.
std::vector<std::string> Describe(const Graph& graph) {
  std::vector<std::string> lines;
  std::unordered_map<const Node*, size_t> numbers;
  for (const Node* node : graph.TopologicalOrder()) {
    std::string line = fmt::format(
        "{} = {}(", node->name,
        node->kind == Node::Kind::kOperator ? node->op->name : "variable");
    for (const Value& input : node->inputs) {
      line += fmt::format(" %{}:{}", numbers[input.node], input.index);
    }
    line += " )";
    if (node->kind == Node::Kind::kOperator) {
      for (const auto& [name, text] : Meaning(*node)) {
        line += fmt::format(" {}={}", name, text);
      }
    }
    line += " " + ToString(node->types[0]);
    numbers[node] = lines.size();
    lines.push_back(line);
  }
  return lines;
}

// MXNet's definition of a model of ours within the archive.
std::string ReferenceOf(const std::string& name) {
  if (name == "squeezenet-v1.1") {
    return "symbols/jessebrizzi__MXNet-Bug__squeezenet-v1.1-symbol.json";
  }
  return "symbols_generated/" + name + "-symbol.json";
}

// Rows of the first output for a batch of two: one for each label, unless
// classes stand before the labels' places.
int64_t RowsOf(const Graph& graph) {
  const Node* label = graph.FindVariable("softmax_label");
  if (label == nullptr || graph.name == "u-net") return 2;
  return label->types[0].shape.elements();
}

TEST_CASE("models: each loads, and every shape in it follows") {
  const std::vector<std::string> names = ModelNames();
  CHECK(names.size() >= 34);
  for (const std::string& name : names) {
    CAPTURE(name);
    Graph graph = LoadModel(name, 2);
    CHECK(graph.name == name);
    CHECK(RequireSupported(graph).ok());
    Infer(graph);
    CHECK(graph.outputs[0].shape()[0] == RowsOf(graph));
  }
}

TEST_CASE("models: as many parameters as their authors count") {
  const std::pair<const char*, int64_t> kCounts[] = {
      {"bert-base", 109'482'240},        // transformers' BertModel
      {"gpt2-small", 124'439'808},       // transformers' GPT2LMHeadModel
      {"vit-b16", 86'567'656},           // torchvision's documentation
      {"transformer-base", 63'082'496},  // of torch.nn's layers
      {"u-net", 31'030'658},             // of its figure's layers
  };
  for (const auto& [name, count] : kCounts) {
    CAPTURE(name);
    Graph graph = LoadModel(name, 2);
    Infer(graph);
    int64_t elements = 0;
    for (const Node* node : graph.Variables(VariableRole::kParameter)) {
      elements += node->types[0].shape.elements();
    }
    CHECK(elements == count);
  }
}

TEST_CASE("models: the same network as MXNet's own definition" *
          doctest::test_suite("shared")) {
  const std::string shared = SharedFolder();
  if (shared.empty()) {
    MESSAGE("skipped: no shared cases");
    return;
  }
  const auto files = ReadArchive(shared + "/cases/symbols.tar.gz");
  REQUIRE(files.has_value());
  int compared = 0;
  for (const std::string& name : ModelNames()) {
    const auto file = files->find(ReferenceOf(name));
    if (file == files->end()) continue;
    CAPTURE(name);
    Graph ours = LoadModel(name, 1);
    LoadOptions options;
    options.input_shapes["data"] =
        ours.FindVariable("data")->types[0].shape.dims();
    Result<Model> theirs = LoadText(
        std::make_shared<SourceFile>(SourceFile{file->first, file->second}),
        options);
    REQUIRE(theirs.ok());
    Infer(ours);
    Infer(theirs->graph);
    const auto a = Describe(ours), b = Describe(theirs->graph);
    CHECK(a.size() == b.size());
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      REQUIRE(a[i] == b[i]);
    }
    CHECK(ours.output_names == theirs->graph.output_names);
    ++compared;
  }
  CHECK(compared >= 21);
  MESSAGE(compared, " networks compared with MXNet's");
}

}  // namespace
}  // namespace mxc
