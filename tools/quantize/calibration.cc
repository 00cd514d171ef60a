// SPDX-License-Identifier: Apache-2.0
#include "tools/quantize/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "tools/driver/figures.h"
#include "tools/driver/unplaced_error.h"
#include "tools/quantize/dense_layers.h"

namespace mxc {

int64_t CalibrationReport::integer_layers() const {
  return std::ranges::count(layers, true, &CalibratedLayer::is_integer);
}

Calibration::Calibration(CalibrationRequest request,
                         std::shared_ptr<LoadedNetwork> network, TellPhase tell)
    : request_(std::move(request)),
      network_(std::move(network)),
      tell_(std::move(tell)) {}

// Drafts are alike, so that a TensorId names the same value in each.
Result<Model> Calibration::Draft() const {
  MXC_ASSIGN(Model model,
             network_->DraftWithParameters(request_.on.compile.For(0)));
  MXC_RETURN_IF_ERROR(InferTypes(model.graph, /*complete=*/false));
  if (!request_.on.compile.network.init.empty()) {
    std::map<std::string, Tensor> drawn;
    MXC_RETURN_IF_ERROR(
        InitializeMissing(request_.on.compile.network, model, drawn));
  }
  MXC_RETURN_IF_ERROR(RequireParameters(model));
  UseFullyConnected(model);
  return model;
}

Result<Trial> Calibration::Compile(const Graph& graph) {
  return Trial::Compile(request_.on.compile, graph, arrays_,
                        request_.on.threads);
}

Status Calibration::RequireKept() const {
  Diagnostics errors;
  for (const std::string& name : request_.kept) {
    if (std::ranges::find(report_.layers, name, &CalibratedLayer::name) ==
        report_.layers.end()) {
      errors.push_back(UnplacedError(fmt::format(
          "--keep: '{}' is no layer that 8-bit numbers could compute", name)));
    }
  }
  if (!errors.empty()) return errors;
  return Done{};
}

Status Calibration::CollectRanges() {
  MXC_ASSIGN(Model model, Draft());
  MXC_ASSIGN(arrays_, ArraysOf(model));
  const std::vector<FusedLayer> layers = FindFusedLayers(model.graph);
  if (layers.empty()) {
    return UnplacedError(
        "the network has no Convolution over two axes, no FullyConnected and "
        "no "
        "product with a matrix, whose weights are parameters and of float32: "
        "8-bit numbers would compute nothing");
  }
  for (const FusedLayer& layer : layers) {
    CalibratedLayer& row = report_.layers.emplace_back();
    row.name = layer.layer->name;
    row.op = layer.layer->op->name;
  }
  MXC_RETURN_IF_ERROR(RequireKept());
  const std::vector<Value> values = RangedValues(layers);
  const size_t outputs = model.graph.outputs.size();
  for (const Value& value : values) {
    model.graph.outputs.push_back(value);
    model.graph.output_names.push_back(value.node->name);
  }
  MXC_ASSIGN(const Trial trial, Compile(model.graph));
  std::vector<ValueStatistics> statistics(values.size());
  const auto pass = [&](void (ValueStatistics::*take)(std::span<const float>)) {
    return trial.Run(request_.on.samples,
                     [&](const std::vector<train::FloatView>& all) -> Status {
                       for (size_t i = 0; i < values.size(); ++i) {
                         (statistics[i].*take)(all[outputs + i].values);
                       }
                       return Done{};
                     });
  };
  MXC_ASSIGN(report_.samples, pass(&ValueStatistics::Extend));
  if (request_.mode != RangeMode::kNaive) {
    MXC_RETURN_IF_ERROR(pass(&ValueStatistics::Count));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const TensorId id(values[i]);
    ranges_[id] = statistics[i].RangeBy(request_.mode, request_.percentile);
    whole_[id] = statistics[i].RangeBy(RangeMode::kNaive, 0);
    if (!statistics[i].finite()) broken_.insert(id);
  }
  for (size_t i = 0; i < layers.size(); ++i) {
    report_.layers[i].is_integer = true;
    for (const Value value : RangedValues({layers[i]})) {
      if (broken_.contains(TensorId(value))) {
        Refuse(i, "its values are not all numbers");
      }
    }
  }
  return Done{};
}

void Calibration::WidenRanges(const FusedLayer& layer) {
  for (const Value value : RangedValues({layer})) {
    ranges_[TensorId(value)] = whole_.at(TensorId(value));
  }
}

Status Calibration::MeasureErrors() {
  MXC_ASSIGN(Model model, Draft());
  const std::vector<FusedLayer> layers = FindFusedLayers(model.graph);
  for (size_t i = 0; i < layers.size(); ++i) {
    report_.layers[i].data = ranges_.at(TensorId(layers[i].data()));
    report_.layers[i].output = ranges_.at(TensorId(layers[i].output()));
  }
  const size_t outputs = model.graph.outputs.size();
  AddErrorOutputs(layers, ranges_, model.graph);
  MXC_ASSIGN(const Trial trial, Compile(model.graph));
  std::vector<double> sums(2 * layers.size(), 0);
  MXC_RETURN_IF_ERROR(
      trial.Run(request_.on.samples,
                [&](const std::vector<train::FloatView>& all) -> Status {
                  for (size_t i = 0; i < sums.size(); ++i) {
                    sums[i] += all[outputs + i].values[0];
                  }
                  return Done{};
                }));
  for (size_t i = 0; i < layers.size(); ++i) {
    const double squares = sums[2 * i + 1];
    report_.layers[i].error =
        squares > 0 ? std::sqrt(sums[2 * i] / squares) : 0;
  }
  return Done{};
}

Status Calibration::MeasureWidened() {
  MXC_ASSIGN(const Model model, Draft());
  const std::vector<FusedLayer> layers = FindFusedLayers(model.graph);
  bool any = false;
  for (size_t i = 0; i < layers.size(); ++i) {
    if (report_.layers[i].error <= request_.greatest_error) continue;
    WidenRanges(layers[i]);
    any = true;
  }
  if (!any) return Done{};
  return MeasureErrors();
}

void Calibration::Refuse(size_t layer, std::string why) {
  report_.layers[layer].is_integer = false;
  report_.layers[layer].why_float = std::move(why);
}

void Calibration::Choose() {
  for (size_t i = 0; i < report_.layers.size(); ++i) {
    const CalibratedLayer& layer = report_.layers[i];
    if (!layer.is_integer) continue;
    if (request_.kept.contains(layer.name)) {
      Refuse(i, "kept");
    } else if (!(layer.error <= request_.greatest_error)) {
      Refuse(i, "error");
    }
  }
}

Result<Model> Calibration::Form(const std::vector<bool>& chosen) const {
  MXC_ASSIGN(Model model, Draft());
  if (std::ranges::count(chosen, true) > 0) {
    QuantizeGraph(FindFusedLayers(model.graph), chosen, ranges_, model.graph);
  }
  return model;
}

Status Calibration::KeepWithinBudget() {
  std::vector<std::optional<double>> errors(report_.layers.size());
  for (size_t i = 0; i < errors.size(); ++i) {
    const CalibratedLayer& layer = report_.layers[i];
    if (layer.is_integer) errors[i] = layer.error;
  }
  const TrialMaker form =
      [this](const std::vector<bool>& chosen) -> Result<Trial> {
    MXC_ASSIGN(const Model model, Form(chosen));
    return Compile(model.graph);
  };
  MXC_ASSIGN(const BudgetOutcome outcome,
             mxc::KeepWithinBudget(request_.on, errors, form,
                                   "layers of 8-bit numbers", tell_));
  report_.before = outcome.before;
  report_.after = outcome.after;
  report_.trials = outcome.trials;
  for (size_t i = 0; i < errors.size(); ++i) {
    if (errors[i] && !outcome.narrow[i]) Refuse(i, "accuracy");
  }
  return Done{};
}

Result<Model> Calibration::Run() {
  MXC_RETURN_IF_ERROR(CollectRanges());
  tell_("calibrate", fmt::format("{}, {}", Count(report_.samples, "sample"),
                                 Count(std::ssize(report_.layers), "layer")));
  MXC_RETURN_IF_ERROR(MeasureErrors());
  if (request_.mode != RangeMode::kNaive) {
    MXC_RETURN_IF_ERROR(MeasureWidened());
  }
  Choose();
  MXC_RETURN_IF_ERROR(KeepWithinBudget());
  std::vector<bool> chosen;
  for (const CalibratedLayer& layer : report_.layers) {
    chosen.push_back(layer.is_integer);
  }
  return Form(chosen);
}

}  // namespace mxc
