// SPDX-License-Identifier: Apache-2.0
// mxc calibrate: a network of floats and samples → the network of 8-bit numbers,
// as MXNet writes it: PREFIX-symbol.json, PREFIX-0000.params.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>

#include "frontend/variables.h"
#include "tools/command.h"
#include "tools/output_file.h"
#include "tools/quantize/accuracy_text.h"
#include "tools/quantize/calibration.h"
#include "tools/quantize/sample_options.h"
#include "tools/request_options.h"
#include "tools/usage/values.h"

namespace mxc {
namespace {

struct CalibrateOptions {
  ReportStyle style;
  RequestOptions request;
  SampleOptions samples;
  std::vector<std::string> kept;
  CalibrationRequest calibration;
  std::string output;
  bool overwrite = false;
};

constexpr std::string_view kSuffix = "-symbol.json";

std::string ParamsOf(const std::string& symbol) {
  return symbol.substr(0, symbol.size() - kSuffix.size()) + "-0000.params";
}

Status RequireOutput(const CalibrateOptions& options) {
  if (!options.output.ends_with(kSuffix)) {
    return UnplacedError(
        fmt::format("-o: '{}' does not end with {}", options.output, kSuffix));
  }
  const NetworkRequest& network = options.request.request.network;
  MXC_RETURN_IF_ERROR(RequireOutputName(
      options.output, {network.model, network.params}, ".json"));
  if (options.overwrite) return Done{};
  for (const std::string& path : {options.output, ParamsOf(options.output)}) {
    if (!std::filesystem::exists(path)) continue;
    return UnplacedError(
        fmt::format("'{}' is there; --overwrite writes over it", path));
  }
  return Done{};
}

Result<CalibrationRequest> RequestFor(
    const CalibrateOptions& options,
    const std::shared_ptr<LoadedNetwork>& network) {
  CalibrationRequest request = options.calibration;
  MXC_ASSIGN(CompileRequest compile, RequestOf(options.request));
  MXC_ASSIGN(MeasuredRequest on,
             MeasuredOn(options.samples, std::move(compile), *network));
  on.accuracy_budget = request.on.accuracy_budget;
  on.threads = request.on.threads;
  request.on = std::move(on);
  request.kept = {options.kept.begin(), options.kept.end()};
  return request;
}

// So that the file can be compiled by itself, for any batch.
void NoteShapes(Graph& graph) {
  for (Node* input : graph.Variables(VariableRole::kInput)) {
    const Shape& shape = input->types[0].shape;
    if (!shape.known() || shape.rank() == 0) continue;
    if (input->written.Annotation("__shape__") != nullptr) continue;
    AnnotateShape(*input, shape, graph.written.numpy_shapes);
  }
}

Status WriteForm(const Model& model, const std::string& path) {
  OutputSet symbol;
  MXC_RETURN_IF_ERROR(symbol.Add(path, WriteSymbol(model.graph)));
  MXC_RETURN_IF_ERROR(WriteParameters(model, ParamsOf(path)));
  return symbol.Commit();
}

Json JsonOf(const ValueRange& range) { return {range.low, range.high}; }

void PrintReport(const CalibrationReport& report, const std::string& path) {
  Json layers = Json::array();
  for (const CalibratedLayer& layer : report.layers) {
    layers.push_back({{"name", layer.name},
                      {"op", layer.op},
                      {"dtype", layer.is_integer ? "int8" : "float32"},
                      {"why", layer.why_float},
                      {"error", layer.error},
                      {"data", JsonOf(layer.data)},
                      {"output", JsonOf(layer.output)}});
  }
  PrintJson({{"layers", layers},
             {"calibration_samples", report.samples},
             {"samples", report.before.samples},
             {"before", JsonOf(report.before)},
             {"after", JsonOf(report.after)},
             {"worse", report.after.WorseThan(report.before)},
             {"files", {path, ParamsOf(path)}}});
}

std::string RangeText(const ValueRange& range) {
  return fmt::format("{:.4g} … {:.4g}", range.low, range.high);
}

void PrintTable(const CalibrationReport& report) {
  size_t width = 5;
  for (const CalibratedLayer& layer : report.layers) {
    width = std::max(width, layer.name.size());
  }
  PrintOut("{:{}}  {:7}  {:>8}  {:20}  {:20}\n", "layer", width, "dtype",
           "error", "data", "output");
  for (const CalibratedLayer& layer : report.layers) {
    PrintOut("{:{}}  {:7}  {:8.2g}  {:20}  {:20}  {}\n", layer.name, width,
             layer.is_integer ? "int8" : "float32", layer.error,
             RangeText(layer.data), RangeText(layer.output), layer.why_float);
  }
  PrintAccuracy(report.before, report.after, "int8");
}

Result<CalibrationReport> Calibrate(const CalibrateOptions& options) {
  MXC_RETURN_IF_ERROR(RequireOutput(options));
  MXC_ASSIGN(const auto network,
             LoadedNetwork::Read(options.request.request.network));
  MXC_ASSIGN(CalibrationRequest request, RequestFor(options, network));
  Calibration calibration(std::move(request), network,
                          [&](const char* phase, const std::string& text) {
                            PrintPhase(options.style, phase, text);
                          });
  MXC_ASSIGN(Model model, calibration.Run());
  const CalibrationReport& report = calibration.report();
  if (report.integer_layers() == 0) {
    return UnplacedError(
        "no layer can be of 8-bit numbers within --accuracy-budget and "
        "--max-error; nothing was written");
  }
  NoteShapes(model.graph);
  MXC_RETURN_IF_ERROR(WriteForm(model, options.output));
  return report;
}

int RunCalibrate(const CalibrateOptions& options) {
  const Result<CalibrationReport> report = Calibrate(options);
  if (!report.ok()) return Fail(options.style, report.errors());
  if (options.style.json) {
    PrintReport(*report, options.output);
    return kSuccess;
  }
  PrintTable(*report);
  PrintWrote(options.style, options.output);
  PrintWrote(options.style, ParamsOf(options.output));
  return kSuccess;
}

void AddCalibrationOptions(CLI::App& app, CalibrateOptions& options) {
  CalibrationRequest& request = options.calibration;
  const auto group = [](CLI::Option* option) { option->group("Calibration"); };
  std::map<std::string, RangeMode> modes;
  for (size_t i = 0; i < kRangeModes.size(); ++i) {
    modes.emplace(kRangeModes[i], static_cast<RangeMode>(i));
  }
  group(app.add_option("--calib-mode", request.mode,
                       "how far ranges reach: naive, to the least and the "
                       "greatest value; percentile; entropy, where 8-bit "
                       "numbers say most (default)")
            ->transform(Named(modes))
            ->type_name("MODE"));
  group(app.add_option("--percentile", request.percentile,
                       "the share of values within, of that mode")
            ->check(Positive())
            ->capture_default_str());
  group(app.add_option("--keep", options.kept,
                       "a layer that stays of floats (repeatable)")
            ->type_name("NAME")
            ->allow_extra_args(false));
  group(app.add_option("--max-error", request.greatest_error,
                       "layers that are off by more stay of floats: the root "
                       "of the sum of squares, relative to the output's")
            ->check(NotNegative())
            ->capture_default_str());
  group(app.add_option("--accuracy-budget", request.on.accuracy_budget,
                       "by how much the network may get worse, in points of "
                       "accuracy (else percent of the metric): layers stay of "
                       "floats until it does not")
            ->transform(Percent())
            ->type_name("P%")
            ->capture_default_str());
}

}  // namespace

std::function<int()> AddCalibrate(CLI::App& app) {
  auto options = std::make_shared<CalibrateOptions>();
  AddModelOptions(app, options->request);
  app.get_option("MODEL")->required();
  AddWeightOptions(app, options->request.request.network);
  AddSampleOptions(app, options->samples);
  app.get_option("--data")->required();
  AddCalibrationOptions(app, *options);
  app.add_option("-o", options->output, "what is written")
      ->required()
      ->type_name("PREFIX-symbol.json");
  app.add_flag("--overwrite", options->overwrite, "write over files");
  app.add_option("--threads", options->calibration.on.threads,
                 "0: one for each processor")
      ->check(Between(0, 512));
  AddPlanOptions(app, options->request);
  AddKernelOptions(app, options->request.request);
  ReferToCompile(app);
  AddJsonOption(app, options->style);
  AddQuietOption(app, options->style);
  app.footer(
      "examples:\n"
      "  mxc calibrate net-symbol.json --data digits -o net8-symbol.json\n"
      "  mxc compile net8-symbol.json\n"
      "  mxc calibrate net.onnx --data folder:photos --calib-mode naive \\\n"
      "      --keep conv0 -o net8-symbol.json");
  return [options] { return RunCalibrate(*options); };
}

}  // namespace mxc
