// SPDX-License-Identifier: Apache-2.0
#include "tools/imperative/function_graph.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

#include "codegen/cache/object_cache.h"
#include "codegen/codegen.h"
#include "ir/graph/copy.h"
#include "ir/target/target.h"
#include "passes/passes.h"
#include "runtime/executor/model.h"
#include "tools/driver/cache_folder.h"
#include "tools/driver/temporary_file.h"
#include "tools/imperative/pullback.h"

namespace mxc {
namespace {

namespace rt = runtime;

constexpr std::string_view kInputPrefix = "in";

// The call's input that each of the model's is; empty where it is the same.
std::vector<size_t> InputOrder(const rt::Model& model) {
  const rt::Tables& tables = model.tables();
  const mxc_entry& entry = tables.entries()[0];
  std::vector<size_t> order;
  bool same = true;
  for (const uint32_t input : tables.Inputs(entry)) {
    const std::string_view name =
        tables.Text(tables.Buffers(entry)[input].name);
    size_t number = 0;
    std::from_chars(name.data() + kInputPrefix.size(),
                    name.data() + name.size(), number);
    same = same && number == order.size();
    order.push_back(number);
  }
  return same ? std::vector<size_t>() : order;
}

// A state that an operator of networks leaves as it is, as BatchNorm does where
// it does not train, is not written.
Result<FunctionGraph> WithoutIdleUpdates(FunctionGraph function) {
  if (function.updates.empty()) return function;
  Graph simpler = CopyOf(function.graph);
  PassContext context;
  MXC_RETURN_IF_ERROR(RemoveIdentities(simpler, context));
  for (size_t u = function.updates.size(); u-- > 0;) {
    const size_t output = function.visible + u;
    const Node& next = *simpler.outputs[output].node;
    const bool idle =
        next.kind == Node::Kind::kVariable &&
        next.name == FunctionGraph::InputName(function.updates[u]);
    if (!idle) continue;
    const auto at = static_cast<std::ptrdiff_t>(output);
    function.updates.erase(function.updates.begin() +
                           static_cast<std::ptrdiff_t>(u));
    function.graph.outputs.erase(function.graph.outputs.begin() + at);
    function.graph.output_names.erase(function.graph.output_names.begin() + at);
  }
  return function;
}

// Where the tools keep kernels, too: what any process compiled is found there.
ObjectCache* Objects() {
  static const auto cache = []() -> std::unique_ptr<ObjectCache> {
    const std::filesystem::path folder = CacheFolder();
    if (folder.empty()) return nullptr;
    return std::make_unique<ObjectCache>(folder / "objects");
  }();
  return cache.get();
}

Result<rt::CompiledOperator> CompileFunction(FunctionGraph function,
                                             const std::string& name) {
  const size_t hidden = function.hidden();
  MXC_ASSIGN(const Target target, ResolveTarget("native"));
  const auto catalog = MakeKernelCatalog(target);
  PassContext context;
  context.target = &target;
  context.catalog = catalog.get();
  MXC_ASSIGN(Program program,
             RunPipeline(std::move(function.graph), context, {}));
  program.name = name;
  const std::vector<Program> entries = {std::move(program)};
  CodegenOptions codegen;
  codegen.catalog = catalog.get();
  codegen.cache = Objects();
  MXC_ASSIGN(const rt::NamelessFile file, MakeTemporaryFile());
  MXC_RETURN_IF_ERROR(WriteArtifact(file.path(), entries, target, codegen));
  auto model = rt::Model::Open(file.path(), {});
  if (!model.ok()) return Error({}, "{}", model.status().message());
  return rt::CompiledOperator{*model, function.visible,
                              std::move(function.updates), hidden,
                              InputOrder(**model)};
}

}  // namespace

std::string SentenceOf(const Diagnostics& errors) {
  std::string sentence;
  for (const Diagnostic& error : errors) {
    sentence += (sentence.empty() ? "" : "; ") + error.message;
  }
  return sentence;
}

TensorType TensorTypeOf(const rt::ArrayType& type) {
  return {static_cast<DType>(type.dtype),
          Shape(Extents(type.extents().begin(), type.extents().end()))};
}

rt::ArrayType ArrayTypeOf(const TensorType& type) {
  rt::ArrayType array;
  array.dtype = static_cast<uint8_t>(type.dtype);
  array.rank = static_cast<uint8_t>(type.shape.rank());
  std::ranges::copy(type.shape.dims(), array.dims.begin());
  return array;
}

std::string FunctionGraph::InputName(size_t number) {
  return fmt::format("{}{}", kInputPrefix, number);
}

Node* FunctionGraph::AddInput(Graph& graph, size_t number,
                              const TensorType& type) {
  Node* const variable = graph.AddVariable(InputName(number));
  variable->types[0] = type;
  variable->declared = true;
  return variable;
}

void FunctionGraph::Add(Value value) {
  graph.output_names.push_back(fmt::format("out{}", graph.outputs.size()));
  graph.outputs.push_back(value);
}

std::vector<Value> FunctionGraph::RecordedOutputs() const {
  std::vector<Value> outputs = graph.outputs;
  const auto begin = outputs.begin() + static_cast<std::ptrdiff_t>(visible);
  outputs.erase(begin, begin + static_cast<std::ptrdiff_t>(updates.size()));
  return outputs;
}

std::vector<Node*> FunctionGraph::Inputs(size_t count) const {
  std::vector<Node*> inputs;
  for (size_t i = 0; i < count; ++i) {
    inputs.push_back(graph.FindVariable(InputName(i)));
  }
  return inputs;
}

rt::StatusOr<rt::CompiledOperator> FunctionCompiler::Compile(
    std::span<const rt::ArrayType> inputs, bool training,
    const rt::GradientSource* recorded) const {
  const auto compile = [&]() -> Result<rt::CompiledOperator> {
    FunctionGraph function;
    if (recorded != nullptr) {
      function = CopyOf(FunctionOf(*recorded));
    } else {
      MXC_ASSIGN(function, Build(inputs, training));
      MXC_ASSIGN(function, WithoutIdleUpdates(std::move(function)));
    }
    return CompileFunction(std::move(function), name_);
  };
  return InStatus(compile());
}

rt::StatusOr<rt::RecordedForm> FunctionCompiler::Record(
    std::span<const rt::ArrayType> inputs, bool training) const {
  const auto record = [&]() -> Result<rt::RecordedForm> {
    MXC_ASSIGN(FunctionGraph function, Build(inputs, training));
    MXC_ASSIGN(function, WithoutIdleUpdates(std::move(function)));
    return FormOf(std::move(function), inputs.size());
  };
  return InStatus(record());
}

}  // namespace mxc
