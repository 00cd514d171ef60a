// SPDX-License-Identifier: Apache-2.0
#include "tools/network.h"

#include <fmt/format.h>

#include <charconv>

#include "runtime/base/memory.h"
#include "runtime/train/parameter_initializer.h"
#include "runtime/train/random.h"
#include "tools/initial_value.h"
#include "tools/terminal.h"

namespace mxc {
namespace {

// "float32, float64, …": what an input's type may be.
std::string TypeNames() {
  std::string names;
  for (int64_t flag = 0; DTypeFromFlag(flag); ++flag) {
    names +=
        (flag > 0 ? ", " : "") + std::string(MxnetName(*DTypeFromFlag(flag)));
  }
  return names;
}

std::optional<Extents> ParseExtents(std::string_view text) {
  Extents extents;
  while (true) {
    const size_t end = text.find('x');
    const std::string_view digits = text.substr(0, end);
    int64_t extent = 0;
    const auto [stop, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), extent);
    if (error != std::errc() || stop != digits.data() + digits.size() ||
        extent <= 0) {
      return std::nullopt;
    }
    extents.push_back(extent);
    if (end == text.npos) return extents;
    text.remove_prefix(end + 1);
  }
}

// The text of a variable's __init__; MXNet also wrote it without underscores.
std::string InitAnnotation(const Node& variable) {
  const auto found = variable.annotations.find("__init__");
  return found == variable.annotations.end() ? "" : found->second;
}

// Numbers for a network whose weights do not matter, whatever its names are.
train::Status MakeUp(const train::Target& target) {
  train::RandomStream(target.seed, target.name)
      .FillUniform(0.07, target.values);
  return {};
}

// What no file gives, and only its shape matters: made if somebody asks after
// all.
Tensor MadeUp(const std::string& name, const TensorType& type, uint64_t seed) {
  return Tensor::Deferred(
      type, [=] { return std::move(*InitialValue(name, type, seed, MakeUp)); });
}

// MXNet binds what no file gives as float32.
TensorType InitialType(const Node& variable) {
  TensorType type = variable.types[0];
  if (type.dtype == DType::kUnknown) type.dtype = DType::kF32;
  return type;
}

// Values are made where they will stay. A machine that has no room for them
// would kill us half-way.
Status RequireMemory(const std::vector<Node*>& variables) {
  const auto available = runtime::AvailableMemory();
  uint64_t bytes = 0;
  const Node* largest = nullptr;
  for (const Node* variable : variables) {
    if (!variable->types[0].shape.known()) continue;
    bytes += static_cast<uint64_t>(InitialType(*variable).bytes());
    if (!largest ||
        InitialType(*variable).bytes() > InitialType(*largest).bytes()) {
      largest = variable;
    }
  }
  if (!available || bytes <= *available) return Done{};
  return Error(largest->loc,
               "out of memory: the parameters that --init makes have {}, '{}' "
               "{} of them; {} are free",
               FormatBytes(static_cast<int64_t>(bytes)), largest->name,
               FormatBytes(InitialType(*largest).bytes()),
               FormatBytes(static_cast<int64_t>(*available)));
}

// Inputs whose shape neither the file nor the command line gives.
Status RequireInputShapes(const Graph& graph) {
  Diagnostics errors;
  for (const Node* input : graph.Variables(VariableRole::kInput)) {
    const Shape& shape = input->types[0].shape;
    if (shape.known()) continue;
    errors.push_back(
        Error(input->loc,
              "the shape of input '{0}' is {1}; give --input-shape "
              "{0}:1x3x224x224 or as it must be",
              input->name, shape.known_rank() ? ToString(shape) : "unknown"));
  }
  if (!errors.empty()) return errors;
  return Done{};
}

// Parameters stay variables and have their values before the first run.
void SeedStates(Model& model) {
  model.graph.stateful = true;
  for (const VariableRole role :
       {VariableRole::kParameter, VariableRole::kState}) {
    for (Node* variable : model.graph.Variables(role)) {
      const auto value = model.parameters.find(variable->name);
      if (value == model.parameters.end()) continue;
      variable->constant = value->second;
      variable->types[0] = value->second.type();
    }
  }
}

}  // namespace

void AddModelOptions(CLI::App& app, NetworkOptions& options) {
  app.add_option("MODEL", options.model,
                 "a network: MXNet's symbol JSON or mxc's own JSON");
  app.add_option("--input-shape", options.input_shapes,
                 "shape of an input (repeatable)")
      ->type_name("NAME:1x3x224x224")
      ->allow_extra_args(false);
  app.add_option("--input-type", options.input_types,
                 "element type of an input (repeatable; default: as the "
                 "parameters' arrays have it, else as the network says): " +
                     TypeNames())
      ->type_name("NAME:float16")
      ->allow_extra_args(false);
}

void AddWeightOptions(CLI::App& app, NetworkOptions& options) {
  app.add_option("--params", options.params,
                 "the parameter file (default: found beside MODEL)")
      ->type_name("FILE");
  app.add_option("--epoch", options.epoch, "take PREFIX-NNNN.params")
      ->check(CLI::NonNegativeNumber)
      ->type_name("NNNN");
  app.add_option(
         "--init", options.init,
         "initialize missing parameters: xavier, msra, uniform, normal, "
         "orthogonal, constant:V, zero, one; xavier:gaussian,in,2; "
         "'load:F.params;.*_bias=>constant:1;xavier'")
      ->type_name("HOW");
  app.add_option("--seed", options.seed, "of --init")->capture_default_str();
}

Result<std::map<std::string, Extents>> ParseInputShapes(
    const std::vector<std::string>& texts) {
  std::map<std::string, Extents> shapes;
  Diagnostics errors;
  for (const std::string& text : texts) {
    const size_t colon = text.rfind(':');
    const auto extents = colon == text.npos || colon == 0
                             ? std::nullopt
                             : ParseExtents(text.substr(colon + 1));
    if (!extents) {
      errors.push_back(Complaint(fmt::format(
          "--input-shape '{}' is no shape; expected NAME:1x3x224x224", text)));
    } else if (!shapes.emplace(text.substr(0, colon), *extents).second) {
      errors.push_back(Complaint(fmt::format("--input-shape gives '{}' twice",
                                             text.substr(0, colon))));
    }
  }
  if (!errors.empty()) return errors;
  return shapes;
}

Result<std::map<std::string, DType>> ParseInputTypes(
    const std::vector<std::string>& texts) {
  std::map<std::string, DType> types;
  Diagnostics errors;
  for (const std::string& text : texts) {
    const size_t colon = text.rfind(':');
    const auto type = colon == text.npos || colon == 0
                          ? std::nullopt
                          : DTypeFromMxnetName(text.substr(colon + 1));
    if (!type) {
      errors.push_back(Complaint(fmt::format(
          "--input-type '{}' names no type; expected NAME:TYPE, where TYPE is "
          "one of {}",
          text, TypeNames())));
    } else if (!types.emplace(text.substr(0, colon), *type).second) {
      errors.push_back(Complaint(
          fmt::format("--input-type gives '{}' twice", text.substr(0, colon))));
    }
  }
  if (!errors.empty()) return errors;
  return types;
}

namespace {

Result<LoadOptions> ToLoadOptions(const NetworkOptions& options,
                                  int64_t batch) {
  LoadOptions load;
  load.params = options.params;
  load.epoch = options.epoch;
  load.batch = batch;
  MXC_ASSIGN(load.input_shapes, ParseInputShapes(options.input_shapes));
  MXC_ASSIGN(load.input_types, ParseInputTypes(options.input_types));
  return load;
}

}  // namespace

Result<Model> LoadModel(const NetworkOptions& options, int64_t batch,
                        bool read_parameters) {
  MXC_ASSIGN(LoadOptions load, ToLoadOptions(options, batch));
  load.read_parameters = read_parameters;
  return Load(options.model, load);
}

Result<std::shared_ptr<const ParameterFile>> ParametersFor(
    const NetworkOptions& options) {
  if (options.parameters != nullptr) return options.parameters;
  auto file = ChooseParameters(options.model, options.params, options.epoch);
  if (file.ok()) {
    return std::make_shared<const ParameterFile>(std::move(*file));
  }
  if (options.make_up_weights) return std::make_shared<const ParameterFile>();
  return file.errors();
}

Status InitializeMissing(const NetworkOptions& options, Model& model) {
  const auto initializer = train::ParameterInitializer::Parse(
      options.make_up_weights ? "" : options.init);
  if (!initializer.ok()) return Complaint(initializer.status().message());
  const std::vector<Node*> missing = MissingParameters(model);
  if (!options.make_up_weights) MXC_RETURN_IF_ERROR(RequireMemory(missing));
  Diagnostics errors;
  for (Node* variable : missing) {
    const TensorType type = InitialType(*variable);
    if (!type.shape.known()) {
      errors.push_back(Error(variable->loc,
                             "shape of parameter '{}' does not follow from the "
                             "inputs; give --input-shape",
                             variable->name));
      continue;
    }
    if (options.make_up_weights) {
      model.parameters[variable->name] =
          MadeUp(variable->name, type, options.seed);
      continue;
    }
    Result<Tensor> value = InitialValue(
        variable->name, type, options.seed, [&](const train::Target& target) {
          return initializer->Fill(target, InitAnnotation(*variable));
        });
    if (value.ok()) {
      model.parameters[variable->name] = std::move(*value);
      continue;
    }
    for (Diagnostic error : value.errors()) {
      error.loc = variable->loc;
      errors.push_back(std::move(error));
    }
  }
  if (!errors.empty()) return errors;
  return Done{};
}

Result<Model> LoadNetwork(const NetworkOptions& options, int64_t batch,
                          ParameterUse use) {
  MXC_ASSIGN(LoadOptions load, ToLoadOptions(options, batch));
  load.require_supported = true;
  MXC_ASSIGN(const auto parameters, ParametersFor(options));
  load.params = parameters->path;
  load.read_parameters = !parameters->path.empty();
  // What was trained on many samples at a time is used on one.
  const bool one = batch == 0 && use == ParameterUse::kConstants;
  load.known_shapes = ShapesOfTraining(*parameters, one ? 1 : batch);
  MXC_ASSIGN(Model model, Load(options.model, load));
  MXC_RETURN_IF_ERROR(InferTypes(model.graph, /*complete=*/false));
  if (use == ParameterUse::kConstants) {
    model.left_out = CutUnknownLabels(model.graph);
  }
  MXC_RETURN_IF_ERROR(RequireInputShapes(model.graph));
  if (options.make_up_weights || !options.init.empty()) {
    MXC_RETURN_IF_ERROR(InitializeMissing(options, model));
  }
  MXC_RETURN_IF_ERROR(RequireParameters(model));
  if (use == ParameterUse::kStates) {
    SeedStates(model);
  } else {
    BindParameters(model);
  }
  return model;
}

}  // namespace mxc
