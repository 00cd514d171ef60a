// SPDX-License-Identifier: Apache-2.0
#include "tests/cases/stepper.h"

#include <unistd.h>

#include <filesystem>

#include "codegen/codegen.h"
#include "ir/program/interpreter.h"
#include "ir/target/target.h"
#include "runtime/mxc.h"
#include "tests/support/levels.h"

namespace mxc {
namespace {

class InterpretedStepper : public Stepper {
 public:
  explicit InterpretedStepper(Program program) : program_(std::move(program)) {
    for (const int b : program_.BuffersOf(BufferKind::kState)) {
      const Buffer& buffer = program_.buffers[b];
      states_[buffer.name] = buffer.constant.empty()
                                 ? Tensor::Filled(buffer.type, 0)
                                 : buffer.constant;
    }
  }

  Result<std::vector<Tensor>> Step(
      const std::map<std::string, Tensor>& inputs) override {
    std::map<std::string, Tensor> all = states_, next;
    for (const auto& [name, value] : inputs) all[name] = value;
    InterpreterOptions options;
    options.next_states = &next;
    MXC_ASSIGN(std::vector<Tensor> outputs, Interpret(program_, all, options));
    for (auto& [name, value] : next) states_[name] = value;
    return outputs;
  }

  Result<Tensor> State(const std::string& name) override {
    const auto found = states_.find(name);
    if (found == states_.end()) return Error({}, "no state '{}'", name);
    return found->second;
  }

 private:
  const Program program_;
  std::map<std::string, Tensor> states_;
};

// An error of the C API.
Status Checked(const char* what, mxc_status* status) {
  if (status == nullptr) return Done{};
  Diagnostic error = Error({}, "{}: {}", what, mxc_status_message(status));
  mxc_status_release(status);
  return error;
}

class CompiledStepper : public Stepper {
 public:
  explicit CompiledStepper(Program program) : program_(std::move(program)) {}
  ~CompiledStepper() override {
    mxc_executor_close(executor_);
    mxc_model_close(model_);
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  Status Open(const Target& target, int threads) {
    const std::span<const Program> entries(&program_, 1);
    path_ =
        fmt::format("{}/mxc-cases-{}.mxa",
                    std::filesystem::temp_directory_path().string(), getpid());
    MXC_RETURN_IF_ERROR(WriteArtifact(path_, entries, target));
    MXC_RETURN_IF_ERROR(
        Checked("open", mxc_model_open(path_.c_str(), nullptr, &model_)));
    mxc_bind_options bind = MXC_BIND_OPTIONS;
    bind.threads = threads;
    return Checked("bind", mxc_bind(model_, &bind, &executor_));
  }

  Result<std::vector<Tensor>> Step(
      const std::map<std::string, Tensor>& inputs) override {
    for (const int input : program_.BuffersOf(BufferKind::kInput)) {
      const std::string& name = program_.buffers[input].name;
      const auto given = inputs.find(name);
      if (given == inputs.end()) return Error({}, "no value for '{}'", name);
      const Tensor& value = given->second;
      MXC_RETURN_IF_ERROR(Checked(
          "set input", mxc_set_input(executor_, name.c_str(), value.bytes(),
                                     value.size_bytes())));
    }
    MXC_RETURN_IF_ERROR(Checked("run", mxc_run(executor_)));
    std::vector<Tensor> outputs;
    for (const int output : program_.BuffersOf(BufferKind::kOutput)) {
      const size_t index = outputs.size();
      std::byte* bytes = nullptr;
      outputs.push_back(
          Tensor::Allocate(program_.buffers[output].type, &bytes));
      MXC_RETURN_IF_ERROR(
          Checked("read output", mxc_read_output(executor_, index, bytes,
                                                 outputs.back().size_bytes())));
    }
    return outputs;
  }

  Result<Tensor> State(const std::string& name) override {
    for (const int state : program_.BuffersOf(BufferKind::kState)) {
      const Buffer& buffer = program_.buffers[state];
      if (buffer.name != name) continue;
      std::byte* bytes = nullptr;
      Tensor value = Tensor::Allocate(buffer.type, &bytes);
      MXC_RETURN_IF_ERROR(Checked(
          "read state",
          mxc_read_state(executor_, name.c_str(), bytes, value.size_bytes())));
      return value;
    }
    return Error({}, "no state '{}'", name);
  }

 private:
  const Program program_;
  std::string path_;
  mxc_model* model_ = nullptr;
  mxc_executor* executor_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<Stepper>> MakeStepper(Graph graph,
                                             const TrainingOptions* training,
                                             const EngineOptions& options) {
  const bool compiled = options.engine == "compiled";
  MXC_ASSIGN(const Target target, compiled
                                      ? test::RunnableTarget(options.target)
                                      : ResolveTarget(options.target));
  std::unique_ptr<KernelCatalog> catalog;
  if (compiled) catalog = MakeKernelCatalog(target);
  PassContext context;
  context.target = &target;
  context.catalog = catalog.get();
  context.training = training;
  PassOptions passes;
  passes.level = options.level;
  passes.disabled = options.disabled;
  MXC_ASSIGN(Program program, RunPipeline(std::move(graph), context, passes));
  if (!compiled) {
    return std::unique_ptr<Stepper>(
        std::make_unique<InterpretedStepper>(std::move(program)));
  }
  auto stepper = std::make_unique<CompiledStepper>(std::move(program));
  MXC_RETURN_IF_ERROR(stepper->Open(target, options.threads));
  return std::unique_ptr<Stepper>(std::move(stepper));
}

}  // namespace mxc
