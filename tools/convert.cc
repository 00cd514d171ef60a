// SPDX-License-Identifier: Apache-2.0
// mxc convert: a network and its weights in another format, by the name of the
// file: PREFIX-symbol.json or X.json (MXNet 1.x, with X-0000.params beside it),
// X.onnx, X.params, X.npz, X.safetensors.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>

#include "frontend/onnx/write_model.h"
#include "frontend/variables.h"
#include "runtime/train/checkpoint_files.h"
#include "tools/artifact_overview.h"
#include "tools/command.h"
#include "tools/driver/network.h"
#include "tools/model_options.h"
#include "tools/output_file.h"
#include "tools/stored_network.h"
#include "tools/terminal.h"
#include "tools/usage/values.h"

namespace mxc {
namespace {

struct ConvertOptions {
  ReportStyle style;
  NetworkRequest network;
  InputTexts inputs;
  std::string output;
  int64_t opset = onnx::kWrittenByDefault;
  bool overwrite = false;
};

struct Written {
  std::vector<std::string> files;
};

std::string WithoutSuffix(const std::string& path, std::string_view suffix) {
  return path.substr(0, path.size() - suffix.size());
}

// The symbol gets its name last: where there is no room for the weights, both
// old files stay.
Status WriteSymbolAndWeights(const Model& model, const std::string& path,
                             std::string_view suffix, Written& written) {
  OutputSet symbol;
  MXC_RETURN_IF_ERROR(symbol.Add(path, WriteSymbol(model.graph)));
  written.files.push_back(path);
  if (!model.parameters.empty()) {
    const std::string params = WithoutSuffix(path, suffix) + "-0000.params";
    MXC_RETURN_IF_ERROR(WriteParameters(model, params));
    written.files.push_back(params);
  }
  return symbol.Commit();
}

// For a batch that stays open where the network's shapes follow from it.
Result<Written> WriteOnnx(const ConvertOptions& options, Model& model,
                          const Graph* other) {
  const std::string& path = options.output;
  const std::string data =
      std::filesystem::path(path).filename().string() + ".data";
  MXC_RETURN_IF_ERROR(RequireParameters(model));
  MXC_ASSIGN(const onnx::WrittenModel file,
             onnx::WriteModel(model, other, options.opset, data));
  Written written;
  OutputSet files;
  if (!file.data.empty()) {
    MXC_RETURN_IF_ERROR(files.Add(path + ".data", file.data));
    written.files.push_back(path + ".data");
  }
  MXC_RETURN_IF_ERROR(files.Add(path, file.model));
  written.files.push_back(path);
  MXC_RETURN_IF_ERROR(files.Commit());
  return written;
}

Result<Written> Write(const Model& model, const std::string& path) {
  Written written;
  for (const std::string_view suffix : {"-symbol.json", ".json"}) {
    if (!path.ends_with(suffix)) continue;
    MXC_RETURN_IF_ERROR(WriteSymbolAndWeights(model, path, suffix, written));
    return written;
  }
  const auto weights = {".params", ".npz", ".safetensors"};
  if (std::ranges::none_of(weights, [&](const char* suffix) {
        return path.ends_with(suffix);
      })) {
    return UnplacedError(fmt::format(
        "'{}' names no format; expected .json, .onnx, .params, .npz or "
        ".safetensors",
        path));
  }
  if (model.parameters.empty()) {
    return UnplacedError(fmt::format(
        "there are no parameters for '{}': name a file (--params), or make "
        "values up (--init xavier); of artifacts, those that train hold "
        "them",
        path));
  }
  MXC_RETURN_IF_ERROR(WriteParameters(model, path));
  written.files.push_back(path);
  return written;
}

// The prefix of the series that a file joins: "net" of "net-symbol.json",
// "net.json" and "net-0003.params".
std::string PrefixOf(const std::string& path) {
  for (const std::string_view suffix : {"-symbol.json", ".json"}) {
    if (path.ends_with(suffix)) return WithoutSuffix(path, suffix);
  }
  const size_t dash = path.find_last_of("-/");
  const bool numbered =
      path.ends_with(".params") && dash != path.npos && path[dash] == '-';
  return numbered ? path.substr(0, dash) : "";
}

// A run's symbol and parameters belong together, whoever trained it: all but
// what a conversion itself has written there, the parameters of epoch 0.
Status RequireNoRun(const ConvertOptions& options) {
  const std::string prefix = PrefixOf(options.output);
  if (options.overwrite || prefix.empty()) return Done{};
  const auto files = train::FilesOfSeries(prefix);
  // Of a server that lists nothing it is not known.
  if (files.status().code() == runtime::StatusCode::kUnsupported) return Done{};
  if (!files.ok()) return UnplacedError(files.status().message());
  const std::string first = train::EpochCheckpoint(prefix, 0).Path("params");
  if (files->empty() || *files == std::vector{first}) return Done{};
  return UnplacedError(fmt::format(
      "'{}' is the prefix of a training: {}; --overwrite writes '{}' over its "
      "files",
      prefix, train::ListFiles(*files), options.output));
}

// As MXNet's sym.var("data", shape=(1, 3, 224, 224)) notes it. Without a note an
// input is float32.
void NoteTypes(Graph& graph) {
  for (Node* input : graph.Variables(VariableRole::kInput)) {
    const auto& [dtype, shape] = input->types[0];
    if (shape.known()) AnnotateShape(*input);
    if (dtype != DType::kUnknown && dtype != DType::kF32) AnnotateType(*input);
  }
}

// The parameters are those that training begins with, unless --params names
// others.
Result<Model> LoadStored(const NetworkRequest& network,
                         const Specialization& of) {
  MXC_ASSIGN(const StoredNetwork stored, ReadStoredNetwork(network.model));
  LoadOptions load;
  load.input_shapes = of.shapes;
  load.input_types = of.types;
  load.known_shapes = stored.shapes;
  MXC_ASSIGN(Model model, LoadText(stored.source, load));
  load.params = network.params;
  if (load.params.empty() && !stored.parameters->empty()) {
    load.params = network.model;
    load.arrays = stored.parameters;
  }
  if (load.params.empty()) return model;
  MXC_RETURN_IF_ERROR(LoadParameters(model, load));
  return model;
}

Result<Model> LoadWithClasses(const NetworkRequest& request,
                              const Specialization& of) {
  MXC_ASSIGN(const auto network, LoadedNetwork::Read(request));
  MXC_RETURN_IF_ERROR(network->SetClasses(request.classes, of));
  return network->DraftWithParameters(of);
}

// The network of a file, be it a text or compiled.
Result<Model> LoadAny(const NetworkRequest& network, const Specialization& of) {
  if (IsArtifact(network.model)) {
    if (network.classes == 0) return LoadStored(network, of);
    return UnplacedError(fmt::format(
        "--classes: '{}' is compiled, expected the network that it was "
        "compiled from",
        network.model));
  }
  if (network.classes > 0) return LoadWithClasses(network, of);
  return LoadModel(network, of, /*read_parameters=*/true);
}

// The network for another batch than `model` is; nullopt where it has no such
// form.
std::optional<Model> OtherBatch(const NetworkRequest& network,
                                Specialization of, const Model& model) {
  if (IsArtifact(network.model) || !of.shapes.empty()) return std::nullopt;
  const auto inputs = model.graph.Variables(VariableRole::kInput);
  if (inputs.empty() || inputs[0]->types[0].shape.rank() == 0) {
    return std::nullopt;
  }
  of.batch = inputs[0]->types[0].shape[0] + 1;
  Result<Model> other = network.classes > 0
                            ? LoadWithClasses(network, of)
                            : LoadModel(network, of, /*read_parameters=*/false);
  if (!other.ok()) return std::nullopt;
  if (!InferOpenTypes(other->graph, /*complete=*/true).ok()) {
    return std::nullopt;
  }
  return std::move(*other);
}

Result<Written> Convert(const ConvertOptions& options) {
  MXC_RETURN_IF_ERROR(RequireOutputName(
      options.output, {options.network.model, options.network.params},
      std::filesystem::path(options.output).extension().string()));
  MXC_RETURN_IF_ERROR(RequireNoRun(options));
  MXC_ASSIGN(const Specialization of, ParseInputs(options.inputs, 0));
  const NetworkRequest& network = options.network;
  MXC_ASSIGN(Model model, LoadAny(network, of));
  NoteTypes(model.graph);
  if (!network.init.empty()) {
    std::map<std::string, Tensor> drawn;
    MXC_RETURN_IF_ERROR(InferTypes(model.graph, /*complete=*/false));
    MXC_RETURN_IF_ERROR(InitializeMissing(network, model, drawn));
  }
  if (!options.output.ends_with(".onnx")) return Write(model, options.output);
  MXC_RETURN_IF_ERROR(InferOpenTypes(model.graph, /*complete=*/true));
  const auto other = OtherBatch(network, of, model);
  return WriteOnnx(options, model, other ? &other->graph : nullptr);
}

int RunConvert(const ConvertOptions& options) {
  const Result<Written> written = Convert(options);
  if (!written.ok()) return Fail(options.style, written.errors());
  if (options.style.json) {
    PrintJson({{"files", written->files}});
    return kSuccess;
  }
  for (const std::string& file : written->files) {
    PrintWrote(options.style, file);
  }
  return kSuccess;
}

}  // namespace

std::function<int()> AddConvert(CLI::App& app) {
  auto options = std::make_shared<ConvertOptions>();
  AddModelOptions(app, options->network, options->inputs);
  app.get_option("MODEL")->required()->description(
      "a network: ONNX, MXNet's symbol JSON, Caffe's prototxt or mxc's own "
      "JSON; or an artifact: the network it was compiled from and, if it "
      "trains, the parameters that training begins with");
  AddWeightOptions(app, options->network);
  AddClassesOption(app, options->network);
  app.add_option("-o", options->output,
                 "FILE-symbol.json, .onnx, .params, .npz or .safetensors")
      ->required()
      ->type_name("FILE");
  app.add_option("--opset", options->opset,
                 "version of ONNX's operators that are written")
      ->check(Between(onnx::kOldestWritten, onnx::kNewestWritten))
      ->capture_default_str()
      ->type_name("N");
  app.add_flag("--overwrite", options->overwrite,
               "write over files of a training, too");
  AddJsonOption(app, options->style);
  AddQuietOption(app, options->style);
  app.footer(
      "examples:\n"
      "  mxc convert net.json --init xavier -o net-symbol.json\n"
      "  mxc convert net-symbol.json -o net.onnx\n"
      "  mxc convert net-symbol.json -o net.safetensors\n"
      "  mxc convert net.mxa -o net-symbol.json");
  return [options] { return RunConvert(*options); };
}

}  // namespace mxc
