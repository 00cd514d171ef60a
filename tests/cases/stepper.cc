// SPDX-License-Identifier: Apache-2.0
#include "tests/cases/stepper.h"

#include "codegen/codegen.h"
#include "ir/program/interpreter.h"
#include "ir/target/target.h"

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

}  // namespace

Result<std::unique_ptr<Stepper>> MakeStepper(Graph graph,
                                             const TrainingOptions* training,
                                             const EngineOptions& options) {
  const bool compiled = options.engine == "compiled";
  MXC_ASSIGN(const Target target, ResolveTarget(options.target));
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
  return std::unique_ptr<Stepper>(
      std::make_unique<InterpretedStepper>(std::move(program)));
}

}  // namespace mxc
