// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <utility>

#include "frontend/frontend.h"
#include "frontend/json/json.h"
#include "frontend/mxnet/symbol.h"
#include "frontend/native/network.h"
#include "frontend/variables.h"
#include "runtime/base/file.h"

namespace mxc {
namespace {

constexpr size_t kLookedAt = 4096;  // bytes that tell text from other things

// What MXNet's files never have, and no outputs as these name them.
bool IsOwnWithoutVersion(const JsonValue& root) {
  constexpr std::string_view kOwn[] = {"inputs",   "parameters", "constants",
                                       "defaults", "blocks",     "outputs"};
  return root.Find("heads") == nullptr &&
         std::ranges::any_of(kOwn, [&](std::string_view key) {
           return root.Find(key) != nullptr;
         });
}

Result<Graph> GraphOf(const JsonDocument& document, const LoadOptions& options,
                      Model& model) {
  const JsonValue& root = document.root();
  if (root.Find("mxc") != nullptr) {
    MXC_ASSIGN(Graph graph, ReadNetwork(document, options));
    if (root.Find("name") == nullptr) graph.name = model.stem;
    return graph;
  }
  if (!root.Is(JsonValue::Kind::kObject) || root.members.empty()) {
    return Error(document.Locate(root),
                 "not a network: expected an object with MXNet's key 'nodes' "
                 "or our own key 'mxc'");
  }
  if (IsOwnWithoutVersion(root)) {
    return Error(document.Locate(root), "own JSON begins with \"mxc\": 1");
  }
  MXC_ASSIGN(Symbol symbol, ReadSymbol(document));
  MXC_RETURN_IF_ERROR(UpgradeSymbol(symbol, model.notes));
  MXC_ASSIGN(Graph graph, BuildGraph(symbol));
  graph.name = model.stem;
  return graph;
}

// All that cannot be compiled; of control flow that stays, why.
Status ExpandAndRequire(Graph& graph) {
  const Status expanded = ExpandSubgraphs(graph);
  Status supported = RequireSupported(graph);
  if (expanded.ok() || supported.ok()) return supported;
  Diagnostics errors = supported.errors();
  const Diagnostic& reason = expanded.errors()[0];
  const auto same = std::ranges::find_if(errors, [&](const Diagnostic& error) {
    return error.loc.path == reason.loc.path;
  });
  if (same == errors.end()) return expanded;
  *same = reason;
  return errors;
}

}  // namespace

std::string StemOfNetwork(const std::string& path) {
  constexpr std::string_view kSymbol = "-symbol";
  std::string stem = std::filesystem::path(path).stem().string();
  if (stem.ends_with(kSymbol)) stem.resize(stem.size() - kSymbol.size());
  return stem;
}

Result<std::shared_ptr<const SourceFile>> ReadSource(const std::string& path) {
  constexpr std::pair<const char*, const char*> kOthers[] = {
      {".onnx", "ONNX"}, {".prototxt", "Caffe's"}, {".caffemodel", "Caffe's"}};
  for (const auto& [ending, whose] : kOthers) {
    if (!path.ends_with(ending)) continue;
    return Error({},
                 "{}: {} files are not read yet; MXNet's symbol JSON and our "
                 "own JSON are",
                 path, whose);
  }
  const auto file = runtime::MappedFile::Open(path);
  if (!file.ok()) return Error({}, "{}", file.status().message());
  const auto bytes = file->bytes();
  auto source = std::make_shared<SourceFile>();
  source->path = path;
  source->text.assign(reinterpret_cast<const char*>(bytes.data()),
                      bytes.size());
  if (source->text.starts_with("\x7f"
                               "ELF")) {
    return Error(
        {},
        "{}: a compiled file, expected a network: MXNet's symbol JSON "
        "or our own JSON; 'mxc run' runs it, 'mxc inspect' tells what it holds",
        path);
  }
  if (source->text.substr(0, kLookedAt).find('\0') != std::string::npos) {
    return Error({},
                 "{}: a binary file, expected a network: MXNet's symbol JSON "
                 "or our own JSON; parameters go to --params",
                 path);
  }
  return std::shared_ptr<const SourceFile>(std::move(source));
}

Result<NetworkText> ParseNetwork(std::shared_ptr<const SourceFile> source) {
  MXC_ASSIGN(JsonDocument document, ParseJson(source));
  return NetworkText{std::move(source),
                     std::make_shared<const JsonDocument>(std::move(document))};
}

Result<Model> BuildModel(const NetworkText& network,
                         const LoadOptions& options) {
  Model model;
  model.source = network.source;
  model.stem = StemOfNetwork(model.source->path);
  MXC_ASSIGN(model.graph, GraphOf(*network.document, options, model));
  DeclareInputs(model.graph);
  MXC_RETURN_IF_ERROR(SetInputTypes(model.graph, options));
  if (options.require_supported) {
    MXC_RETURN_IF_ERROR(ExpandAndRequire(model.graph));
  }
  return model;
}

Result<Model> LoadText(std::shared_ptr<const SourceFile> source,
                       const LoadOptions& options) {
  MXC_ASSIGN(const NetworkText network, ParseNetwork(std::move(source)));
  return BuildModel(network, options);
}

Result<Model> Load(const std::string& path, const LoadOptions& options) {
  MXC_ASSIGN(auto source, ReadSource(path));
  MXC_ASSIGN(Model model, LoadText(std::move(source), options));
  MXC_RETURN_IF_ERROR(LoadParameters(model, options));
  return model;
}

}  // namespace mxc
