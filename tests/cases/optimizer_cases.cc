// SPDX-License-Identifier: Apache-2.0
// training: a folder with optimizers.jsonl, a line a case, and
// optimizers.tar.gz, which holds optimizers/problem.params (init:NAME and
// grad:STEP:NAME), optimizers/CASE.params (w:STEP:NAME after each step) and
// optimizers/CASE.state_arrays.params (state:NAME[.k] at the end).
#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "ir/optimizers/optimizer.h"
#include "passes/passes.h"
#include "runtime/train/scheduler.h"
#include "tests/cases/arrays.h"
#include "tests/cases/attribute_text.h"
#include "tests/cases/compare.h"
#include "tests/cases/stepper.h"
#include "tests/cases/training_cases.h"
#include "tests/support/archive.h"

namespace mxc {
namespace {

using Json = nlohmann::json;

constexpr int kOptimizerSteps = 10;
constexpr const char* kNames[] = {"fc_weight", "fc_bias", "bn_gamma"};

Tensor Converted(const Tensor& tensor, DType dtype) {
  std::byte* bytes = nullptr;
  Tensor copy = Tensor::Allocate({dtype, tensor.shape()}, &bytes);
  for (int64_t i = 0; i < tensor.shape().elements(); ++i) {
    StoreElement(bytes + i * SizeOf(dtype), dtype, tensor.At(i));
  }
  return copy;
}

class OptimizerCase {
 public:
  OptimizerCase(const Json& line, const Archive& archive,
                const EngineOptions& engine)
      : line_(line), archive_(archive), engine_(engine) {}

  Status Check() {
    MXC_ASSIGN(problem_, Tensors("problem"));
    MXC_ASSIGN(expected_, Tensors(line_["case"]));
    dtype_ = *DTypeFromMxnetName(line_.value("dtype", "float32"));
    const double half = dtype_ == DType::kF16 ? 2e-3 : 0;
    tolerance_ = {std::max(1e-5, half), std::max(1e-6, half)};
    ReadOptions();
    MXC_RETURN_IF_ERROR(MakeSchedule());
    MXC_ASSIGN(stepper_, MakeStepper());
    for (int step = 1; step <= kOptimizerSteps; ++step) {
      MXC_RETURN_IF_ERROR(CheckStep(step));
    }
    return CheckStates();
  }

 private:
  Result<NamedTensors> Tensors(const std::string& name) const {
    const auto found = archive_.find("optimizers/" + name + ".params");
    if (found == archive_.end()) return Error({}, "no {}.params", name);
    return ReadTensors(found->second);
  }

  bool Has(const std::string& name) const {
    return !line_.contains("only") || line_["only"] == name;
  }

  void ReadOptions() {
    training_.optimizer = line_["optimizer"];
    for (const auto& [key, value] : line_["kwargs"].items()) {
      // An operator's name for what an optimizer calls learning_rate.
      training_.optimizer_attrs.emplace_back(
          key == "lr" ? "learning_rate" : key, AttributeText(value));
    }
    training_.decay_by_name = line_.value("names_known", true);
    ReadMultipliers("lr_mult", training_.lr_mult);
    ReadMultipliers("wd_mult", training_.wd_mult);
  }

  // By name, or by the parameter's number.
  void ReadMultipliers(const char* key,
                       std::map<std::string, double>& multipliers) const {
    if (!line_.contains(key) || line_[key].is_null()) return;
    for (const auto& [name, value] : line_[key].items()) {
      const bool number = name.find_first_not_of("0123456789") == name.npos;
      multipliers[number ? kNames[std::stoi(name)] : name] = value;
    }
  }

  Status MakeSchedule() {
    const Optimizer* optimizer = FindOptimizer(training_.optimizer);
    if (optimizer == nullptr) return Error({}, "no such optimizer");
    std::vector<AttrError> errors;
    attrs_ = optimizer->parse(training_.optimizer_attrs, errors);
    if (!errors.empty()) return Error({}, "{}", errors[0].message);
    std::optional<double> rate;
    std::string text;
    const Json schedule = line_.value("scheduler", Json());
    if (!schedule.is_null()) {
      text = schedule[0];
      for (const auto& [key, value] : schedule[1].items()) {
        if (key != "base_lr") text += ":" + key + "=" + AttributeText(value);
      }
      if (schedule[1].contains("base_lr")) rate = schedule[1]["base_lr"];
    }
    const bool given = line_["kwargs"].contains("learning_rate");
    if (text.empty()) rate = optimizer->options(attrs_.get()).learning_rate;
    auto made = train::ParseSchedule(text, rate);
    if (!made.ok()) return Error({}, "{}", made.status().message());
    schedule_ = std::move(*made);
    if (!text.empty() && given) {
      schedule_->OverrideBase(line_["kwargs"]["learning_rate"]);
    }
    begin_ = optimizer->options(attrs_.get()).begin_num_update;
    return Done{};
  }

  Result<std::unique_ptr<Stepper>> MakeStepper() {
    Graph graph;
    graph.training = graph.stateful = true;
    for (const std::string name : kNames) {
      if (!Has(name)) continue;
      Node* weight = graph.AddVariable(name);
      weight->role = VariableRole::kParameter;
      weight->constant = Converted(problem_.at("init:" + name), dtype_);
      weight->types[0] = weight->constant.type();
      Node* gradient = graph.AddVariable("grad:" + name);
      gradient->types = weight->types;
      graph.updates.push_back({weight, gradient->out()});
    }
    PassContext context;
    context.training = &training_;
    MXC_ASSIGN(const bool changed, ApplyOptimizer(graph, context));
    MXC_CHECK(changed);
    return mxc::MakeStepper(std::move(graph), nullptr, engine_);
  }

  Status CheckStep(int step) {
    std::map<std::string, Tensor> inputs;
    inputs["learning_rate"] =
        Tensor::Filled({DType::kF64, Shape{1}}, schedule_->At(begin_ + step));
    for (const std::string name : kNames) {
      if (!Has(name)) continue;
      const std::string gradient = fmt::format("grad:{}:{}", step, name);
      inputs["grad:" + name] = Converted(problem_.at(gradient), dtype_);
    }
    MXC_ASSIGN(const std::vector<Tensor> outputs, stepper_->Step(inputs));
    for (const std::string name : kNames) {
      if (!Has(name)) continue;
      MXC_ASSIGN(const Tensor weight, stepper_->State(name));
      const Tensor& want = expected_.at(fmt::format("w:{}:{}", step, name));
      if (const auto error = Difference(weight, want, tolerance_)) {
        return Error({}, "step {}: {} {}", step, name, *error);
      }
    }
    return Done{};
  }

  // Against the arrays that MXNet saved, where it did.
  Status CheckStates() {
    const std::string file = std::string(line_["case"]) + ".state_arrays";
    if (!archive_.contains("optimizers/" + file + ".params")) return Done{};
    MXC_ASSIGN(const NamedTensors saved, Tensors(file));
    const Optimizer* optimizer = FindOptimizer(training_.optimizer);
    const std::string form = StateForm(*optimizer, attrs_.get(), dtype_);
    for (const std::string name : kNames) {
      std::vector<const Tensor*> arrays;  // in the order of their keys
      for (const auto& [key, tensor] : saved) {
        const std::string prefix = "state:" + name;
        if (key == prefix || key.starts_with(prefix + ".")) {
          arrays.push_back(&tensor);
        }
      }
      const std::vector<std::string> states = StateNames(form);
      if (arrays.size() != states.size()) {
        return Error({}, "{} states of '{}', expected {}", states.size(), name,
                     arrays.size());
      }
      for (size_t k = 0; k < states.size(); ++k) {
        MXC_ASSIGN(const Tensor state, stepper_->State(name + "/" + states[k]));
        if (const auto error = Difference(state, *arrays[k], tolerance_)) {
          return Error({}, "{}/{} {}", name, states[k], *error);
        }
      }
    }
    return Done{};
  }

  const Json& line_;
  const Archive& archive_;
  const EngineOptions& engine_;
  NamedTensors problem_, expected_;
  DType dtype_ = DType::kF32;
  Tolerance tolerance_;
  TrainingOptions training_;
  AttrsPtr attrs_;
  int64_t begin_ = 0;
  std::unique_ptr<train::Scheduler> schedule_;
  std::unique_ptr<Stepper> stepper_;
};

}  // namespace

Status CheckOptimizerCase(const Json& line, const Archive& archive,
                          const EngineOptions& engine) {
  return OptimizerCase(line, archive, engine).Check();
}

}  // namespace mxc
