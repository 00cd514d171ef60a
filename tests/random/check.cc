// SPDX-License-Identifier: Apache-2.0
#include "tests/random/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>

#include "frontend/frontend.h"
#include "ir/program/interpreter.h"
#include "ir/program/steps/contraction.h"
#include "passes/pass.h"
#include "runtime/mxc.h"
#include "tests/cases/other_machine.h"
#include "tests/support/levels.h"
#include "tools/driver/network.h"
#include "tools/verify/step_runner.h"
#include "tools/verify/verify_steps.h"

namespace mxc::random {
namespace {

namespace fs = std::filesystem;

// --- values

float DrawValue(std::mt19937& random, double low, double high) {
  return static_cast<float>(low + (high - low) * random() / 4294967296.0);
}

// Values that keep the size of what passes through, and none of them special.
Tensor DrawParameter(const Node& variable, std::mt19937& random) {
  const Shape& shape = variable.types[0].shape;
  const std::string& name = variable.name;
  double low = -0.5, high = 0.5;
  if (name.ends_with("_var") || name.ends_with("_gamma")) low = 0.5, high = 1.5;
  if (name.ends_with("_weight") && shape.rank() > 1) {
    const double terms = static_cast<double>(shape.elements() / shape[0]);
    high = std::sqrt(6 / terms), low = -high;
  }
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  for (float& value : values) value = DrawValue(random, low, high);
  return Tensor::FromFloats(shape, values);
}

Tensor DrawInput(const DrawnInput& input, std::mt19937& random) {
  const Shape shape(input.shape);
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  for (float& value : values) {
    value = input.classes > 0 ? static_cast<float>(random() % input.classes)
                              : DrawValue(random, -1, 1);
  }
  return Tensor::FromFloats(shape, values);
}

// --- a network in a folder

class Subject {
 public:
  Subject(uint32_t seed, const Way& way, const DrawnNetwork& network,
          const std::string& folder)
      : seed_(seed), way_(way), folder_(folder), network_(network) {}

  Status Write() {
    fs::create_directories(folder_);
    request_.model = folder_ + "/network-symbol.json";
    request_.params = folder_ + "/network-0000.params";
    std::ofstream(request_.model) << network_.text;
    std::ofstream notes(folder_ + "/notes.txt");
    notes << fmt::format("seed {}, layers {}\n{}\n", seed_, network_.layers,
                         ToString(way_));
    for (const DrawnInput& input : network_.inputs) {
      of_.shapes[input.name] = input.shape;
      notes << fmt::format("--input-shape {}:{} ", input.name,
                           fmt::join(input.shape, "x"));
    }
    notes << "\n";
    std::mt19937 random(seed_);
    MXC_ASSIGN(Model model,
               LoadModel(request_, of_, /*read_parameters=*/false));
    MXC_RETURN_IF_ERROR(InferTypes(model.graph, /*complete=*/true));
    for (const Node* variable : MissingParameters(model)) {
      model.parameters[variable->name] = DrawParameter(*variable, random);
    }
    for (const DrawnInput& input : network_.inputs) {
      inputs_[input.name] = DrawInput(input, random);
    }
    MXC_RETURN_IF_ERROR(WriteParameters(model, request_.params));
    MXC_ASSIGN(read_, LoadedNetwork::Read(request_));
    return Done{};
  }

  Result<Program> Compile(const Target& target, const KernelCatalog* catalog,
                          const PassOptions& passes,
                          std::optional<int64_t> budget = {}) const {
    TrainingOptions training;
    training.memory_budget = budget;
    training.optimizer = way_.optimizer;
    // Else steps are made of what is nothing but rounding.
    if (way_.optimizer == "adam") {
      training.optimizer_attrs = {{"epsilon", "0.1"}};
    }
    MXC_ASSIGN(Model model,
               read_->Specialize(of_, way_.trains ? ParameterUse::kStates
                                                  : ParameterUse::kConstants));
    model.graph.training = way_.trains;
    PassContext context;
    context.target = &target;
    context.catalog = catalog;
    // Compiled without a catalog it is what the others are compared with.
    if (catalog != nullptr) context.storage = way_.precision;
    if (way_.trains) context.training = &training;
    MXC_ASSIGN(Program program,
               RunPipeline(std::move(model.graph), context, passes));
    program.entry.purpose = way_.trains ? Purpose::kTrain : Purpose::kInfer;
    return program;
  }

  // Those that the program has, its own among them (the learning rate).
  Inputs InputsOf(const Program& program) const {
    Inputs inputs;
    for (const int b : program.BuffersOf(BufferKind::kInput)) {
      const Buffer& buffer = program.buffers[b];
      const auto found = inputs_.find(buffer.name);
      inputs[buffer.name] = found != inputs_.end()
                                ? found->second
                                : Tensor::Filled(buffer.type, 0.125);
    }
    return inputs;
  }

  const Way& way() const { return way_; }
  std::string File(const char* name) const { return folder_ + "/" + name; }

 private:
  const uint32_t seed_;
  const Way& way_;
  const std::string folder_;
  const DrawnNetwork network_;
  NetworkRequest request_;
  Specialization of_;
  std::shared_ptr<LoadedNetwork> read_;
  Inputs inputs_;
};

// --- runs of the artifact

Status Checked(const char* what, mxc_status* status) {
  if (status == nullptr) return Done{};
  Diagnostic error = Error({}, "{}: {}", what, mxc_status_message(status));
  mxc_status_release(status);
  return error;
}

class Executor {
 public:
  ~Executor() {
    mxc_executor_close(executor_);
    mxc_model_close(model_);
  }
  Status Open(const std::string& artifact, int threads) {
    MXC_RETURN_IF_ERROR(
        Checked("open", mxc_model_open(artifact.c_str(), nullptr, &model_)));
    mxc_bind_options bind = MXC_BIND_OPTIONS;
    bind.threads = threads;
    return Checked("bind", mxc_bind(model_, &bind, &executor_));
  }
  Status Run(const Inputs& inputs) {
    for (const auto& [name, value] : inputs) {
      MXC_RETURN_IF_ERROR(Checked(
          "set input", mxc_set_input(executor_, name.c_str(), value.bytes(),
                                     value.size_bytes())));
    }
    return Checked("run", mxc_run(executor_));
  }
  Result<std::vector<Tensor>> Outputs(const Program& program) {
    std::vector<Tensor> outputs;
    for (const int b : program.BuffersOf(BufferKind::kOutput)) {
      std::byte* bytes = nullptr;
      const size_t index = outputs.size();
      outputs.push_back(Tensor::Allocate(program.buffers[b].type, &bytes));
      MXC_RETURN_IF_ERROR(
          Checked("output", mxc_read_output(executor_, index, bytes,
                                            outputs.back().size_bytes())));
    }
    return outputs;
  }
  Result<std::vector<Tensor>> States(const Program& program) {
    std::vector<Tensor> states;
    for (const int b : program.BuffersOf(BufferKind::kState)) {
      const Buffer& buffer = program.buffers[b];
      std::byte* bytes = nullptr;
      states.push_back(Tensor::Allocate(buffer.type, &bytes));
      MXC_RETURN_IF_ERROR(
          Checked("state", mxc_read_state(executor_, buffer.name.c_str(), bytes,
                                          states.back().size_bytes())));
    }
    return states;
  }

 private:
  mxc_model* model_ = nullptr;
  mxc_executor* executor_ = nullptr;
};

Status RequireEqual(const std::vector<Tensor>& found,
                    const std::vector<Tensor>& expected,
                    const std::string& what) {
  if (found.size() != expected.size()) {
    return Error({}, "{}: {} instead of {}", what, found.size(),
                 expected.size());
  }
  for (size_t i = 0; i < found.size(); ++i) {
    if (std::memcmp(found[i].bytes(), expected[i].bytes(),
                    found[i].size_bytes()) != 0) {
      return Error({}, "{}: number {} is other bytes", what, i);
    }
  }
  return Done{};
}

// Without training: a run between two on the same inputs, on other numbers,
// leaves nothing behind. With: two steps.
Status CheckThreads(const Subject& subject, const Program& program,
                    const Inputs& inputs, const std::vector<Tensor>& outputs) {
  std::vector<Tensor> last, states;
  for (const int threads : {1, 2, 3}) {
    Executor executor;
    MXC_RETURN_IF_ERROR(executor.Open(subject.File("network.mxa"), threads));
    MXC_RETURN_IF_ERROR(executor.Run(inputs));
    MXC_ASSIGN(const auto first, executor.Outputs(program));
    MXC_RETURN_IF_ERROR(RequireEqual(
        first, outputs, fmt::format("outputs by {} threads", threads)));
    MXC_RETURN_IF_ERROR(executor.Run(inputs));
    MXC_ASSIGN(const auto second, executor.Outputs(program));
    if (!subject.way().trains) {
      MXC_RETURN_IF_ERROR(
          RequireEqual(second, outputs, "outputs of the second run"));
    }
    MXC_ASSIGN(const auto next, executor.States(program));
    if (threads == 1) last = second, states = next;
    MXC_RETURN_IF_ERROR(RequireEqual(
        second, last, fmt::format("outputs of run 2 by {} threads", threads)));
    MXC_RETURN_IF_ERROR(RequireEqual(
        next, states, fmt::format("states by {} threads", threads)));
  }
  return Done{};
}

// --- numbers

// Of all elements: maxima and kinks may make single ones jump.
double RelativeDistance(const Tensor& found, const Tensor& expected) {
  double difference = 0, size = 0;
  for (int64_t i = 0; i < expected.shape().elements(); ++i) {
    const double f = found.At(i), e = expected.At(i);
    if (std::isnan(f) && std::isnan(e)) continue;
    if (f == e) continue;  // infinities, too
    difference += (f - e) * (f - e);
    if (std::isfinite(e)) size += e * e;
  }
  if (difference == 0) return 0;
  for (int64_t i = 0; i < expected.shape().elements(); ++i) {
    if (found.At(i) == expected.At(i)) size += expected.At(i) * expected.At(i);
  }
  return std::sqrt(difference / std::max(size, 1e-12));
}

// Of outputs whose network is kept in 16 bits, and whose steps have been checked
// one by one.
constexpr double kNarrowDistance = 0.5, kNarrowRounding = 0.1;

Status CheckOutputs(const Subject& subject, const Program& program,
                    const std::vector<Tensor>& found,
                    const std::vector<double>& bounds) {
  PassOptions required;
  required.level = 0;
  MXC_ASSIGN(const Target target, ResolveTarget("x86-64-v3"));
  MXC_ASSIGN(const Program plain, subject.Compile(target, nullptr, required));
  MXC_ASSIGN(const std::vector<Tensor> expected,
             Interpret(plain, subject.InputsOf(plain)));
  const std::vector<int> outputs = program.BuffersOf(BufferKind::kOutput);
  for (size_t i = 0; i < found.size(); ++i) {
    Tolerance small;  // sums that cancel are nothing but rounding
    const bool narrow = subject.way().precision != DType::kF32;
    small.absolute = narrow ? kNarrowRounding : 1e-4;
    const Difference worst = Compare(found[i], expected[i], small);
    const double distance = RelativeDistance(found[i], expected[i]);
    const double limit =
        narrow ? kNarrowDistance : 2e-4 + (bounds[i] > 0 ? 1e-2 : 0);
    if (worst.worst < 0 || distance < limit) continue;
    return Error(
        {}, "output '{}' is off by {:.1e}, bound {:.1e}; at {} {}, expected {}",
        program.buffers[outputs[i]].name, distance, bounds[i], worst.worst,
        worst.found, worst.expected);
  }
  return Done{};
}

// The weights transformed when the artifact is opened.
Status CheckAtLoad(const Subject& subject, const Program& program,
                   const Target& target, const Inputs& inputs,
                   const std::vector<Tensor>& outputs) {
  std::vector<Program> entries = {program};
  auto preparation = MakePreparation(entries);
  if (!preparation) return Done{};
  entries.push_back(std::move(*preparation));
  const std::string artifact = subject.File("at-load.mxa");
  MXC_RETURN_IF_ERROR(WriteArtifact(artifact, entries, target));
  Executor executor;
  MXC_RETURN_IF_ERROR(executor.Open(artifact, 2));
  MXC_RETURN_IF_ERROR(executor.Run(inputs));
  MXC_ASSIGN(const auto found, executor.Outputs(program));
  for (size_t i = 0; i < found.size(); ++i) {
    const double distance = RelativeDistance(found[i], outputs[i]);
    if (distance < 1e-3) continue;
    return Error({}, "transformed at load, output {} is off by {:.1e}", i,
                 distance);
  }
  return Done{};
}

// Three quarters of the memory, if that can be.
Status CheckBudget(const Subject& subject, const Program& program,
                   const Target& target, const KernelCatalog& catalog,
                   const PassOptions& passes, const Inputs& inputs,
                   const std::vector<Tensor>& outputs) {
  const Result<Program> smaller =
      subject.Compile(target, &catalog, passes, program.arena_bytes() / 4 * 3);
  if (!smaller.ok()) return Done{};
  const std::span<const Program> entries(&*smaller, 1);
  const std::string artifact = subject.File("smaller.mxa");
  MXC_RETURN_IF_ERROR(WriteArtifact(artifact, entries, target));
  Executor executor;
  MXC_RETURN_IF_ERROR(executor.Open(artifact, 2));
  MXC_RETURN_IF_ERROR(executor.Run(inputs));
  MXC_ASSIGN(const auto found, executor.Outputs(*smaller));
  return RequireEqual(found, outputs, "outputs within a budget");
}

// By another processor: twice, with one thread and with several.
Status CheckOn(test::OtherMachine& other, const Subject& subject,
               const Program& program, const Target& target) {
  const Inputs inputs = subject.InputsOf(program);
  MXC_ASSIGN(const auto alone, other.Run(program, target, inputs,
                                         /*threads=*/1, /*runs=*/2));
  MXC_ASSIGN(const auto together, other.Run(program, target, inputs,
                                            /*threads=*/3, /*runs=*/2));
  for (const size_t run : {0, 1}) {
    MXC_RETURN_IF_ERROR(RequireEqual(together.outputs[run], alone.outputs[run],
                                     fmt::format("outputs of run {}", run)));
  }
  MXC_RETURN_IF_ERROR(RequireEqual(together.states, alone.states, "states"));
  const bool transforms =
      std::ranges::any_of(program.steps, [](const Step& step) {
        const ContractionStep* contraction = step.contraction();
        return contraction != nullptr &&
               contraction->choice.algorithm.starts_with("winograd");
      });
  const std::vector<double> bounds(alone.outputs[0].size(), transforms);
  return CheckOutputs(subject, program, alone.outputs[0], bounds);
}

CatalogOptions KernelsOf(const Way& way) {
  return {.constant_weights = !way.trains,
          .options = {{"winograd", std::to_string(way.winograd_tile)},
                      {"strassen", way.strassen ? "on" : "off"}}};
}

Status CheckAll(Subject& subject) {
  MXC_RETURN_IF_ERROR(subject.Write());
  const Way& way = subject.way();
  MXC_ASSIGN(const Target target, ResolveTarget(way.target));
  Target planned = target;
  if (way.cache_bytes > 0) {
    planned.machine.l2.bytes = planned.machine.l3.bytes = way.cache_bytes;
  }
  const auto catalog = MakeKernelCatalog(target, KernelsOf(way));
  PassOptions passes;
  passes.level = way.level;
  passes.disabled = way.disabled;
  passes.check_changed = true;
  MXC_ASSIGN(const Program program,
             subject.Compile(planned, catalog.get(), passes));
  if (auto* const other = test::OtherMachine::Get()) {
    const Status found = CheckOn(*other, subject, program, target);
    if (found.ok() || !other->LeavesOut()) return found;
    fmt::print("left out: a network that ends the other processor's program\n");
    return Done{};
  }
  const std::span<const Program> entries(&program, 1);
  const std::string artifact = subject.File("network.mxa");
  MXC_RETURN_IF_ERROR(WriteArtifact(artifact, entries, target));
  MXC_ASSIGN(StepRunner runner, StepRunner::Open(artifact, 0, program));
  const Inputs inputs = subject.InputsOf(program);
  Tolerance tolerance;
  tolerance.relative = 3e-4;
  RightSteps right;
  MXC_ASSIGN(const std::vector<StepResult> steps,
             RunSteps(program, inputs, runner, tolerance,
                      subject.File("wrong-step"), right));
  std::vector<Tensor> outputs;
  for (const int b : program.BuffersOf(BufferKind::kOutput)) {
    outputs.push_back(runner.Read(b));
  }
  MXC_RETURN_IF_ERROR(CheckThreads(subject, program, inputs, outputs));
  if (way.at_load) {
    MXC_RETURN_IF_ERROR(CheckAtLoad(subject, program, target, inputs, outputs));
  }
  if (way.budget) {
    MXC_RETURN_IF_ERROR(CheckBudget(subject, program, target, *catalog, passes,
                                    inputs, outputs));
  }
  std::vector<double> bounds(outputs.size());
  for (const StepResult& step : steps) {
    if (!step.bounds.empty()) bounds.assign(outputs.size(), 1);
  }
  return CheckOutputs(subject, program, outputs, bounds);
}

}  // namespace

Way DrawWay(uint32_t seed) {
  std::mt19937 random(seed ^ 0x9e3779b9u);
  const auto pick = [&](int n) { return static_cast<int>(random() % n); };
  Way way;
  way.trains = pick(3) == 0;
  if (way.trains) {
    way.winograd_tile = 4;
    constexpr const char* kOptimizers[] = {"", "", "sgd", "adam"};
    way.optimizer = kOptimizers[pick(4)];
  }
  const int target = pick(10);
  way.target = test::RunnableTarget(target == 0  ? "x86-64-v2"
                                    : target < 6 ? "x86-64-v4"
                                                 : "x86-64-v3")
                   ->name;
  way.level = pick(8) == 0 ? 1 : 2;
  constexpr int kTiles[] = {0, 2, 4, 6, 6};
  if (pick(2) == 0) way.winograd_tile = kTiles[pick(5)];
  way.strassen = pick(4) == 0;
  constexpr int64_t kCaches[] = {1 << 10, 1 << 12, 1 << 14, 1 << 16};
  if (pick(2) == 0) way.cache_bytes = kCaches[pick(4)];
  if (pick(4) == 0) {
    for (const PassDescription& pass : AllPasses()) {
      if (!pass.required && pick(5) == 0) {
        way.disabled.insert(std::string(pass.name));
      }
    }
  }
  way.at_load = !way.trains && pick(4) == 0;
  way.budget = way.trains && pick(2) == 0;
  // To train in f16 takes a scale of the loss, which tests/train has.
  if (pick(4) == 0) {
    const bool half = !way.trains && pick(2) == 0;
    way.precision = half ? DType::kF16 : DType::kBF16;
  }
  return way;
}

Way DrawWay(uint32_t seed, const std::string& device) {
  Way way = DrawWay(seed);
  if (device.empty()) return way;
  way.target = device;
  way.at_load = false;
  way.cache_bytes = 0;
  return way;
}

std::string ToString(const Way& way) {
  std::string text =
      fmt::format("--target {} -O{} --winograd {} --strassen {}", way.target,
                  way.level, way.winograd_tile, way.strassen ? "on" : "off");
  if (way.trains) {
    text += fmt::format(" --entry train --optimizer '{}'", way.optimizer);
  }
  if (way.precision == DType::kBF16) text += " --precision bf16";
  if (way.precision == DType::kF16) text += " --precision f16";
  for (const std::string& pass : way.disabled) {
    text += " --disable-pass " + pass;
  }
  if (way.budget) text += " (with a memory budget, too)";
  if (way.at_load) text += " --transformed-weights load";
  if (way.cache_bytes > 0) {
    text += fmt::format(" (caches of {} bytes)", way.cache_bytes);
  }
  return text;
}

std::string Check(uint32_t seed, const Way& way, const DrawnNetwork& network,
                  const std::string& folder) {
  Subject subject(seed, way, network, folder);
  const Status status = CheckAll(subject);
  return status.ok() ? "" : Render(status.errors());
}

}  // namespace mxc::random
