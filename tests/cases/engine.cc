// SPDX-License-Identifier: Apache-2.0
#include "tests/cases/engine.h"

#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "codegen/codegen.h"
#include "ir/program/interpreter.h"
#include "ir/target/target.h"
#include "passes/pass.h"
#include "runtime/mxc.h"
#include "tests/cases/other_machine.h"
#include "tests/support/levels.h"

namespace mxc {
namespace {

// An error of the C API.
Diagnostic Failure(const char* what, mxc_status* status) {
  Diagnostic error = Error({}, "{}: {}", what, mxc_status_message(status));
  mxc_status_release(status);
  return error;
}

// What a run has opened.
struct OpenArtifact {
  std::string path;
  mxc_model* model = nullptr;
  mxc_executor* executor = nullptr;

  ~OpenArtifact() {
    mxc_executor_close(executor);
    mxc_model_close(model);
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
};

Result<std::vector<Tensor>> RunArtifact(
    OpenArtifact& run, const Program& program,
    const std::map<std::string, Tensor>& inputs, int threads) {
  if (auto* s = mxc_model_open(run.path.c_str(), nullptr, &run.model)) {
    return Failure("open", s);
  }
  mxc_bind_options bind = MXC_BIND_OPTIONS;
  bind.threads = threads;
  if (auto* s = mxc_bind(run.model, &bind, &run.executor)) {
    return Failure("bind", s);
  }
  const std::vector<bool> read = ReadBuffers(program);
  for (const int input : program.BuffersOf(BufferKind::kInput)) {
    const std::string& name = program.buffers[input].name;
    const auto given = inputs.find(name);
    if (given == inputs.end() && !read[input]) continue;
    if (given == inputs.end()) return Error({}, "no value for '{}'", name);
    if (auto* s =
            mxc_set_input(run.executor, name.c_str(), given->second.bytes(),
                          given->second.size_bytes())) {
      return Failure("set input", s);
    }
  }
  if (auto* s = mxc_run(run.executor)) return Failure("run", s);
  std::vector<Tensor> outputs;
  size_t index = 0;
  for (const int output : program.BuffersOf(BufferKind::kOutput)) {
    std::byte* bytes = nullptr;
    outputs.push_back(Tensor::Allocate(program.buffers[output].type, &bytes));
    if (auto* s = mxc_read_output(run.executor, index++, bytes,
                                  outputs.back().size_bytes())) {
      return Failure("read output", s);
    }
  }
  return outputs;
}

Tensor FirstRows(const Tensor& tensor, int64_t rows) {
  TensorType type = tensor.type();
  type.shape[0] = rows;
  std::byte* bytes = nullptr;
  Tensor first = Tensor::Allocate(type, &bytes);
  std::memcpy(bytes, tensor.bytes(), static_cast<size_t>(type.bytes()));
  return first;
}

// The user's outputs: those whose length data decide as long as their counts,
// which stand behind them, say.
std::vector<Tensor> Counted(const Program& program,
                            const std::vector<Tensor>& outputs) {
  std::map<std::string, int64_t> counts;
  const std::vector<int> buffers = program.BuffersOf(BufferKind::kOutput);
  const auto is_count = [&](size_t i) {
    return program.buffers[buffers[i]].use.role == TensorRole::kCount;
  };
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!is_count(i)) continue;
    counts[program.buffers[buffers[i]].use.of] =
        static_cast<int64_t>(outputs[i].At(0));
  }
  std::vector<Tensor> counted;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (is_count(i)) continue;
    const auto rows = counts.find(program.buffers[buffers[i]].name);
    counted.push_back(rows == counts.end()
                          ? outputs[i]
                          : FirstRows(outputs[i], rows->second));
  }
  return counted;
}

Result<std::vector<Tensor>> RunCompiled(
    const Program& program, const Target& target,
    const std::map<std::string, Tensor>& inputs, const EngineOptions& options) {
  test::OtherMachine* const other = test::OtherMachine::Get();
  if (other != nullptr && !options.here) {
    MXC_ASSIGN(auto results, other->Run(program, target, inputs,
                                        options.threads, /*runs=*/1));
    return std::move(results.outputs[0]);
  }
  const std::span<const Program> entries(&program, 1);
  OpenArtifact run;
  run.path =
      fmt::format("{}/mxc-cases-{}.mxa",
                  std::filesystem::temp_directory_path().string(), getpid());
  MXC_RETURN_IF_ERROR(WriteArtifact(run.path, entries, target));
  return RunArtifact(run, program, inputs, options.threads);
}

}  // namespace

Result<std::vector<Tensor>> RunGraph(
    Graph graph, const std::map<std::string, Tensor>& inputs,
    const EngineOptions& options) {
  const bool compiled = options.engine == "compiled";
  MXC_ASSIGN(const Target target, compiled && !options.here
                                      ? test::RunnableTarget(options.target)
                                      : ResolveTarget(options.target));
  Target planned = target;
  if (options.cache_bytes > 0) {
    planned.machine.l2.bytes = planned.machine.l3.bytes = options.cache_bytes;
  }
  std::unique_ptr<KernelCatalog> catalog;
  if (compiled) catalog = MakeKernelCatalog(target, {.constant_weights = true});
  PassOptions passes;
  passes.level = options.level;
  passes.disabled = options.disabled;
  MXC_ASSIGN(const Program program,
             RunPipeline(std::move(graph), {&planned, catalog.get()}, passes));
  MXC_ASSIGN(const std::vector<Tensor> outputs,
             compiled ? RunCompiled(program, target, inputs, options)
                      : Interpret(program, inputs));
  return Counted(program, outputs);
}

}  // namespace mxc
