// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/manifest.h"

#include <fmt/format.h>

#include <map>
#include <span>

#include "ir/optimizers/optimizer.h"
#include "ir/program/memory.h"
#include "runtime/base/checksum.h"
#include "runtime/data/label_names.h"
#include "tools/driver/kernel_name.h"
#include "tools/driver/precision.h"

namespace mxc {
namespace {

// "Activation 49, Convolution 53": how often each operator occurs.
std::string CountOperators(const Plan& plan) {
  std::map<std::string, int> counts;
  for (const auto& row : plan.operators) ++counts[row.op];
  std::string text;
  for (const auto& [op, count] : counts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", op, count);
  }
  return text;
}

// The optimizer as it was given: "sgd momentum=0.9 wd=0.0001".
std::string DescribeOptimizer(const TrainingOptions& training) {
  std::string text = training.optimizer;
  for (const auto& [name, value] : training.optimizer_attrs) {
    text += fmt::format(" {}={}", name, value);
  }
  return text;
}

// The state of a parameter, which is f32, and the rate where nobody says
// otherwise; the pipeline has seen that the options are right.
void AddOptimizer(const TrainingOptions& training, Manifest& manifest) {
  manifest.emplace_back("optimizer", DescribeOptimizer(training));
  const Optimizer* optimizer = FindOptimizer(training.optimizer);
  if (optimizer == nullptr) return;
  std::vector<AttrError> mistakes;
  const AttrsPtr attrs = optimizer->parse(training.optimizer_attrs, mistakes);
  manifest.emplace_back("optimizer_state",
                        StateForm(*optimizer, attrs.get(), DType::kF32));
  if (KeepsCopy(optimizer->options(attrs.get()), DType::kF16)) {
    manifest.emplace_back("copied_state",
                          StateForm(*optimizer, attrs.get(), DType::kF16));
  }
  manifest.emplace_back(
      "learning_rate",
      fmt::format("{}", optimizer->options(attrs.get()).learning_rate));
}

void AddWeights(const WeightStorage& weights, Manifest& manifest) {
  if (weights.kind == WeightKind::kF32) return;
  manifest.emplace_back("weights", WeightsName(weights));
  for (const std::string& pattern : weights.kept) {
    manifest.emplace_back("kept_weight", pattern);
  }
}

void AddKeptLayers(const std::set<std::string>& layers, Manifest& manifest) {
  for (const std::string& pattern : layers) {
    manifest.emplace_back("kept_layer", pattern);
  }
}

// "0 2 …": the stage, how many there are, and a hash of how they are cut.
std::string DescribeStage(const TrainingOptions& training) {
  std::string cut = fmt::format("{} micro-batches", training.micro_batches);
  for (const auto& [name, stage] : training.stage_of) {
    cut += fmt::format("\n{} {}", name, stage);
  }
  const auto hash = runtime::Checksum(std::as_bytes(std::span(cut)));
  return fmt::format("{} {} {:016x}", training.stage, training.stages, hash);
}

// What scoring needs, by any entry.
void AddLabels(const Plan& plan, Manifest& manifest) {
  for (const ClassLabels& labels : plan.class_labels) {
    manifest.emplace_back(
        "classes", fmt::format("{} {} {}", labels.classes,
                               labels.ignored.empty() ? "none" : labels.ignored,
                               labels.input));
  }
  for (const train::Head& head : plan.heads) {
    manifest.emplace_back("head", train::HeadText(head));
  }
}

// What the trainer needs: runtime/artifact/manifest.h.
void AddTraining(const CompileRequest& request, const Plan& plan,
                 Manifest& manifest) {
  for (const auto& [output, input] : plan.carries) {
    manifest.emplace_back("carry", output + " " + input);
  }
  if (!plan.preprocessing.empty()) {
    manifest.emplace_back("preprocess", plan.preprocessing);
  }
  if (!plan.label_names.empty()) {
    manifest.emplace_back("label_names",
                          data::LabelNamesText(plan.label_names));
  }
  if (!request.trains()) return;
  if (request.training.replicas > 1) {
    manifest.emplace_back("replicas",
                          std::to_string(request.training.replicas));
  }
  if (request.training.stages > 1) {
    manifest.emplace_back("stage", DescribeStage(request.training));
  }
  const auto add = [&](const char* key, const std::vector<std::string>& names) {
    for (const std::string& name : names) manifest.emplace_back(key, name);
  };
  AddOptimizer(request.training, manifest);
  if (request.training.label_smoothing > 0) {
    manifest.emplace_back("label_smoothing",
                          fmt::format("{}", request.training.label_smoothing));
  }
  if (request.precision != DType::kF32) {
    manifest.emplace_back("precision", MxnetName(request.precision));
  }
  add("data", plan.data_inputs);
  add("label", plan.label_inputs);
  add("parameter", plan.parameter_names);
  add("auxiliary", plan.auxiliary_names);
}

}  // namespace

Manifest MakeManifest(const CompileRequest& request, const Plan& plan) {
  Manifest manifest = {
      {"compiler", "mxc " MXC_VERSION},
      {"network", plan.stem},
      {"source_xxh3",
       fmt::format("{:016x}",
                   runtime::Checksum(plan.network->file().content().bytes()))},
      {"target", plan.target.name},
      {"features", plan.target.features},
      {"parameters", std::to_string(plan.parameters)},
      {"operators", CountOperators(plan)}};
  if (request.streams > 0) {
    manifest.emplace_back("rows_kept", std::to_string(plan.rows_kept));
  }
  AddWeights(request.weights, manifest);
  AddKeptLayers(request.kept_layers, manifest);
  AddTraining(request, plan, manifest);
  AddLabels(plan, manifest);
  for (const Program& program : plan.programs) {
    manifest.emplace_back("entry", program.entry.Name());
    for (const auto& [kind, key] : {std::pair(BufferKind::kInput, "input"),
                                    std::pair(BufferKind::kOutput, "output")}) {
      for (const int b : program.BuffersOf(kind)) {
        const Buffer& buffer = program.buffers[b];
        manifest.emplace_back(key, buffer.name + " " + ToString(buffer.type));
      }
    }
    const Memory memory = MemoryOf(program);
    manifest.emplace_back("peak_bytes", std::to_string(memory.peak()));
    manifest.emplace_back("activation_bytes",
                          std::to_string(memory.activations()));
    manifest.emplace_back("workspace_bytes", std::to_string(memory.workspace));
    manifest.emplace_back("kernels", KernelNames(program, *plan.catalog));
    manifest.emplace_back("contractions", ContractionRows(program));
  }
  return manifest;
}

}  // namespace mxc
