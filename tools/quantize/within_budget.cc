// SPDX-License-Identifier: Apache-2.0
#include "tools/quantize/within_budget.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <set>
#include <utility>

#include "frontend/variables.h"
#include "ir/support/wildcard.h"
#include "passes/narrowed_layers.h"
#include "passes/narrowed_weights.h"
#include "tools/driver/plan.h"
#include "tools/driver/precision.h"
#include "tools/driver/unplaced_error.h"
#include "tools/quantize/accuracy_text.h"
#include "tools/quantize/calibration.h"

namespace mxc {
namespace {

// What a network is measured as, whatever else is made of it.
CompileRequest InferenceOf(const CompileRequest& request) {
  CompileRequest infer = request;
  infer.entries = {"infer"};
  infer.batches.clear();
  infer.buckets.clear();
  infer.streams = 0;
  infer.prefill = 0;
  infer.after_pass = nullptr;
  return infer;
}

// What `find` says of the network's program, infer's, as the pass of that name
// finds it.
template <class Find>
auto FoundBefore(const char* pass, CompileRequest request, Find find)
    -> Result<decltype(find(std::declval<const Program&>()))> {
  decltype(find(std::declval<const Program&>())) found;
  bool is_past = false;
  request.after_pass = [&](const PassOptions::Report& report) -> Status {
    is_past = is_past || report.name == pass;
    if (report.program != nullptr && !is_past) found = find(*report.program);
    return Done{};
  };
  Progress silent;
  const Result<Plan> plan = MakePlan(request, silent);
  if (!plan.ok()) return plan.errors();
  if (!is_past) found.clear();
  return found;
}

Result<BudgetReport> NarrowWeightsWithin(const MeasuredRequest& on,
                                         CompileRequest& request,
                                         const TellPhase& tell) {
  BudgetReport report;
  report.form = WeightsName(request.weights) + " weights";
  MXC_ASSIGN(const std::vector<NarrowedWeight> weights,
             FoundBefore("narrow-weights", on.compile, [&](const Program& p) {
               return WeightsToNarrow(p, request.weights);
             }));
  std::vector<std::optional<double>> errors;
  for (const NarrowedWeight& weight : weights) {
    report.layers.push_back({weight.name, weight.error()});
    errors.emplace_back(report.layers.back().error);
  }
  const auto storage = [&](const std::vector<bool>& narrow) {
    WeightStorage weights = request.weights;
    for (size_t i = 0; i < narrow.size(); ++i) {
      if (!narrow[i]) weights.kept.insert(report.layers[i].name);
    }
    return weights;
  };
  const TrialMaker form = [&](const std::vector<bool>& narrow) {
    CompileRequest trial = on.compile;
    trial.weights = storage(narrow);
    return Trial::Compile(std::move(trial), on.threads);
  };
  MXC_ASSIGN(report.outcome,
             KeepWithinBudget(on, errors, form, report.form, tell));
  request.weights = storage(report.outcome.narrow);
  return report;
}

Result<BudgetReport> LowerPrecisionWithin(const MeasuredRequest& on,
                                          CompileRequest& request,
                                          const TellPhase& tell) {
  BudgetReport report;
  report.form = request.precision == DType::kBF16 ? "bf16" : "f16";
  report.form += " layers";
  MXC_ASSIGN(std::vector<NarrowedLayers> layers,
             FoundBefore("narrow-storage", on.compile, LayersToNarrow));
  std::erase_if(layers, [&](const NarrowedLayers& names) {
    return std::ranges::any_of(names, [&](const std::string& name) {
      return MatchesAny(request.kept_layers, name);
    });
  });
  const auto kept = [&](const std::vector<bool>& narrow) {
    std::set<std::string> wide = request.kept_layers;
    for (size_t i = 0; i < narrow.size(); ++i) {
      if (!narrow[i]) wide.insert(layers[i].begin(), layers[i].end());
    }
    return wide;
  };
  const TrialMaker form = [&](const std::vector<bool>& narrow) {
    CompileRequest trial = on.compile;
    trial.kept_layers = kept(narrow);
    trial.stores_all = true;  // the artifact's batches may be others
    return Trial::Compile(std::move(trial), on.threads);
  };
  MXC_ASSIGN(MeasuredLayers measured,
             MeasureWithinBudget(on, layers.size(), form, report.form, tell));
  measured.errors.resize(layers.size());
  for (size_t i = 0; i < layers.size(); ++i) {
    report.layers.push_back(
        {fmt::format("{}", fmt::join(layers[i], ", ")), measured.errors[i]});
  }
  report.outcome = std::move(measured.outcome);
  request.kept_layers = kept(report.outcome.narrow);
  return report;
}

Result<BudgetReport> CalibrateWithin(
    const MeasuredRequest& on, const std::shared_ptr<LoadedNetwork>& network,
    CompileRequest& request, const TellPhase& tell) {
  CalibrationRequest calibrated;
  calibrated.on = on;
  Calibration calibration(std::move(calibrated), network, tell);
  MXC_ASSIGN(const Model model, calibration.Run());
  BudgetReport report;
  report.form = "layers of 8-bit numbers";
  report.outcome.before = calibration.report().before;
  report.outcome.after = calibration.report().after;
  report.outcome.trials = calibration.report().trials;
  for (const CalibratedLayer& layer : calibration.report().layers) {
    report.layers.push_back({layer.name, layer.error});
    report.outcome.narrow.push_back(layer.is_integer);
  }
  request = RequestOfForm(request, model.graph, calibration.arrays());
  return report;
}

// The shapes that the network is compiled for where nobody says others: those
// that it says itself, else those of the data.
void TakeShapesFor(const LoadedNetwork& network, const MeasuredRequest& on,
                   CompileRequest& request) {
  const Result<Model> said = network.Draft(request.For(0));
  for (const auto& [name, shape] : on.compile.input_shapes) {
    const Node* input = said.ok() ? said->graph.FindVariable(name) : nullptr;
    if (input == nullptr || IsLabel(said->graph, *input)) continue;
    const Shape& own = input->types[0].shape;
    Extents dims = shape;
    if (own.known_rank() && own.rank() > 0) {
      for (int axis = 0; axis < own.rank(); ++axis) {
        if (own.known(axis)) dims[axis] = own[axis];
      }
      const int batch = BatchAxis(*input, own.rank());
      if (batch >= 0 && !own.known(batch)) dims[batch] = 1;
    }
    request.input_shapes.emplace(name, dims);
  }
}

}  // namespace

std::string BudgetReport::Text() const {
  return fmt::format("{} of {} {}; {}", outcome.count(), layers.size(), form,
                     AccuracyText(outcome.before, outcome.after));
}

Result<BudgetReport> FitIntoBudget(const SampleOptions& samples, double budget,
                                   CompileRequest& request,
                                   const TellPhase& tell) {
  MXC_RETURN_IF_ERROR(CheckRequest(request));
  if (request.trains()) {
    return UnplacedError(
        "--accuracy-budget is for networks that infer; an entry trains");
  }
  MXC_ASSIGN(const auto network, LoadedNetwork::Read(request.network));
  MXC_RETURN_IF_ERROR(network->SetClasses(request));
  MXC_ASSIGN(MeasuredRequest on,
             MeasuredOn(samples, InferenceOf(request), *network));
  on.accuracy_budget = budget;
  request.label_names = on.compile.label_names;
  request.preprocessing = on.compile.preprocessing;
  Result<BudgetReport> report = [&] {
    if (request.weights.kind != WeightKind::kF32) {
      return NarrowWeightsWithin(on, request, tell);
    }
    if (request.precision != DType::kF32) {
      return LowerPrecisionWithin(on, request, tell);
    }
    TakeShapesFor(*network, on, request);
    return CalibrateWithin(on, network, request, tell);
  }();
  if (report.ok()) report->budget = budget;
  return report;
}

}  // namespace mxc
