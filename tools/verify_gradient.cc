// SPDX-License-Identifier: Apache-2.0
#include "tools/verify_gradient.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include "ir/program/interpreter.h"
#include "ir/target/target.h"
#include "passes/pass.h"
#include "tools/driver/unplaced_error.h"

namespace mxc {
namespace {

using Tensors = std::map<std::string, Tensor>;

// The loss of one output as a function of the parameters.
struct LossPrograms {
  Program loss;       // outputs: the network's, loss
  Program gradients;  // outputs: the network's, loss, grad:NAME …
};

bool HasLossHead(const Graph& graph) {
  return std::ranges::any_of(graph.TopologicalOrder(), [](const Node* node) {
    return node->op != nullptr && node->op->loss_head;
  });
}

// What is left of the network when only one of its outputs is asked for.
Result<Graph> GraphOfOutput(const CompileRequest& request,
                            LoadedNetwork& network, size_t output) {
  MXC_ASSIGN(Model model,
             network.Specialize(request.First(), ParameterUse::kStates));
  Graph& graph = model.graph;
  graph.training = true;
  graph.outputs = {graph.outputs[output]};
  graph.output_names = {graph.output_names[output]};
  return std::move(graph);
}

Result<Program> PlainProgram(Graph graph, const TrainingOptions& training) {
  MXC_ASSIGN(const Target target, ResolveTarget("x86-64-v2"));
  PassContext context;
  context.target = &target;
  context.training = &training;
  PassOptions passes;
  passes.level = 0;
  return RunPipeline(std::move(graph), context, passes);
}

Result<LossPrograms> MakePrograms(const CompileRequest& request,
                                  LoadedNetwork& network, size_t output) {
  TrainingOptions training = request.training;
  training.optimizer.clear();
  LossPrograms programs;
  MXC_ASSIGN(Graph graph, GraphOfOutput(request, network, output));
  TrainingOptions fixed = training;
  for (const Node* node : graph.Variables(VariableRole::kParameter)) {
    fixed.fixed.insert(node->name);
  }
  MXC_ASSIGN(programs.loss, PlainProgram(std::move(graph), fixed));
  MXC_ASSIGN(Graph again, GraphOfOutput(request, network, output));
  MXC_ASSIGN(programs.gradients, PlainProgram(std::move(again), training));
  return programs;
}

// Empty if the program does not read it.
Tensor ValueOf(const Program& program, const std::string& state) {
  for (const int b : program.BuffersOf(BufferKind::kState)) {
    const Buffer& buffer = program.buffers[b];
    if (buffer.name != state) continue;
    return buffer.constant.empty() ? Tensor::Filled(buffer.type, 0)
                                   : buffer.constant;
  }
  return {};
}

// The outputs by name, in double.
Result<Tensors> Evaluate(const Program& program, const Tensors& inputs) {
  InterpreterOptions options;
  options.all_double = true;
  MXC_ASSIGN(const std::vector<Tensor> values,
             Interpret(program, inputs, options));
  Tensors outputs;
  size_t next = 0;
  for (const int b : program.BuffersOf(BufferKind::kOutput)) {
    outputs[program.buffers[b].name] = values[next++];
  }
  return outputs;
}

// value + by · direction, in f64.
Tensor Moved(const Tensor& value, const std::vector<double>& direction,
             double by) {
  std::byte* bytes = nullptr;
  Tensor moved = Tensor::Allocate({DType::kF64, value.shape()}, &bytes);
  for (size_t i = 0; i < direction.size(); ++i) {
    StoreElement(bytes + i * sizeof(double), DType::kF64,
                 value.At(static_cast<int64_t>(i)) + by * direction[i]);
  }
  return moved;
}

class LossCheck {
 public:
  LossCheck(const LossPrograms& programs, const Tensors& inputs)
      : programs_(programs), inputs_(inputs) {}

  struct Derivative {
    std::string parameter;
    double rule = 0, differences = 0;
  };

  // Of all parameters that have a gradient.
  Result<std::vector<Derivative>> Run(uint64_t seed,
                                      std::vector<std::string>& rough) {
    MXC_ASSIGN(const Tensors outputs, Evaluate(programs_.gradients, inputs_));
    std::mt19937_64 random(seed);
    std::vector<Derivative> derivatives;
    for (const auto& [name, gradient] : outputs) {
      if (!name.starts_with("grad:")) continue;
      const std::string parameter = name.substr(5);
      std::vector<double> direction(gradient.shape().elements());
      Derivative derivative{parameter};
      for (size_t i = 0; i < direction.size(); ++i) {
        direction[i] = random() % 2 == 0 ? 1 : -1;
        derivative.rule += direction[i] * gradient.At(static_cast<int64_t>(i));
      }
      MXC_ASSIGN(const std::optional<double> found,
                 Difference(parameter, direction));
      if (!found) {
        rough.push_back(parameter);
        continue;
      }
      derivative.differences = *found;
      derivatives.push_back(derivative);
    }
    return derivatives;
  }

 private:
  // The loss's derivative along a direction, once two steps agree on it;
  // nothing where none do: at a kink.
  Result<std::optional<double>> Difference(
      const std::string& parameter, const std::vector<double>& direction) {
    const Tensor value = ValueOf(programs_.loss, parameter);
    // Nothing reads it: a fixed gamma.
    if (value.empty()) return std::optional<double>(0);
    double largest = 0;
    for (size_t i = 0; i < direction.size(); ++i) {
      largest = std::max(largest, std::abs(value.At(static_cast<int64_t>(i))));
    }
    double step = 1e-4 * (largest > 0 ? largest : 1);
    std::optional<double> coarse;
    for (int attempt = 0; attempt < 5; ++attempt, step /= 8) {
      MXC_ASSIGN(const double above,
                 LossAt(parameter, Moved(value, direction, step)));
      MXC_ASSIGN(const double below,
                 LossAt(parameter, Moved(value, direction, -step)));
      const double fine = (above - below) / (2 * step);
      // What double leaves of a difference of losses.
      const double noise = 1e-14 * std::max(1.0, std::abs(above)) / step;
      if (coarse &&
          std::abs(fine - *coarse) <= 1e-4 * std::abs(fine) + 10 * noise) {
        return std::optional<double>(fine);
      }
      coarse = fine;
    }
    return std::optional<double>();
  }

  Result<double> LossAt(const std::string& parameter, const Tensor& value) {
    Tensors inputs = inputs_;
    inputs[parameter] = value;
    MXC_ASSIGN(const Tensors outputs, Evaluate(programs_.loss, inputs));
    const auto loss = outputs.find("loss");
    if (loss == outputs.end()) {
      return UnplacedError("the network's loss heads report no loss");
    }
    return loss->second.At(0);
  }

  const LossPrograms& programs_;
  const Tensors& inputs_;
};

// The factor between a head's gradient and its loss's derivative that fits
// best.
double FittedFactor(const std::vector<LossCheck::Derivative>& derivatives) {
  double products = 0, squares = 0;
  for (const auto& d : derivatives) {
    products += d.rule * d.differences;
    squares += d.differences * d.differences;
  }
  return squares > 0 ? products / squares : 1;
}

Status Compare(const std::vector<LossCheck::Derivative>& derivatives,
               const std::string& output, double tolerance,
               GradientReport& report) {
  const double factor = FittedFactor(derivatives);
  double scale = 0;
  for (const auto& d : derivatives) scale = std::max(scale, std::abs(d.rule));
  Diagnostics errors;
  for (const auto& d : derivatives) {
    const double expected = factor * d.differences;
    const double error = std::abs(d.rule - expected) / (scale > 0 ? scale : 1);
    ++report.compared;
    if (error >= report.largest) {
      report.largest = error;
      report.worst = d.parameter;
    }
    if (error <= tolerance) continue;
    Diagnostic wrong = UnplacedError(fmt::format(
        "the gradient of '{}' is wrong: along a random direction {}, central "
        "differences of '{}' give {}",
        d.parameter, d.rule, output, expected));
    wrong.notes = {
        fmt::format("relative to the largest derivative {:.1e}", error),
        "BlockGrad, and what MXNet differentiates in its own way, differ from "
        "calculus on purpose"};
    errors.push_back(std::move(wrong));
  }
  if (!errors.empty()) return errors;
  return Done{};
}

}  // namespace

Result<GradientReport> CheckGradients(const CompileRequest& request,
                                      LoadedNetwork& network,
                                      const Tensors& inputs, double tolerance) {
  MXC_ASSIGN(const Model model,
             network.Specialize(request.First(), ParameterUse::kStates));
  GradientReport report;
  for (size_t k = 0; k < model.graph.outputs.size(); ++k) {
    MXC_ASSIGN(const Graph alone, GraphOfOutput(request, network, k));
    if (!HasLossHead(alone)) continue;
    MXC_ASSIGN(const LossPrograms programs, MakePrograms(request, network, k));
    MXC_ASSIGN(const auto derivatives,
               LossCheck(programs, inputs)
                   .Run(network.request().seed + k, report.rough));
    MXC_RETURN_IF_ERROR(
        Compare(derivatives, alone.output_names[0], tolerance, report));
  }
  return report;
}

}  // namespace mxc
