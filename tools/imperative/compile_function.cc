// SPDX-License-Identifier: Apache-2.0
#include "tools/imperative/compile_function.h"

#include <charconv>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "codegen/cache/object_cache.h"
#include "codegen/codegen.h"
#include "codegen/llvm/text_key.h"
#include "ir/target/target.h"
#include "passes/passes.h"
#include "runtime/base/file.h"
#include "runtime/base/nameless_file.h"
#include "runtime/executor/model.h"
#include "tools/driver/cache_folder.h"

namespace mxc {
namespace {

namespace rt = runtime;

// The call's input that each of the model's is; nothing where it is the same, of
// as many.
std::optional<std::vector<size_t>> InputOrder(const rt::Model& model,
                                              size_t call_inputs) {
  const rt::Tables& tables = model.tables();
  const mxc_entry& entry = tables.entries()[0];
  std::vector<size_t> order;
  bool same = true;
  for (const uint32_t input : tables.Inputs(entry)) {
    const size_t number = FunctionGraph::InputNumber(
        tables.Text(tables.Buffers(entry)[input].name));
    same = same && number == order.size();
    order.push_back(number);
  }
  if (same && order.size() == call_inputs) return std::nullopt;
  return order;
}

// Inputs that are written where they lie.
std::vector<rt::CompiledOperator::InPlace> InputsInPlace(
    const rt::Model& model) {
  const rt::Tables& tables = model.tables();
  std::vector<rt::CompiledOperator::InPlace> in_place;
  for (size_t row = 0; row < tables.states().size(); ++row) {
    const char* const name = tables.Text(tables.states()[row].name);
    if (!FunctionGraph::IsInputName(name)) continue;
    in_place.push_back({row, FunctionGraph::InputNumber(name)});
  }
  return in_place;
}

std::unique_ptr<ObjectCache> CacheIn(const char* folder) {
  const std::filesystem::path around = CacheFolder();
  if (around.empty()) return nullptr;
  return std::make_unique<ObjectCache>(around / folder);
}

// Where the tools keep kernels, too: what any process compiled is found there.
ObjectCache* Objects() {
  static const std::unique_ptr<ObjectCache> cache = CacheIn("objects");
  return cache.get();
}
// Of whole functions, as artifacts.
ObjectCache* Artifacts() {
  static const std::unique_ptr<ObjectCache> cache = CacheIn("functions");
  return cache.get();
}

// Of all that decides what is compiled; empty: it cannot be known again.
std::string KeyOf(const Graph& graph, const std::string& name,
                  const Target& target) {
  const std::string text = Print(graph);
  std::vector<std::string_view> texts = {name, target.name, text};
  // The text has short constants alone.
  for (const auto& node : graph.nodes()) {
    if (node->kind != Node::Kind::kConstant) continue;
    texts.emplace_back(reinterpret_cast<const char*>(node->constant.bytes()),
                       static_cast<size_t>(node->constant.size_bytes()));
  }
  return KeyOfTexts(texts);
}

using ModelPtr = std::shared_ptr<const rt::Model>;

// Null where there is none.
ModelPtr Kept(const std::string& key, const std::string& name) {
  const auto found = Artifacts()->Find(key);
  if (!found) return nullptr;
  const auto model = rt::Model::OpenMemory(
      std::as_bytes(std::span(found->data(), found->size())), name, {});
  return model.ok() ? *model : nullptr;
}

void Keep(const std::string& key, const std::string& path) {
  constexpr size_t kMostBytes = 4 << 20;
  const auto file = rt::MappedFile::Open(path);
  if (!file.ok() || file->bytes().size() > kMostBytes) return;
  const auto* const bytes = reinterpret_cast<const char*>(file->bytes().data());
  Artifacts()->Keep(key, std::string(bytes, file->bytes().size()));
  Artifacts()->Trim();
}

Status Compile(Graph graph, const std::string& name, const Target& target,
               const std::string& path) {
  const auto catalog = MakeKernelCatalog(target);
  PassContext context;
  context.target = &target;
  context.catalog = catalog.get();
  MXC_ASSIGN(Program program, RunPipeline(std::move(graph), context, {}));
  program.name = name;
  const std::vector<Program> entries = {std::move(program)};
  CodegenOptions codegen;
  codegen.catalog = catalog.get();
  codegen.cache = Objects();
  MXC_RETURN_IF_ERROR(WriteArtifact(path, entries, target, codegen));
  return Done{};
}

Result<ModelPtr> ModelOf(Graph graph, const std::string& name) {
  MXC_ASSIGN(const Target target, ResolveTarget("native"));
  const std::string key =
      Artifacts() == nullptr ? "" : KeyOf(graph, name, target);
  if (!key.empty()) {
    if (ModelPtr kept = Kept(key, name)) return kept;
  }
  const auto file = rt::NamelessFile::CreateInMemory();
  if (!file.ok()) return Error({}, "{}", file.status().message());
  MXC_RETURN_IF_ERROR(Compile(std::move(graph), name, target, file->path()));
  auto model = rt::Model::Open(file->path(), {});
  if (!model.ok()) return Error({}, "{}", model.status().message());
  if (!key.empty()) Keep(key, file->path());
  return *model;
}

}  // namespace

Result<rt::CompiledOperator> CompileFunction(FunctionGraph function,
                                             const std::string& name,
                                             size_t inputs) {
  const size_t hidden = function.hidden();
  MXC_ASSIGN(ModelPtr model, ModelOf(std::move(function.graph), name));
  auto in_place = InputsInPlace(*model);
  auto order = InputOrder(*model, inputs);
  return rt::CompiledOperator{
      std::move(model), function.visible, std::move(function.updates),
      hidden,           std::move(order), std::move(in_place)};
}

}  // namespace mxc
