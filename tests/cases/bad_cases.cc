// SPDX-License-Identifier: Apache-2.0
// bad: a folder with index.jsonl and files.tar.gz: symbol and parameter files,
// most of them damaged, with what MXNet does. What it refuses (or dies of) must
// be refused with a sentence; what it accepts may be refused too, unless it is
// one of the old formats. Every file is read in a process of its own.
#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "frontend/frontend.h"
#include "runtime/formats/ndarray_list.h"
#include "tests/cases/case_report.h"
#include "tests/cases/cases.h"
#include "tests/cases/in_process.h"
#include "tests/support/archive.h"

namespace mxc {
namespace {

// Old formats and others that users have; they must load.
constexpr std::string_view kMustLoad[] = {
    "graph-entry-2",     "graph-param-key",
    "graph-old-lrmult",  "graph-control-deps",
    "graph-hidden-attr", "graph-no-version",
    "json-18",           "params-good",
    "params-names-none", "params-v1",
    "params-legacy",     "params-mixed",
    "params-trailing",   "params-empty-list"};

bool MustLoad(const std::string& file) {
  for (const std::string_view prefix : kMustLoad) {
    if (file.starts_with(prefix)) return true;
  }
  return false;
}

bool OnlyKnownKeys(const nlohmann::json& object,
                   const std::set<std::string>& known) {
  return std::ranges::all_of(object.items(), [&](const auto& item) {
    return known.contains(item.key());
  });
}

// What a symbol file has that MXNet's reader refuses and ours does not: all of
// it says clearly what is meant. Empty: nothing.
std::string SymbolLenience(const std::string& text) {
  if (text.starts_with("\xEF\xBB\xBF")) return "a byte order mark";
  if (text.find("\\u") != text.npos) return "an escaped character";
  const auto graph = nlohmann::json::parse(text, nullptr, false);
  if (!graph.is_object() || !graph.contains("nodes")) return "";
  if (!graph.contains("arg_nodes")) return "no arg_nodes";
  if (!OnlyKnownKeys(graph, {"nodes", "arg_nodes", "heads", "attrs", "attr",
                             "node_row_ptr"})) {
    return "a key of the graph that nobody reads";
  }
  const std::set<std::string> keys = {
      "op",       "name",  "inputs",       "attr",
      "attrs",    "param", "control_deps", "backward_source_id",
      "subgraphs"};
  const bool known =
      std::ranges::all_of(graph["nodes"], [&](const nlohmann::json& node) {
        return !node.is_object() || OnlyKnownKeys(node, keys);
      });
  return known ? "" : "a key of a node that nobody reads";
}

// Records of MXNet 2, which its predecessor refuses.
std::string ParamsLenience(const std::string& bytes) {
  const bool newer = bytes.find("\xCA\xFA\x93\xF9") != bytes.npos;
  return newer ? "records of version 3" : "";
}

std::string Lenience(const std::string& file, const std::string& bytes) {
  return file.ends_with(".params") ? ParamsLenience(bytes)
                                   : SymbolLenience(bytes);
}

std::string CheckParams(const std::string& bytes) {
  const auto list = runtime::ParseNdarrayList(std::as_bytes(std::span(bytes)));
  return list.ok() ? "" : list.status().message();
}

// Compiles as far as the engine needs, and runs once on inputs of 0.5.
std::string CheckSymbolFile(const std::string& name, std::string text,
                            const nlohmann::json& shapes,
                            const EngineOptions& engine) {
  LoadOptions load;
  load.read_parameters = false;
  for (const auto& [input, shape] : shapes.items()) {
    load.input_shapes[input] = shape.get<Extents>();
  }
  auto model = LoadText(
      std::make_shared<SourceFile>(SourceFile{name, std::move(text)}), load);
  if (!model.ok()) return Render(model.errors());
  const Status supported = RequireSupported(model->graph);
  if (!supported.ok()) return Render(supported.errors());
  const Status typed = InferTypes(model->graph, true);
  if (!typed.ok()) return Render(typed.errors());
  std::map<std::string, Tensor> inputs;
  for (const Node* node : model->graph.TopologicalOrder()) {
    if (node->kind != Node::Kind::kVariable) continue;
    if (!inputs.emplace(node->name, Tensor::Filled(node->types[0], 0.5))
             .second) {
      return fmt::format("two variables are called '{}'", node->name);
    }
  }
  const auto outputs = RunGraph(std::move(model->graph), inputs, engine);
  return outputs.ok() ? "" : Render(outputs.errors());
}

// What is wrong with our verdict, or nothing.
std::optional<std::string> Judge(const nlohmann::json& line,
                                 const std::string& bytes,
                                 const Verdict& verdict) {
  const std::string file = line["file"], result = line["result"];
  if (verdict.died) return verdict.message;
  const bool accepted = verdict.message.empty();
  if (result == "refused" && accepted && !Lenience(file, bytes).empty()) {
    return std::nullopt;
  }
  if (result != "accepted" && accepted) {
    return fmt::format("accepted; MXNet {} ({})", result,
                       line["what"].get<std::string>());
  }
  if (MustLoad(file) && !accepted) {
    return fmt::format("refused: {}", verdict.message);
  }
  return std::nullopt;
}

}  // namespace

int RunBadCases(const CaseOptions& options) {
  const auto archive = ReadArchive(options.folder + "/files.tar.gz");
  std::ifstream index(options.folder + "/index.jsonl");
  if (!archive || !index) {
    fmt::print("{} holds no files.tar.gz and index.jsonl\n", options.folder);
    return 2;
  }
  CaseReport report(options.verbose);
  for (std::string text; std::getline(index, text);) {
    const auto line = nlohmann::json::parse(text);
    const std::string file = line["file"];
    if (!file.starts_with(options.only)) continue;
    const auto bytes = archive->find("files/" + file);
    if (bytes == archive->end()) {
      report.Fail(file, "not in the archive");
      continue;
    }
    const Verdict verdict = InProcess([&] {
      return file.ends_with(".params")
                 ? CheckParams(bytes->second)
                 : CheckSymbolFile(file, bytes->second, line["shapes"],
                                   options.engine);
    });
    if (auto wrong = Judge(line, bytes->second, verdict)) {
      report.Fail(file, *wrong);
      continue;
    }
    report.Pass(file);
    if (options.verbose && !verdict.message.empty()) {
      fmt::print("      {}\n", verdict.message);
    }
  }
  return report.Finish();
}

}  // namespace mxc
