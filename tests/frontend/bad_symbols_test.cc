// SPDX-License-Identifier: Apache-2.0
// Wrong and damaged symbol files: MXNet's own refusals, and random damage.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "frontend/frontend.h"
#include "tests/support/archive.h"
#include "tests/support/shared.h"

namespace mxc {
namespace {

std::shared_ptr<const SourceFile> Source(std::string path, std::string text) {
  return std::make_shared<SourceFile>(
      SourceFile{std::move(path), std::move(text)});
}

// What is wrong with the network by the end of type inference.
Diagnostics ErrorsOf(const std::string& name, const std::string& text,
                     const LoadOptions& options) {
  Result<Model> model = LoadText(Source(name, text), options);
  if (!model.ok()) return model.errors();
  const Status inferred = InferTypes(model->graph, true);
  return inferred.ok() ? Diagnostics() : inferred.errors();
}

LoadOptions OptionsOf(const nlohmann::json& row) {
  LoadOptions options;
  options.require_supported = true;
  for (const auto& [name, shape] : row["shapes"].items()) {
    options.input_shapes[name] = shape.get<Extents>();
  }
  return options;
}

TEST_CASE("bad symbols: what MXNet refuses is refused, with a place" *
          doctest::test_suite("shared")) {
  const std::string shared = SharedFolder();
  if (shared.empty()) {
    MESSAGE("skipped: no shared cases");
    return;
  }
  const std::string folder = shared + "/cases/mxnet-bad/";
  const auto files = ReadArchive(folder + "files.tar.gz");
  REQUIRE(files.has_value());
  std::istringstream index(ReadText(folder + "index.jsonl"));
  int refused = 0;
  std::string missed;
  for (std::string line; std::getline(index, line);) {
    const auto row = nlohmann::json::parse(line);
    const std::string file = row["file"];
    if (!file.ends_with("-symbol.json")) continue;
    const Diagnostics errors =
        ErrorsOf(file, files->at("files/" + file), OptionsOf(row));
    if (row["result"] == "accepted") continue;
    refused += !errors.empty();
    if (errors.empty()) {
      missed += fmt::format("\n{}: {}", file, row["what"].get<std::string>());
    } else {
      CHECK_FALSE(errors[0].message.empty());
    }
    if (std::getenv("MXC_SHOW") != nullptr) {
      MESSAGE(row["what"].get<std::string>(), "\n", Render(errors));
    }
  }
  MESSAGE(refused, " refused");
  CHECK_MESSAGE(missed.empty(), missed);
}

TEST_CASE("bad symbols: old formats among them load" *
          doctest::test_suite("shared")) {
  const std::string shared = SharedFolder();
  if (shared.empty()) {
    MESSAGE("skipped: no shared cases");
    return;
  }
  const auto files = ReadArchive(shared + "/cases/mxnet-bad/files.tar.gz");
  REQUIRE(files.has_value());
  for (const char* name :
       {"graph-entry-2", "graph-param-key", "graph-forward-ref",
        "graph-argnodes-short", "graph-control-deps", "graph-hidden-attr",
        "graph-old-lrmult", "graph-shape-conflict", "graph-shape-bad",
        "graph-var-shape-zero", "json-18"}) {
    const std::string file = fmt::format("files/{}-symbol.json", name);
    LoadOptions options;
    options.input_shapes["data"] = {2, 3, 8, 8};
    const Diagnostics errors = ErrorsOf(file, files->at(file), options);
    CHECK_MESSAGE(errors.empty(), Render(errors));
  }
}

const char* const kNative = R"json({
  "mxc": 1, "inputs": {"data": ["N", 3, 8, 8]},
  "constants": {"f": [4, 8]}, "defaults": {"Activation": {"act_type": "relu"}},
  "blocks": {"unit": {"args": {"filters": null, "stride": 1}, "nodes": [
    {"op": "Convolution", "name": "conv", "num_filter": "$filters * 2",
     "kernel": [1, 1], "stride": ["$stride", "$stride"]},
    {"if": "$stride == 1", "op": "elemwise_add", "inputs": [[], "conv"]},
    {"op": "Activation"}]}},
  "nodes": [
    {"repeat": 2, "block": "unit", "name": "u${i}", "filters": "$f[i - 1] / 2"},
    {"op": "Flatten", "inputs": ["u2_conv:0"]},
    {"op": "FullyConnected", "name": "fc", "num_hidden": 2}]})json";

const char* const kSymbol = R"json({"nodes": [
  {"op": "null", "name": "data", "attrs": {"__shape__": "(1, 3, 8, 8)"},
   "inputs": []},
  {"op": "null", "name": "w", "inputs": []},
  {"op": "Convolution", "name": "c", "attrs": {"kernel": "(3, 3)",
   "num_filter": "4", "no_bias": "True"}, "inputs": [[0, 0, 0], [1, 0, 0]]},
  {"op": "Activation", "name": "a", "attrs": {"act_type": "relu",
   "ctx_group": "x"}, "inputs": [[2, 0, 0]], "control_deps": [1]}],
  "arg_nodes": [0, 1], "node_row_ptr": [0, 1, 2, 3, 4], "heads": [[3, 0, 0]],
  "attrs": {"mxnet_version": ["int", 10000]}})json";

// Changes a byte, a digit, or swaps, repeats and drops whole pieces.
std::string Damage(std::string text, std::mt19937& random) {
  const auto at = [&] { return random() % text.size(); };
  static constexpr std::string_view kBytes = "{}[]\",:0123456789-.eE$nt\\\x80";
  const int times = 1 + static_cast<int>(random() % 4);
  for (int i = 0; i < times && !text.empty(); ++i) {
    const size_t from = at(),
                 size = std::min<size_t>(random() % 24, text.size() - from);
    switch (random() % 5) {
      case 0:
        text[from] = static_cast<char>(random());
        break;
      case 1:
        text[from] = kBytes[random() % kBytes.size()];
        break;
      case 2:
        text.erase(from, size);
        break;
      case 3:
        text.insert(at(), text.substr(from, size));
        break;
      default:
        text.resize(from);
        break;
    }
  }
  return text;
}

TEST_CASE("bad symbols: random damage gets an answer, never a crash") {
  std::mt19937 random(20240607);
  LoadOptions options;
  int loaded = 0;
  for (int seed = 0; seed < 3000; ++seed) {
    for (const char* text : {kNative, kSymbol}) {
      const std::string damaged = Damage(text, random);
      const Diagnostics errors = ErrorsOf("damaged.json", damaged, options);
      loaded += errors.empty();
      for (const Diagnostic& error : errors) CHECK_FALSE(error.message.empty());
      if (!errors.empty()) CHECK_FALSE(Render(errors).empty());
    }
  }
  CHECK(ErrorsOf("native.json", kNative, options).empty());
  CHECK(ErrorsOf("symbol.json", kSymbol, options).empty());
  CHECK(loaded > 100);
}

TEST_CASE("bad symbols: a cut file is refused wherever it is cut") {
  for (const std::string text : {kNative, kSymbol}) {
    for (size_t size = 0; size < text.size(); ++size) {
      CHECK_FALSE(ErrorsOf("cut.json", text.substr(0, size), {}).empty());
    }
  }
}

}  // namespace
}  // namespace mxc
