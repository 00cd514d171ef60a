// SPDX-License-Identifier: Apache-2.0
// models: a folder of models, each a folder with NAME-symbol.json and a
// parameter file, an ONNX model, or deploy.prototxt and model.caffemodel, and
// expected/: meta.json with the inputs' shapes, input_NAME.npy (or
// input_NAME.u8.npy: x = u8·scale + offset, in float), output_K.npy.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "frontend/frontend.h"
#include "runtime/formats/npy.h"
#include "tests/cases/case_report.h"
#include "tests/cases/cases.h"
#include "tests/cases/compare.h"
#include "tools/driver/to_tensor.h"

namespace mxc {
namespace {

namespace fs = std::filesystem;

// Of the largest output value. Where expected values come from f32 they are
// rounded themselves: mobileface-id-v1's by 1.07e-5, with direct kernels alone.
constexpr double kTolerance = 1.2e-5;
// Of probabilities that are all smaller, as of a detector that sees nothing: the
// logarithms that they are of, -14 or less, are rounded by more than that.
constexpr double kLeastMagnitude = 1e-6;

struct ModelCase {
  std::string name, symbol;
  std::string params;  // empty: beside the symbol
  nlohmann::json meta;
  std::map<std::string, Tensor> inputs;
  std::vector<Tensor> outputs;
};

Result<Tensor> ReadTensor(const fs::path& path) {
  auto array = runtime::ReadNpy(path.string());
  if (!array.ok()) return Error({}, "{}", array.status().message());
  return ToTensor(*array);
}

Tensor Dequantize(const Tensor& bytes, float scale, float offset) {
  std::vector<float> values(bytes.shape().elements());
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] =
        static_cast<float>(bytes.At(static_cast<int64_t>(i))) * scale + offset;
  }
  return Tensor::FromFloats(bytes.shape(), values);
}

Result<Tensor> ReadInput(const fs::path& folder, const nlohmann::json& meta,
                         const std::string& name) {
  const fs::path plain = folder / ("input_" + name + ".npy");
  if (fs::exists(plain)) return ReadTensor(plain);
  MXC_ASSIGN(const Tensor bytes,
             ReadTensor(folder / ("input_" + name + ".u8.npy")));
  const auto& scale = meta["u8_scale_offset"][name];
  return Dequantize(bytes, scale[0], scale[1]);
}

Result<ModelCase> ReadModelCase(const fs::path& folder) {
  ModelCase c;
  c.name = folder.filename();
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string path = entry.path();
    if (path.ends_with("-symbol.json") || path.ends_with(".onnx") ||
        path.ends_with("/deploy.prototxt")) {
      c.symbol = path;
    }
    if (path.ends_with("/model.caffemodel")) c.params = path;
  }
  if (c.symbol.empty()) return Error({}, "no network");
  const fs::path expected = folder / "expected";
  std::ifstream meta(expected / "meta.json");
  c.meta = nlohmann::json::parse(meta, nullptr, false);
  if (c.meta.is_discarded()) return Error({}, "no expected/meta.json");
  for (const auto& [name, shape] : c.meta["inputs"].items()) {
    MXC_ASSIGN(c.inputs[name], ReadInput(expected, c.meta, name));
  }
  for (size_t k = 0; k < c.meta["outputs"].size(); ++k) {
    MXC_ASSIGN(Tensor output,
               ReadTensor(expected / fmt::format("output_{}.npy", k)));
    c.outputs.push_back(std::move(output));
  }
  return c;
}

// What the operators give that the case names.
Status TakeOutputs(Graph& graph, const nlohmann::json& outputs) {
  graph.outputs.clear();
  graph.output_names.clear();
  for (const auto& output : outputs) {
    const std::string name = output["name"];
    const auto found =
        std::ranges::find_if(graph.nodes(), [&](const auto& node) {
          return node->kind == Node::Kind::kOperator && node->name == name;
        });
    if (found == graph.nodes().end())
      return Error({}, "no operator '{}'", name);
    graph.outputs.push_back((*found)->out());
    graph.output_names.push_back(name);
  }
  return Done{};
}

Status RunModel(const ModelCase& c, const EngineOptions& engine) {
  LoadOptions load;
  load.params = c.params;
  for (const auto& [name, input] : c.inputs) {
    load.input_shapes[name] = input.shape().dims();
  }
  MXC_ASSIGN(Model model, Load(c.symbol, load));
  // A definition that trains, too, ends in its losses.
  if (model.graph.outputs.size() != c.outputs.size()) {
    MXC_RETURN_IF_ERROR(TakeOutputs(model.graph, c.meta["outputs"]));
  }
  MXC_RETURN_IF_ERROR(RequireSupported(model.graph));
  MXC_RETURN_IF_ERROR(RequireParameters(model));
  BindParameters(model);
  MXC_ASSIGN(const std::vector<Tensor> outputs,
             RunGraph(std::move(model.graph), c.inputs, engine));
  if (outputs.size() != c.outputs.size()) {
    return Error({}, "{} outputs, expected {}", outputs.size(),
                 c.outputs.size());
  }
  for (size_t k = 0; k < outputs.size(); ++k) {
    const double magnitude =
        std::max(LargestMagnitude(c.outputs[k]), kLeastMagnitude);
    const Tolerance tolerance = {0, kTolerance * magnitude};
    if (auto error = Difference(outputs[k], c.outputs[k], tolerance)) {
      return Error({}, "output {} {}", k, *error);
    }
  }
  return Done{};
}

}  // namespace

int RunModelCases(const CaseOptions& options) {
  CaseReport report(options.verbose);
  std::vector<fs::path> folders;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(options.folder, error)) {
    if (fs::exists(entry.path() / "expected")) folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  for (const fs::path& folder : folders) {
    const std::string name = folder.filename();
    if (!name.starts_with(options.only)) continue;
    const auto c = ReadModelCase(folder);
    if (!c.ok()) {
      report.Fail(name, c.errors()[0].message);
      continue;
    }
    for (const std::string& target : options.targets) {
      for (const int threads : options.threads) {
        EngineOptions engine = options.engine;
        engine.target = target;
        engine.threads = threads;
        const std::string title =
            fmt::format("{} {} {}", name, target, threads);
        const Status status = RunModel(*c, engine);
        if (status.ok()) {
          report.Pass(title);
        } else {
          report.Fail(title, Render(status.errors()));
        }
      }
    }
  }
  return report.Finish();
}

}  // namespace mxc
